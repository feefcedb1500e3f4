/** A small Claude Code transcript that can be condensed, because a file is read twice. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Formats lines like the output of Claude Code's Read. */
const numberLines = (lines: readonly string[]): string =>
  lines.map((line, index) => `${String(index + 1).padStart(6)}→${line}`).join('\n');

const CODE = Array.from(
  { length: 120 },
  (_, index) => `export const value${index} = compute(${index * 7}, 'name-${index}');`,
);

interface Line {
  readonly type: 'user' | 'assistant';
  readonly content: unknown;
}

const makeCallLine = (id: string, path: string): Line => ({
  type: 'assistant',
  content: [{ type: 'tool_use', id, name: 'Read', input: { file_path: path } }],
});

const result = (id: string, text: string): Line => ({
  type: 'user',
  content: [{ type: 'tool_result', tool_use_id: id, content: text }],
});

export function makeTranscript(lines: readonly Line[] = duplicateReads()): string {
  return lines
    .map(({ type, content }, index) =>
      JSON.stringify({
        type,
        uuid: `uuid-${index}`,
        parentUuid: index === 0 ? null : `uuid-${index - 1}`,
        sessionId: 'session-1',
        isSidechain: false,
        timestamp: new Date(Date.UTC(2026, 0, 1, 0, 0, index)).toISOString(),
        message: { role: type, content },
      }),
    )
    .join('\n')
    .concat('\n');
}

function duplicateReads(): Line[] {
  return [
    { type: 'user', content: 'Rename value7 in src/values.ts' },
    makeCallLine('toolu_1', '/project/src/values.ts'),
    result('toolu_1', numberLines(CODE)),
    { type: 'assistant', content: [{ type: 'text', text: 'I read it again to be sure.' }] },
    { type: 'user', content: 'Go on.' },
    makeCallLine('toolu_2', '/project/src/values.ts'),
    result('toolu_2', numberLines(CODE)),
    { type: 'assistant', content: [{ type: 'text', text: 'Done.' }] },
  ];
}

/** A transcript without repetition. */
export const nothingToGain = (): Line[] => [
  { type: 'user', content: 'Hello' },
  { type: 'assistant', content: [{ type: 'text', text: 'Hello! What shall we do?' }] },
];

/**
 * Writes the transcript to a folder.
 * @returns its path
 */
export function writeTranscript(folder: string): string {
  const path = join(folder, 'session-1.jsonl');
  writeFileSync(path, makeTranscript());
  return path;
}
