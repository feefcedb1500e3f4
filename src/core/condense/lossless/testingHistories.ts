import fc from 'fast-check';
import type { ApiMessage } from '../../messages/types';
import { called, code, did, read, TASK } from './testing';

const FILE = code('a', 1, 90);
const NOISE = ['', '}', '\u001b[1mbold\u001b[0m  ', 'progress 1\rprogress 2', 'same', 'same', 'same', 'same', 'same'];

const slice = fc
  .record({ from: fc.nat(60), count: fc.integer({ min: 1, max: 50 }), changed: fc.nat(200) })
  .map(({ from, count, changed }) => ({
    from: from + 1,
    lines: FILE.map((line, at) => (at === changed ? `${line} // changed` : line)).slice(from, from + count),
  }));
const numbered = slice.map(({ from, lines }) => read(lines, from));
const found = slice.map(({ from, lines }) =>
  lines
    .map((line, at) => `src/a.ts${at % 5 === 0 ? ':' : '-'}${from + at}${at % 5 === 0 ? ':' : '-'}${line}`)
    .join('\n'),
);
const plain = fc
  .tuple(slice, fc.array(fc.constantFrom(...NOISE), { maxLength: 12 }))
  .map(([{ lines }, noise]) => [...noise, ...lines, ...noise].join('\n'));
const reminded = fc
  .tuple(numbered, fc.boolean())
  .map(([text, has]) =>
    has ? `${text}\n\n<system-reminder>\n${FILE[0] ?? ''}\n${FILE[1] ?? ''}\n</system-reminder>` : text,
  );

const turn: fc.Arbitrary<ApiMessage[]> = fc.oneof(
  reminded.map((text) => did('Read', { file_path: 'src/a.ts' }, text)),
  found.map((text) => did('Grep', { pattern: 'a' }, text)),
  fc
    .tuple(plain, fc.boolean())
    .map(([text, failed]) =>
      did('Bash', { command: `npm run test ${text.slice(0, 300)}` }, text, failed ? { is_error: true } : {}),
    ),
  fc
    .tuple(plain, numbered, fc.constantFrom(0, 2))
    .map(([a, b, indent]) => did('Bash', { command: 'gh api' }, JSON.stringify([{ a }, { b }, a], null, indent))),
  plain.map((text) => called('Write', { file_path: 'src/a.ts', content: text })),
  fc
    .tuple(plain, plain, numbered, fc.boolean())
    .map(([old_string, new_string, echo, failed]) =>
      called('Edit', { file_path: 'src/a.ts', old_string, new_string }, echo, failed ? { is_error: true } : {}),
    ),
);
/** Histories whose texts repeat each other's lines in every form that an agent shows them. */
export const repeatingHistory = fc.array(turn, { maxLength: 14 }).map((turns) => [TASK, ...turns.flat()]);
