import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BODIES, KEY_FORMS, type Body } from './keyForms';
import { maskSecrets } from './maskSecrets';

/** A digit in every group of letters, so that forms that need one have it. */
const FILL: Record<Body, string> = {
  hex: '3f9a',
  alphanumeric: 'a7Bq',
  word: 'a7_Q',
  dashed: 'k2-Z',
  dotted: 'k2.Z',
  base64: 'a7+Q',
  dottedBase64: 'a7.Q',
  starred: 'x9aQ',
};
const keyOf = (start: string, body: Body, length: number): string =>
  start + FILL[body].repeat(Math.ceil(length / 4)).slice(0, length);
const forms = KEY_FORMS.flatMap(({ of, starts, body, min }) => starts.map((start) => ({ of, start, body, min })));

/** A text, and what of it must be gone. */
const SECRETS: readonly (readonly [text: string, secret: string])[] = [
  ['redis://:pw9Secret@host:6379/0', 'pw9Secret'],
  ['postgres://me:hunter2@db/x', 'hunter2'],
  ['https://user:p4ssw0rd!@example.org/repo.git', 'p4ssw0rd!'],
  ['https://0123456789abcdef0123456789abcdef@sentry.example.org/1', '0123456789abcdef0123456789abcdef'],
  ['{"body": "{\\"api_key\\": \\"8f3kd93kd93kd93k\\"}"}', '8f3kd93kd93kd93k'],
  ['Authorization: token 8f3kd93kd93kd93k', '8f3kd93kd93kd93k'],
  ['Authorization: Bearer abc.def-ghi012345', 'abc.def-ghi012345'],
  ["-H 'Authorization: Basic dXNlcjpwYXNzd29yZA=='", 'dXNlcjpwYXNzd29yZA=='],
  ['"Authorization": "Bot MTk4NjIyNDgzNDcxOTI1MjQ4"', 'MTk4NjIyNDgzNDcxOTI1MjQ4'],
  ['X-Api-Key: 8f3kd93kd93kd93k', '8f3kd93kd93kd93k'],
  ['X-Auth-Token: "8f3kd93kd93kd93k"', '8f3kd93kd93kd93k'],
  ['Cookie: theme=dark; session=8f3kd93kd93kd93k', '8f3kd93kd93kd93k'],
  ['Set-Cookie: sid=s%3A8f3kd93kd93kd93k; Path=/; HttpOnly', 's%3A8f3kd93kd93kd93k'],
  ['deploy --password hunter2!', 'hunter2!'],
  ['deploy --password=hunter2x', 'hunter2x'],
  ['gh auth --token 8f3kd93kd93kd93k', '8f3kd93kd93kd93k'],
  ['helm --registry-password "p4ssword"', 'p4ssword'],
  ['curl -s -u admin:hunter2 https://example.org', 'hunter2'],
  ['curl --user "admin:hunter2" https://example.org', 'hunter2'],
  ['sshpass -p hunter2 ssh root@example.org', 'hunter2'],
  ['mysql -h db -u root -phunter2 app', 'hunter2'],
  ['redis-cli -h db -a hunter22 ping', 'hunter22'],
  ['machine example.org login me password hunter2', 'hunter2'],
  ['machine example.org\n  login me\n  password hunter2', 'hunter2'],
  ['db.example.org:5432:app:me:hunter2', 'hunter2'],
  ['<password>hunter2</password>', 'hunter2'],
  ['<apiKey>8f3kd93kd93kd93k</apiKey>', '8f3kd93kd93kd93k'],
  ['DB_PASSWORD=correct7horse', 'correct7horse'],
  ['DB_PASSWORD=p$ss(w0rd{1<2[', 'p$ss(w0rd{1<2['],
  ['password: "p$ss(w0rd{1<2["', 'p$ss(w0rd{1<2['],
  ["passwd: 'Tr0ub4dor&3'", 'Tr0ub4dor&3'],
  ['"api_key": "0123456789abcdef"', '0123456789abcdef'],
  ['VAULT_TOKEN=hvs.CAESIJ01', 'hvs.CAESIJ01'],
  ['"refresh_token": "1//0abcdefgh"', '1//0abcdefgh'],
  [`"api_key": "${'a1'.repeat(200)}"`, 'a1a1'],
  [`SECRET=${'a1'.repeat(200)}`, 'a1a1'],
  ['AccountName=a;AccountKey=Zm9vYmFy01==;', 'Zm9vYmFy01=='],
  ['Endpoint=sb://x/;SharedAccessKey=Zm9vYmFy01Zm9v=;', 'Zm9vYmFy01Zm9v='],
  ['Server=db;User Id=me;Password=hunter22;', 'hunter22'],
  ['Server=db;Uid=me;Pwd=hunter22;', 'hunter22'],
  ['export AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY', 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY'],
  ['clientSecret: "8f3kd93kd93k"', '8f3kd93kd93k'],
  ['//registry.example.org/:_authToken=8f3kd93kd93kd93k', '8f3kd93kd93kd93k'],
  ['"auth": "dXNlcjpwYXNzd29yZDE="', 'dXNlcjpwYXNzd29yZDE='],
  ['client-key-data: LS0tLS1CRUdJTiBSU0EgUFJJVkFURS01', 'LS0tLS1CRUdJTiBSU0EgUFJJVkFURS01'],
  ['PrivateKey = yAnz5TF1lXXJte14tji3zlMNq1hd2rYUIgJBgB3fBmk=', 'yAnz5TF1lXXJte14tji3zlMNq1hd2rYUIgJBgB3fBmk='],
  ['https://x.blob.example.net/c?sv=2024&sig=abc%2Bdef0123456789ghij', 'abc%2Bdef0123456789ghij'],
  ['https://s3.example.com/k?X-Amz-Signature=0123456789abcdef0123', '0123456789abcdef0123'],
  ['https://api.example.com/v1?access_token=8f3kd93kd93kd93k', '8f3kd93kd93kd93k'],
  ['https://hooks.slack.com/services/T00000000/B00000000/8f3kd93kd93kAbCd8f3kd93k', '8f3kd93kd93kAbCd8f3kd93k'],
  ['https://discord.com/api/webhooks/123456789012345678/abcDEF-ghi_jkl0123', 'abcDEF-ghi_jkl0123'],
  ['MTk4NjIyNDgzNDcxOTI1MjQ4.Cl2FMQ.ZnCjm1XVW7vRze4b7Cq4se7kKWs', 'ZnCjm1XVW7vRze4b7Cq4se7kKWs'],
  ['110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw', 'AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw'],
  ['0123456789abcdef0123456789abcdef-us12', '0123456789abcdef0123456789abcdef-us12'],
  ['abc8Q~0123456789012345678901234567890123', '0123456789012345678901234567890123'],
  ['abcdefghijklmn.atlasv1.0123456789012345678901234567890123', '0123456789012345678901234567890123'],
  [
    'me:$2b$12$abcdefghijklmnopqrstuuabcdefghijklmnopqrstuvwxyz01234',
    'abcdefghijklmnopqrstuuabcdefghijklmnopqrstuvwxyz01234',
  ],
  ['root:$6$saltsalt$0123456789abcdef0123456789abcdef:19000', '0123456789abcdef0123456789abcdef'],
  ['me:$apr1$saltsalt$0123456789abcdefABCDEF', '0123456789abcdefABCDEF'],
  ['eyJhbGciOiJIUzI1.eyJzdWIiOiIx.abc', 'eyJzdWIiOiIx'],
  ['log\\nsk-ant-api03-abcdefghijklmnop', 'sk-ant-api03-abcdefghijklmnop'],
  ['sk-ab12****************wxyz', 'wxyz'],
  ['Bad key sk-test-****-key', 'sk-test'],
];

const LINE = 'MIIEowIBAAKCAQEAabcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKL';
const pem = (kind: string, lines: number): string =>
  `-----BEGIN ${kind}PRIVATE KEY-----\n${`${LINE}\n`.repeat(lines)}Qw==\n-----END ${kind}PRIVATE KEY-----`;

/** Texts of code, files and prose that look like it and are no secrets. */
const LOOK_ALIKES: readonly string[] = [
  'const password = getPassword1();',
  'apiKey: string',
  'secret=${SECRET1}',
  'https://example.org/a:b',
  'the risk-free rate',
  'max_tokens: 100000000',
  'next_token = stream.next(1)',
  'if (key.startsWith("-----BEGIN PRIVATE KEY-----")) return parse2(key, options1, more2);',
  'A file that begins with -----BEGIN RSA PRIVATE KEY----- is a key in the older format of OpenSSL.',
  "const password = process.env.DB_PASSWORD1 ?? '';",
  'token = tokens[3]',
  'const token = tokenizer.next();',
  'apiKey: z.string().min(8),',
  'password: "string"',
  'password: <your password here>',
  '--password <value>   the password of user 1',
  'use --token to name it, see page 12',
  'api_key="{{ api_key_1 }}"',
  'Authorization: Bearer ${token1}',
  'Authorization: Bearer <token>',
  'curl -u "$USER:$PASSWORD" https://example.org',
  'sha512-0123456789abcdefABCDEF0123456789abcdefABCDEF0123456789abcdefABCDEF0123456789abcdefABCDEFxy==',
  '"integrity": "sha512-tF9mVQXb1k3nXWQ0dJQ0m3J1yUkYxqg6V7o8Kk1yVwQ=="',
  'commit 0123456789abcdef0123456789abcdef01234567',
  '3f2504e0-4f89-11d3-9a0c-0305e82c3301',
  'class="sk-fading-circle-container sk-circle"',
  'task-runner-configuration-file',
  'disk-usage-per-directory-report',
  'import { re_exported_names_of_module } from "./x"',
  'hf_dataset',
  'xai-grok',
  'npm_config_registry',
  'npm_package_version',
  'key-value-store-of-the-cache',
  'cookie: "sessionId"',
  'keyboard: "qwerty1"',
  '"key": "settings.editor.fontSize"',
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ',
  'file.ts:1234:12:error: not found',
  'time: 12:30:45:123',
  'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ0v0f6yvZ3u me@example.org',
  'public_key_fingerprint: SHA256:nThbg6kXUpJWGl7E1IGOCspRomTxdCARLviKw6E5SY8',
  'Token count: 12345 tokens',
  'tokens: 123456789',
  'total_tokens=1234567',
  'the author: someone1234567890123',
];

describe('maskSecrets', () => {
  it.each(forms)('masks the keys of $of that begin with $start, whole and cut off', ({ start, body, min }) => {
    for (const length of [min, min + 13]) {
      const key = keyOf(start, body, length);
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

  it('knows more than a hundred forms', () => {
    expect(forms.length + SECRETS.length).toBeGreaterThan(200);
    expect(new Set(KEY_FORMS.map(({ of }) => of)).size).toBe(KEY_FORMS.length);
    expect(Object.keys(BODIES).sort()).toEqual(Object.keys(FILL).sort());
  });

  it.each(SECRETS)('masks what is secret in %s', (text, secret) => {
    expect(maskSecrets(text)).not.toContain(secret);
    expect(maskSecrets(text)).toContain('[key]');
  });

  it.each(LOOK_ALIKES)('leaves %s', (text) => {
    expect(maskSecrets(text)).toBe(text);
  });

  it('masks a value and leaves its name and its quotes', () => {
    expect(maskSecrets('"api_key": "0123456789abcdef", "n": 1')).toBe('"api_key": "[key]", "n": 1');
    expect(maskSecrets('postgres://me:hunter2@db/x')).toBe('postgres://me:[key]@db/x');
    expect(maskSecrets('AccountName=a;AccountKey=Zm9vYmFy01==;')).toBe('AccountName=a;AccountKey=[key];');
    expect(maskSecrets('DB_PASSWORD=correct7horse\nDB_HOST=db1')).toBe('DB_PASSWORD=[key]\nDB_HOST=db1');
  });

  it('a second time finds nothing', () => {
    for (const [text] of SECRETS) expect(maskSecrets(maskSecrets(text))).toBe(maskSecrets(text));
  });
});

describe('private keys', () => {
  it.each(['', 'RSA ', 'EC ', 'OPENSSH ', 'ENCRYPTED '])('of the kind %j go whole', (kind) => {
    expect(maskSecrets(`before\n${pem(kind, 25)}\nafter 1`)).toBe('before\n[key]\nafter 1');
  });

  it('go where their end was cut off, and where their head was', () => {
    const key = pem('RSA ', 25);
    expect(maskSecrets(key.slice(0, 700))).toBe('[key]');
    expect(maskSecrets(`log line\n${key.slice(700)}\nafter`)).not.toContain(LINE.slice(0, 30));
  });

  it('go as one string of source, in JSON, with line numbers, and with fields in front', () => {
    expect(maskSecrets(`key: "${pem('', 3).replaceAll('\n', '\\n')}"`)).toBe('key: "[key]"');
    expect(maskSecrets(JSON.stringify({ a: pem('', 3) }))).toBe('{"a":"[key]"}');
    const numbered = pem('', 3)
      .split('\n')
      .map((line, index) => `${index + 10}\t${line}`)
      .join('\n');
    expect(maskSecrets(numbered)).toBe('10\t[key]');
    const encrypted = pem('RSA ', 3).replace(
      'KEY-----\n',
      'KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0A\n\n',
    );
    expect(maskSecrets(encrypted)).toBe('[key]');
    expect(maskSecrets('-----BEGIN PGP PRIVATE KEY BLOCK-----\nlQ\n-----END PGP PRIVATE KEY BLOCK-----.')).toBe(
      '[key].',
    );
  });

  it('end where something else begins', () => {
    const text = `${pem('', 2).replace(/-----END.*/, '')}\nThe rest of the file is described in chapter 3, which follows.`;
    expect(maskSecrets(text)).toContain('is described in chapter 3, which follows.');
  });
});

describe('text that was made to be slow', () => {
  /** Each is repeated until it is long: a search that begins anew at each place would need hours. */
  const PIECES = [
    '-eyJaaaaaaaa',
    'eyJ-',
    'eyJaaaaaaaa.',
    'password:',
    'secret="',
    'Authorization: ',
    '--password ',
    'curl ',
    'curl -u ',
    'machine a login ',
    'Cookie: a=',
    '-----BEGIN PRIVATE KEY-----',
    '-----BEGIN PRIVATE KEY-----\n',
    '-----END PRIVATE KEY-----\nA',
    'A',
    'sk-',
    'a://',
    'a.b-c_',
    '$6$a$',
    'hooks.slack.com/services/',
    ...KEY_FORMS.map(({ starts: [start = ''] }) => start),
  ];

  it.each(PIECES)(
    '%j is read in time that grows with its length',
    (piece) => {
      const text = piece.repeat(Math.ceil(300_000 / piece.length));
      expect(maskSecrets(text).length).toBeLessThanOrEqual(text.length);
    },
    20_000,
  );

  it('whatever stands around a key, it goes', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 40 }), fc.string({ maxLength: 40 }), (before, after) => {
        const key = keyOf('ghp_', 'word', 36);
        expect(maskSecrets(`${before} ${key} ${after}`)).not.toContain(key);
      }),
    );
  });
});
