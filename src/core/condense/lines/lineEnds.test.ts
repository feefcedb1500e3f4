import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DEFAULT_TOOLS } from '../../messages/tools';
import { getValueAt } from '../../messages/path';
import { makeTestMarker } from '../../testing';
import { encodeForJson, findEndOfLine, isInsideJsonString, detectLineTerminator } from './lineEnds';
import { createLineNumbersStep } from '../lossless/lineNumbers';
import { LINE_OPERATIONS, createRepeatedLinesStep } from '../lossless/repeatedLines';
import { makeCodeLines, makeExchange, numberLines, getShownResult, runSteps, TASK_MESSAGE } from '../lossless/testing';

const STEPS = [
  ...createRepeatedLinesStep(DEFAULT_TOOLS, 'latest', LINE_OPERATIONS),
  createLineNumbersStep(DEFAULT_TOOLS),
];

/** Returns a text's lines as the steps see them. */
function listLines(text: string): { line: string; inString: boolean }[] {
  const lineEnd = detectLineTerminator(text);
  const lines = [];
  for (let at = 0, end = 0; end < text.length; at = end + lineEnd.length) {
    end = findEndOfLine(text, at, lineEnd);
    lines.push({ line: text.slice(at, end), inString: isInsideJsonString(text, at, end) });
  }
  return lines;
}

describe('lines inside JSON', () => {
  it('end at escaped newlines of a string', () => {
    expect(detectLineTerminator('a\nb')).toBe('\n');
    expect(detectLineTerminator('[a\\nb\\nc\\n')).toBe('\n');
    expect(detectLineTerminator('{"a":"\\n\\n"}')).toBe('\n');
    const cut = `{"a":"one\\n${makeTestMarker('20 lines')}\\nend"}`;
    expect(detectLineTerminator(cut)).toBe('\\n');
    expect(detectLineTerminator(`[${cut}`)).toBe('\n');
    const text = '{"a":"one\\ntwo \\\\n still\\nsays \\"x\\"\\nend"}';
    expect(listLines(text).map(({ line }) => line)).toEqual(['{"a":"one', 'two \\\\n still', 'says \\"x\\"', 'end"}']);
  });

  it('are recognized as inside a string, or as containing one of its quotes', () => {
    fc.assert(
      fc.property(fc.array(fc.array(fc.string(), { minLength: 2 }), { minLength: 2 }), fc.nat(2), (texts, indent) => {
        const value = texts.map((lines) => lines.join('\n'));
        const text = JSON.stringify(value, null, indent);
        if (detectLineTerminator(text) === '\n') return;
        const inside = listLines(text).filter(({ inString }) => inString);
        const expected = value.flatMap((each) => each.split('\n').slice(1, -1));
        expect(inside.map(({ line }) => JSON.parse(`"${line}"`) as string)).toEqual(expected);
      }),
    );
  });

  it('are removed if another result shows them, leaving valid JSON', () => {
    const lines = makeCodeLines('a', 1, 20).map((line) => `${line}\t// says "${'x'.repeat(3)}" \\n`);
    const report = (first: string): string =>
      JSON.stringify(
        [
          { id: first, body: [first, ...lines, 'end'].join('\n') },
          { id: 2, body: 'short' },
        ],
        null,
        2,
      );
    const messages = [
      TASK_MESSAGE,
      ...makeExchange('Bash', { command: 'gh api "comments"' }, report('one')),
      ...makeExchange('Bash', { command: 'gh api "comments" --all' }, report('two')),
    ];
    const draft = runSteps(STEPS, messages);
    const text = getValueAt(draft.messages[2], ['content', 0, 'content']) as string;
    expect(JSON.parse(text)).toMatchObject([{ id: 'one' }, { id: 2, body: 'short' }]);
    expect(getShownResult(draft, 2)).toContain(
      `"one\\n[20 lines, shown in the later Bash ${encodeForJson('"gh api "comments" --all"')}]\\nend"`,
    );
    expect(getShownResult(draft, 4)).toBe(report('two'));
  });

  it('differ from equal text outside JSON, which has another meaning', () => {
    const escapes = makeCodeLines('a', 1, 20).map((line) => `${line}\\t`);
    const json = JSON.stringify({ body: ['', ...makeCodeLines('a', 1, 20).map((line) => `${line}\t`), ''].join('\n') });
    expect(json).toContain(`\\n${escapes.join('\\n')}\\n`);
    const messages = [
      TASK_MESSAGE,
      ...makeExchange('Bash', { command: 'a' }, json),
      ...makeExchange('Probe', {}, escapes.join('\n')),
    ];
    expect(runSteps(STEPS, messages).edits).toEqual([]);
  });

  it('are compared without their line numbers, as in Cline’s reads', () => {
    const text = numberLines(makeCodeLines('a', 1, 40)).replaceAll('→', ' | ');
    const json = JSON.stringify([{ query: 'src/a.ts', result: text, success: true }]);
    const draft = runSteps(STEPS, [
      TASK_MESSAGE,
      ...makeExchange('read_files', { files: [{ path: 'src/a.ts' }] }, json),
    ]);
    const [shown] = JSON.parse(draft.getText({ message: 2, path: ['content', 0, 'content'] })) as { result: string }[];
    expect(shown?.result.split('\n').map((line) => /^ *(\d+) \| /.exec(line)?.[1])).toEqual(
      makeCodeLines('a', 1, 40).map((_, at) => (at < 2 ? String(at + 1) : undefined)),
    );
  });
});
