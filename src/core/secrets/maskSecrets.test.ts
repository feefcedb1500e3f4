import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { KEY_CHARACTERS, KEY_FORMS, KEY_SHAPES, type KeyForm } from './keyForms';
import { maskSecrets, SECRET_RULES, type SecretRules } from './maskSecrets';
import { SECRET_IN_CONTEXT_RULES } from './namedSecrets';
import {
  KEY_EXAMPLES,
  KEY_CHARACTER_SAMPLES,
  TESTED_KEY_FORMS,
  UNUSUAL_TEXT_PIECES,
  makeTestKey,
  PEM_BODY_LINE,
  TEXTS_LIKE_SECRETS,
  makePem,
  SECRET_EXAMPLES,
} from './testing';

describe('masking secrets', () => {
  it.each(TESTED_KEY_FORMS)('masks $of keys that begin with $start, whole or truncated', ({ start, body, min }) => {
    for (const length of [min, min + 13]) {
      const key = makeTestKey(start, body, length);
      for (const [before, after] of [
        ['', ''],
        ['use ', ' now'],
        ['{"x": "', '"}'],
        ['a\\n', '\\nb'],
      ] as const) {
        expect(maskSecrets(before + key + after)).toBe(`${before}[key]${after}`);
      }
    }
  });

  it.each(KEY_EXAMPLES)('masks a key of %s', (_of, rest, ...starts) => {
    for (const start of starts) expect(maskSecrets(`${start}${rest}`)).toBe('[key]');
  });

  it('knows each form of key once, with an example', () => {
    expect(KEY_EXAMPLES.map(([of, , ...starts]) => [of, starts])).toEqual(
      KEY_FORMS.map(({ label: of, starts }) => [of, starts]),
    );
    expect(new Set(KEY_FORMS.map(({ label: of }) => of)).size).toBe(KEY_FORMS.length);
    expect(Object.keys(KEY_CHARACTERS).sort()).toEqual(Object.keys(KEY_CHARACTER_SAMPLES).sort());
  });

  it.each(SECRET_EXAMPLES)('masks the secret in %s', (text, secret) => {
    expect(maskSecrets(text)).not.toContain(secret);
    expect(maskSecrets(text)).toContain('[key]');
  });

  it.each(TEXTS_LIKE_SECRETS)('does not mask text that only resembles a key: %s', (text) => {
    expect(maskSecrets(text)).toBe(text);
  });

  it('masks a value and keeps its name and quotes', () => {
    expect(maskSecrets('"api_key": "0123456789abcdef", "n": 1')).toBe('"api_key": "[key]", "n": 1');
    expect(maskSecrets('postgres://me:hunter2@db/x')).toBe('postgres://me:[key]@db/x');
    expect(maskSecrets('AccountName=a;AccountKey=Zm9vYmFy01==;')).toBe('AccountName=a;AccountKey=[key];');
    expect(maskSecrets('DB_PASSWORD=correct7horse\nDB_HOST=db1')).toBe('DB_PASSWORD=[key]\nDB_HOST=db1');
  });

  it('finds nothing when applied again', () => {
    for (const [text] of SECRET_EXAMPLES) expect(maskSecrets(maskSecrets(text))).toBe(maskSecrets(text));
  });
});

describe('each masking rule is needed, because without it an example stays unmasked:', () => {
  const masked = (text: string, rules: Partial<SecretRules>): string =>
    maskSecrets(text, undefined, { ...SECRET_RULES, ...rules });
  const isMissed = (rules: Partial<SecretRules>): boolean =>
    SECRET_EXAMPLES.some(([text, secret]) => masked(text, rules).includes(secret));

  it.each(KEY_EXAMPLES)('the rule for keys of %s', (of, rest, ...starts) => {
    const without = (start: string): KeyForm[] =>
      KEY_FORMS.map((form) =>
        form.label === of ? { ...form, starts: form.starts.filter((other) => other !== start) } : form,
      );
    const spare = starts.filter((start) => masked(start + rest, { forms: without(start) }) === '[key]');
    // Only the prefix `sk-lf-` is not needed, because the rule for `sk-` masks its keys, too.
    expect(spare).toEqual(of === 'Langfuse' ? ['sk-lf-'] : []);
  });

  it.each(KEY_SHAPES)('the rule for text of the shape $of', (shape) => {
    // Only this rule is not needed, because the rule for URL parameters masks its example, too.
    expect(isMissed({ shapes: KEY_SHAPES.filter((other) => other !== shape) })).toBe(
      shape.label !== 'Azure shared access signature',
    );
  });

  it.each(SECRET_IN_CONTEXT_RULES.map((rule) => [String(rule[1]), rule] as const))(
    'the rule for the context %s',
    (_, rule) => {
      expect(isMissed({ contextRules: SECRET_IN_CONTEXT_RULES.filter((other) => other !== rule) })).toBe(true);
    },
  );
});

describe('masking a text in chunks', () => {
  const part = fc.oneof(
    fc.constantFrom(...SECRET_EXAMPLES.map(([text]) => text), ...TEXTS_LIKE_SECRETS),
    fc.constantFrom(...TESTED_KEY_FORMS).map(({ start, body, min }) => makeTestKey(start, body, min + 9)),
    fc.constantFrom(makePem('', 3), makePem('RSA ', 5).slice(0, 250), makePem('EC ', 4).slice(120)),
    fc.constantFrom(...UNUSUAL_TEXT_PIECES).map((piece) => piece.repeat(5)),
    fc.string({ unit: 'binary', maxLength: 30 }),
  );
  const between = fc.constantFrom('\n', '\r\n', ' ', '\n\n', '\\n', '', '"', ': ');

  it('gives the same result wherever the chunks are split', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(part, between), { maxLength: 12 }),
        fc.integer({ min: 1, max: 400 }),
        (parts, pieceChars) => {
          const text = parts.flat().join('');
          expect(maskSecrets(text, pieceChars)).toBe(maskSecrets(text, Infinity));
        },
      ),
    );
  });

  /**
   * Texts longer than the context around a window, with all characters that may continue a secret.
   */
  const long = fc
    .tuple(fc.constantFrom('x', ' ', 'a1', '*', '-', '.', 'a1.', '/', '"', 'é', '😀'), fc.nat(1_500))
    .map(([piece, chars]) => piece.repeat(chars / piece.length));

  /** Secrets that are recognized by distant context. */
  const far = fc
    .tuple(
      fc.constantFrom(
        ['curl ', ' -u admin:hunter2'],
        ['mysql ', ' -phunter2'],
        ['redis-cli ', ' -a hunter22'],
        ['https://', ':hunter2@db/x'],
        ['Bearer ', '7'],
        ['<password>', '</password>'],
        ['machine ', ' login me password hunter2'],
        ['Cookie: sid=', '7; a=b'],
        ['password="', '7"'],
        ['eyJ', '.eyJzdWIiOiIx.abc'],
      ),
      fc.nat(190),
    )
    .map(([[before, after], chars]) => `${before}${'x'.repeat(chars)}${after}`);

  it('gives the same result on one long line, wherever it is split', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(long, fc.oneof(part, far), fc.oneof(long, between)), { minLength: 1, maxLength: 5 }),
        fc.integer({ min: 300, max: 2_000 }),
        (parts, pieceChars) => {
          const line = parts.flat().join('').replaceAll('\n', ' ');
          expect(maskSecrets(line, pieceChars)).toBe(maskSecrets(line, Infinity));
        },
      ),
    );
  });
});

/** Contexts in which keys are displayed, by name. */
const SURROUNDINGS: Readonly<Record<string, readonly [before: string, after: string]>> = {
  'a color': ['\x1b[32m', '\x1b[0m'],
  'a color in a word': ['foo\x1b[01;31m\x1b[K', '\x1b[m\x1b[Kbar'],
  'a color of 24 bits': ['\x1b[38;2;255;100;0m', '\x1b[39m'],
  'a color with one byte': ['\x9b32m', '\x9b0m'],
  'a color in JSON': ['{"a":"\\u001b[32m', '\\u001b[0m"}'],
  'a color in JSON in JSON': ['"{\\"a\\":\\"\\\\u001b[32m', '\\\\u001b[0m\\"}"'],
  'a color in source': ['"\\x1b[32m', '\\033[0m"'],
  'a color that a shell names': ["$'\\e[1m", "\\e[0m'"],
  'a color whose ESC was lost': ['[32m', '[0m'],
  'a color as cat -v shows it': ['^[[1;31m', '^[[0m'],
  'a color in source of ECMAScript': ["'\\u{1b}[32m", "\\u{1b}[0m'"],
  'a picture of ESC': ['\u241b[32m', '\u241b[0m'],
  'a form feed in source': ['"x\\f', '"'],
  'a filler that nobody sees': ['x\u3164', '\u3164'],
  'a link of a terminal': ['\x1b]8;;https://example.org/a%20b\x1b\\', '\x1b]8;;\x1b\\'],
  'a title of a terminal': ['\x1b]0;make\x07', ''],
  'a link in JSON': ['\\u001b]8;;x\\u0007', '\\u001b]8;;\\u0007'],
  'a cursor that moved': ['50%\x1b[2K\x1b[1G', '\x1b[K'],
  'quotes in a URL': ['a=%22', '%22&b'],
  'an equals sign in a URL': ['token%3D', '%26b=1'],
  'a URL in a URL': ['next=https%253A%252F%252Fx%253Fk%253D', '%2526'],
  'an equals sign of mail': ['x=3D', ' '],
  'JSON for HTML': ['"\\u003cb\\u003e', '\\u003c/b\\u003e"'],
  'an entity': ['key=&quot;', '&quot;'],
  'an entity by number': ['&#39;', '&#x27;'],
  'a zero-width space': ['x\u200b', '\u200b'],
  'a byte order mark': ['\ufeff', ''],
  'marks of direction': ['\u202a', '\u202c'],
  'a line number': ['    12→', ''],
  'a diff': ['+', ''],
  'an escape in a URL': ['%1B%5B32m', '%1B%5B0m'],
  'a line end in a URL': ['x%0A', '%0D%0A'],
  'quotes of typography in a URL': ['%E2%80%9C', '%E2%80%9D'],
  'an entity whose ampersand is written as one': ['x=&amp;quot;', '&amp;quot;'],
  'an escaped line end': ['x\\n', '\\ny'],
};

describe('a key is masked in the form in which a person sees it', () => {
  const form = fc.constantFrom(...TESTED_KEY_FORMS).map(({ start, body, min }) => makeTestKey(start, body, min + 9));
  const shape = fc.constantFrom(
    'AccountKey=Zm9vYmFy01Zm9v=;',
    'ak-aB3dE5gH7jK9mN1paB3dE5',
    'DB_PASSWORD=correct7horse',
    'https://me:hunter2x9@db/x',
  );

  it.each(Object.entries(SURROUNDINGS))('inside %s', (_, [before, after]) => {
    fc.assert(
      fc.property(form, (key) => {
        const masked = maskSecrets(`a ${before}${key}${after} b`);
        expect(masked).not.toContain(key.slice(-9));
        // Nothing else is masked.
        expect(masked.startsWith(`a ${before.slice(0, 2)}`) && masked.endsWith(' b')).toBe(true);
      }),
    );
  });

  it('with escapes and invisible characters anywhere in it', () => {
    const hidden = fc.constantFrom(
      '\0',
      '\u3164',
      '[1m',
      '\u{e0100}',
      '\x1b[31m',
      '\x1b[m\x1b[K',
      '\\u001b[1m',
      '\u200b',
      '\u00ad',
      '\u2060',
      '\\u200b',
      '\ufffa',
      '\u{1d173}',
      '&shy;',
      '&ZeroWidthSpace;',
      '<wbr>',
      '%E2%80%8B',
      '=\r\n',
      '\\\n',
    );
    fc.assert(
      fc.property(fc.oneof(form, shape), hidden, fc.nat(60), (key, piece, place) => {
        const at = Math.min(place, key.length - 4);
        const masked = maskSecrets(`see ${key.slice(0, at)}${piece}${key.slice(at)} here`);
        expect(masked).toBe(maskSecrets(masked));
        expect(masked.includes(key.slice(-4)) && masked.includes('[key]') && !key.includes('@')).toBe(
          maskSecrets(`see ${key} here`).includes(key.slice(-4)) && !key.includes('@'),
        );
      }),
    );
  });

  it.each([
    [
      '\x1b[36mOPENAI_API_KEY\x1b[0m=\x1b[32m"8f3kd93kd93kd93k"\x1b[0m',
      '\x1b[36mOPENAI_API_KEY\x1b[0m=\x1b[32m"[key]"\x1b[0m',
    ],
    ['\x1b[34;1m"password"\x1b[0m: \x1b[32m"hunter22x"\x1b[0m', '\x1b[34;1m"password"\x1b[0m: \x1b[32m"[key]"\x1b[0m'],
    ['ghp_aB3dE5gH7jK9mN1p\n  aB3dE5gH7jK9mN1paB3d\nnext', '[key]\n  [key]\nnext'],
    ['ghp_aB3dE5gH7jK9mN1paB3d\nREADME.md\n', '[key]\nREADME.md\n'],
    ['postgres://app:p%40ss@db:5432/x', 'postgres://app:[key]@db:5432/x'],
    ['postgres://app:p@ss@db:5432/x, me@example.org', 'postgres://app:[key]@db:5432/x, me@example.org'],
  ])('in a colored text: %j', (text, masked) => {
    expect(maskSecrets(text)).toBe(masked);
  });

  it('anywhere in a line longer than the window searched around an escape', () => {
    const filler = fc
      .tuple(fc.constantFrom('x', 'a.b ', '{"a": 1}, '), fc.nat(9_000))
      .map(([piece, length]) => piece.repeat(length / piece.length));
    const command = [`curl ${'--compressed '.repeat(20)}\x1b[1m-u me:`, '\x1b[0m'] as const;
    const told = fc.constant('hunter22x7');
    const hidden = fc.oneof(
      fc.tuple(form, fc.constantFrom(...Object.values(SURROUNDINGS))),
      fc.tuple(told, fc.constant(command)),
    );
    fc.assert(
      fc.property(fc.array(fc.tuple(filler, hidden), { minLength: 1, maxLength: 4 }), (parts) => {
        const line = parts.map(([text, [key, [before, after]]]) => `${text} ${before}${key}${after}`).join(' ');
        const masked = maskSecrets(line);
        for (const [, [key]] of parts) expect(masked).not.toContain(key.slice(-9));
        expect(masked.length).toBeGreaterThan(line.length - parts.length * 700);
      }),
    );
  });

  it.each([
    ['an escape of ECMAScript', (unit: string) => `\\u{${unit.charCodeAt(0).toString(16)}}`],
    ['an octal escape', (unit: string) => `\\${unit.charCodeAt(0).toString(8).padStart(3, '0')}`],
    ['a long entity', (unit: string) => `&#x000${unit.charCodeAt(0).toString(16)};`],
    ['a long escape of Python', (unit: string) => `\\U${unit.charCodeAt(0).toString(16).padStart(8, '0')}`],
    ['a URL in a URL in a URL in a URL in a URL', (unit: string) => `%25252525${unit.charCodeAt(0).toString(16)}`],
    ['a UTF-16 escape of a URL', (unit: string) => `%u00${unit.charCodeAt(0).toString(16)}`],
    ['an entity in an entity', (unit: string) => `&amp;#${unit.charCodeAt(0)};`],
    ['a full-width form', (unit: string) => String.fromCharCode(unit.charCodeAt(0) + 0xfee0)],
    ['a struck-over character', (unit: string) => `${unit}\b${unit}`],
  ])('with each character written as %s', (_, written) => {
    fc.assert(
      fc.property(form, (key) => {
        const masked = maskSecrets(`see ${key.replace(/[^A-Za-z0-9]/g, written)} here`);
        expect(masked).toContain('[key]');
        expect(masked).not.toContain(key.slice(-9));
      }),
    );
  });

  it('with short octal escapes', () => {
    fc.assert(
      fc.property(form, (key) => {
        const escaped = key.replace(/[^A-Za-z0-9](?![0-7])/g, (unit) => `\\${unit.charCodeAt(0).toString(8)}`);
        const masked = maskSecrets(`see ${escaped} here`);
        expect(masked).toContain('[key]');
        expect(masked).not.toContain(key.slice(-9));
      }),
    );
  });

  it.each(TEXTS_LIKE_SECRETS)('but not colored text that only resembles a key: %s', (text) => {
    const colored = `\x1b[32m${text}\x1b[0m`;
    expect(maskSecrets(colored)).toBe(colored);
  });
});

describe('private keys', () => {
  it.each(['', 'RSA ', 'EC ', 'OPENSSH ', 'ENCRYPTED '])('of the kind %j are masked whole', (kind) => {
    expect(maskSecrets(`before\n${makePem(kind, 25)}\nafter 1`)).toBe('before\n[key]\nafter 1');
  });

  it('are masked if their end or their beginning is missing', () => {
    const key = makePem('RSA ', 25);
    expect(maskSecrets(key.slice(0, 700))).toBe('[key]');
    expect(maskSecrets(`log line\n${key.slice(700)}\nafter`)).not.toContain(PEM_BODY_LINE.slice(0, 30));
  });

  it('are masked in source code, in JSON, with line numbers, and after other fields', () => {
    expect(maskSecrets(`key: "${makePem('', 3).replaceAll('\n', '\\n')}"`)).toBe('key: "[key]"');
    expect(maskSecrets(JSON.stringify({ a: makePem('', 3) }))).toBe('{"a":"[key]"}');
    const numbered = makePem('', 3)
      .split('\n')
      .map((line, index) => `${index + 10}\t${line}`)
      .join('\n');
    expect(maskSecrets(numbered)).toBe('10\t[key]');
    const encrypted = makePem('RSA ', 3).replace(
      'KEY-----\n',
      'KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0A\n\n',
    );
    expect(maskSecrets(encrypted)).toBe('[key]');
    expect(maskSecrets('-----BEGIN PGP PRIVATE KEY BLOCK-----\nlQ\n-----END PGP PRIVATE KEY BLOCK-----.')).toBe(
      '[key].',
    );
  });

  it('are masked only up to their end', () => {
    const text = `${makePem('', 2).replace(/-----END.*/, '')}\nThe rest of the file is described in chapter 3, which follows.`;
    expect(maskSecrets(text)).toContain('is described in chapter 3, which follows.');
  });
});

describe('masking text made to be slow', () => {
  it.each(UNUSUAL_TEXT_PIECES)('takes linear time: %j', (piece) => {
    const text = piece.repeat(Math.ceil(300_000 / piece.length));
    expect(maskSecrets(text).length).toBeLessThanOrEqual(text.length);
  });

  it('still masks a key, whatever text surrounds it', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 40 }), fc.string({ maxLength: 40 }), (before, after) => {
        const key = makeTestKey('ghp_', 'word', 36);
        expect(maskSecrets(`${before} ${key} ${after}`)).not.toContain(key);
      }),
    );
  });
});
