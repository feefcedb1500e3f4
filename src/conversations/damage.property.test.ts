/**
 * Damages files of every format: bytes are changed, cut out, doubled or swapped, or the end is cut
 * off. Each file must be read, or rejected with a reason, without a crash or a message of a wrong
 * shape. Real files are damaged, too, if the folder ../shared/corpus-wide exists.
 */
import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { assertMessage } from './formats/messageShape';
import type { DocumentFormat } from './detect';
import { READER_BY_FORMAT, readConversation } from './read';
import { ConversationReadError } from './readError';
import { runOneCaseIn } from '../../test/support/cases';
import { getNoteText } from './notes';
import type { ConversationNote } from './types';

const FIXTURES = join(import.meta.dirname, '../../test/fixtures/sessions');
const CORPUS = join(import.meta.dirname, '../../../shared/corpus-wide');

interface Sample {
  readonly name: string;
  readonly bytes: Buffer;
}

const samplesIn = (folder: string, maxBytes: number): Sample[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(?:jsonl?|traj)$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => statSync(path).size <= maxBytes)
    .map((path) => ({ name: path.slice(folder.length + 1), bytes: readFileSync(path) }));

/** Returns each agent's smallest file, since damage works in it as well as in large ones. */
function smallestReal(): Sample[] {
  if (!existsSync(CORPUS)) return [];
  return readdirSync(CORPUS, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .flatMap(({ name }) =>
      samplesIn(join(CORPUS, name), 800_000)
        .toSorted((a, b) => a.bytes.length - b.bytes.length)
        .slice(0, 1),
    );
}

/** A change of this length, at a position given as a share of the file. */
const damage = fc.record({
  // This is not `fc.double`, because most of its values are close to 0.
  at: fc.nat(9_999).map((part) => part / 10_000),
  length: fc.oneof(fc.constantFrom(1, 2, 40), fc.nat(4_000)),
  kind: fc.constantFrom('value', 'value', 'value', 'replace', 'delete', 'double', 'end', 'structure'),
  byte: fc.nat(255),
});
type Damage = typeof damage extends fc.Arbitrary<infer T> ? T : never;

const STRUCTURE = ['{', '}', '[', ']', '"', ',', ':', 'null', '[]', '{}', '0', '\n', '\\'];

function damaged(bytes: Buffer, { at, length, kind, byte }: Damage): Buffer {
  const start = Math.floor(at * bytes.length);
  const end = Math.min(bytes.length, start + length);
  const [before, cut, after] = [bytes.subarray(0, start), bytes.subarray(start, end), bytes.subarray(end)];
  switch (kind) {
    case 'replace':
      return Buffer.concat([before, Buffer.alloc(cut.length, byte), after]);
    case 'delete':
      return Buffer.concat([before, after]);
    case 'double':
      return Buffer.concat([before, cut, cut, after]);
    case 'end':
      return before;
    case 'structure':
      return Buffer.concat([before, Buffer.from(STRUCTURE[byte % STRUCTURE.length] ?? ''), after]);
    default: {
      // Replaces a value by one of another kind, so that the text is still JSON.
      const text = bytes.toString('utf8');
      const value = /(?:"(?:[^"\\]|\\.)*"|\[[^[\]]*\]|\{[^{}]*\})(?=[,}\]])/g;
      value.lastIndex = text.indexOf(':', Math.floor(at * text.length));
      const match = value.lastIndex < 0 ? null : value.exec(text);
      if (!match) return bytes;
      const other = ['null', '7', '[]', '{}', '""', '[{}]', '{"type":7}', 'true'][byte % 8] ?? 'null';
      return Buffer.from(text.slice(0, match.index) + other + text.slice(value.lastIndex));
    }
  }
}

const fixtures = samplesIn(FIXTURES, 1_000_000);

it('every format has a fixture', () => {
  const formats = new Set(fixtures.map(({ bytes }) => readConversation(bytes, { path: '/x/y' }).format));
  const documents: Readonly<Record<DocumentFormat, true>> = { roo: true, anthropic: true, openai: true };
  expect([...formats].toSorted()).toEqual([...Object.keys(READER_BY_FORMAT), ...Object.keys(documents)].toSorted());
});

describe.each([...fixtures, ...smallestReal()])('$name with random damage', ({ bytes }) => {
  it('is read, or rejected with a reason', () => {
    fc.assert(
      fc.property(fc.array(damage, { minLength: 1, maxLength: 3 }), (damages) => {
        const input = damages.reduce(damaged, bytes);
        try {
          const { messages, sidechains, title } = readConversation(input, { path: '/x/y' }, { history: 'all' });
          [messages, ...sidechains.map((side) => side.messages)].forEach((list) => {
            list.forEach((message, index) => {
              assertMessage(message, `messages[${index}]`);
            });
          });
          expect(title).not.toBe('');
        } catch (error) {
          if (!(error instanceof ConversationReadError)) throw error;
          expect(error.found).not.toBe('');
        }
      }),
      // Large files get fewer cases, because each case reads the file to its end.
      bytes.length > 100_000 ? runOneCaseIn(20) : {},
    );
  });
});

/** Ways to damage one line of a file of records without touching the others. */
const LINE_DAMAGE = {
  'filled with NULs': (line: Buffer) => Buffer.alloc(line.length),
  'padded with NULs': (line: Buffer) => Buffer.concat([Buffer.alloc(7), line, Buffer.alloc(7)]),
  'cut off': (line: Buffer, at: number) => line.subarray(0, at),
  'without its beginning': (line: Buffer, at: number) => line.subarray(at),
  'written over by the next record': (line: Buffer, at: number) =>
    Buffer.concat([line.subarray(0, at), Buffer.from('{"type":"x"}')]),
  'with a stray byte': (line: Buffer, at: number) =>
    Buffer.concat([line.subarray(0, at), Buffer.from([1]), line.subarray(at)]),
  'with bytes that are not UTF-8': (line: Buffer, at: number) =>
    Buffer.concat([line.subarray(0, at), Buffer.from([0xff, 0xfe]), line.subarray(at)]),
  'no record': () => Buffer.from('[7]'),
  'nested too deeply': () => Buffer.from(`{"type":"x","message":${'['.repeat(600)}${']'.repeat(600)}}`),
} as const;
type LineDamage = keyof typeof LINE_DAMAGE;

const linesIn = (bytes: Buffer): Buffer[] => {
  const lines: Buffer[] = [];
  for (let start = 0; start <= bytes.length;) {
    const newline = bytes.indexOf(0x0a, start);
    const end = newline === -1 ? bytes.length : newline;
    lines.push(bytes.subarray(start, end));
    start = end + 1;
  }
  return lines;
};

/** Returns the texts of a value that contain words, and no IDs or names of kinds. */
function wordsIn(value: unknown): string[] {
  if (typeof value === 'string') return value.includes(' ') ? [value] : [];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(wordsIn) : [];
}

/** Returns the words that a reader finds, in whatever messages and blocks. */
function wordsRead(input: Buffer): Set<string> {
  const { messages, sidechains } = readConversation(input, { path: '/x/y' }, { history: 'all' });
  return new Set(
    [...messages, ...sidechains.flatMap((side) => side.messages)].flatMap(({ content }) => wordsIn(content)),
  );
}

const isLines = ({ bytes }: Sample): boolean => {
  const [first, second] = linesIn(bytes);
  return first?.[0] === 0x7b && second?.[0] === 0x7b;
};

describe.each([...fixtures, ...smallestReal()].filter(isLines))('$name with one damaged line', ({ bytes }) => {
  const lines = linesIn(bytes);
  const full = wordsRead(bytes);
  const { format } = readConversation(bytes, { path: '/x/y' });
  // The first line of VS Code's log holds the whole chat, which later lines change.
  const first = format === 'vscode-chat' ? 1 : 0;
  const kinds = Object.keys(LINE_DAMAGE) as LineDamage[];

  it('reports the damaged line and reads all other lines', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: first, max: lines.length - 1 }).filter((index) => (lines[index]?.length ?? 0) > 2),
        fc.constantFrom(...kinds),
        fc.nat(9_999),
        (index, kind, part) => {
          const line = lines[index] ?? Buffer.from('');
          const at = 1 + Math.floor((part / 10_000) * (line.length - 2));
          const made = LINE_DAMAGE[kind](line, at);
          const input = Buffer.concat(lines.flatMap((each, here) => [here === index ? made : each, Buffer.from('\n')]));
          const told = new RegExp(`\\bLine ${index + 1} (?:is damaged; skipped [\\d,]+ bytes?|contains)`);
          let notes: readonly ConversationNote[];
          try {
            ({ notes } = readConversation(input, { path: '/x/y' }, { history: 'all' }));
          } catch (error) {
            // The other lines contain no messages.
            expect(String(error)).toMatch(told);
            return;
          }
          expect(notes.map(getNoteText).join()).toMatch(told);
          const own = wordsIn(JSON.parse(line.toString()));
          const texts = wordsRead(input);
          const missing = [...full].filter(
            (text) => !texts.has(text) && !own.some((each) => text.includes(each) || each.includes(text)),
          );
          expect(missing).toEqual([]);
        },
      ),
      // Large files get fewer cases, because each case reads the file to its end.
      bytes.length > 100_000 ? runOneCaseIn(20) : {},
    );
  });
});
