/**
 * Files of every format, damaged: bytes changed, cut out, doubled, swapped, the end cut off. Each is read, or refused with a reason;
 * never a crash, never a message of a wrong shape. Real ones are damaged, too, where they lie beside the project.
 */
import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkMessage } from './formats/messageShape';
import { readConversation } from './read';
import { ConversationReadError } from './readError';
import type { ReadOptions } from './types';

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

/** The smallest of each agent: damage is as good in them as in large ones. */
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

/** A change at a place of the file, both as shares of it. */
const damage = fc.record({
  // Not a double: those of fast-check are mostly close to 0.
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
      // A value that is of another kind than it was, in a text that is still JSON.
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

it('there is a fixture of every format', () => {
  const formats = new Set(fixtures.map(({ bytes }) => readConversation(bytes, { path: '/x/y' }).format));
  expect([...formats].toSorted()).toEqual([
    'anthropic',
    'claude-code',
    'codex',
    'copilot',
    'cursor',
    'gemini',
    'openai',
    'opencode',
    'pi',
    'roo',
    'trajectory',
    'vscode-chat',
  ]);
});

describe.each([...fixtures, ...smallestReal()])('$name, damaged', ({ bytes }) => {
  it('is read, or refused with a reason', () => {
    fc.assert(
      fc.property(fc.array(damage, { minLength: 1, maxLength: 3 }), fc.boolean(), (damages, drop) => {
        const input = damages.reduce(damaged, bytes);
        try {
          const options: ReadOptions = { history: 'all', tornTail: drop ? 'drop' : 'error' };
          const { messages, sidechains, title } = readConversation(input, { path: '/x/y' }, options);
          [messages, ...sidechains.map((side) => side.messages)].forEach((list) => {
            list.forEach((message, index) => {
              checkMessage(message, `messages[${index}]`);
            });
          });
          expect(title).not.toBe('');
        } catch (error) {
          if (!(error instanceof ConversationReadError)) throw error;
          expect(error.found).not.toBe('');
        }
      }),
      { numRuns: bytes.length > 100_000 ? 15 : 400 },
    );
  });
});
