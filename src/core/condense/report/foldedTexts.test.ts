import fc from 'fast-check';
import { expect, it } from 'vitest';
import { assistant, call, makeLines, result, user } from '../../testing';
import { renderConversation } from '../../messages/render';
import { foldUnchangedText } from './foldedTexts';

const conversation = (bodies: readonly string[]): string => renderConversation(bodies.map((body) => user(body)));
const countOf = (text: string): number => text.split('\n').length;

it('the folded comparison shortens equal parts to a line, keeps some lines around changes, and locates the first change', () => {
  const long = makeLines('same', 100);
  const before = conversation([long, `${long}\ngone\n${long}`, long]);
  const after = conversation([long, `${long}\nmarker\n${long}`, long]);
  const { before: left, after: right, firstChange } = foldUnchangedText(before, after);
  expect(right.split('\n')[firstChange ?? -1]).toBe('marker');
  expect(left.split('\n')[firstChange ?? -1]).toBe('gone');
  expect(countOf(left)).toBeLessThan(25);
  expect(right).toContain('⋯ 97 lines unchanged ⋯');
});

it('the folded comparison keeps the line that identifies a changed tool result', () => {
  const path = 'src/a.ts';
  const said = (text: string): string =>
    renderConversation([
      assistant(call('a', 'Read', { path: 'src/b.ts' }), call('b', 'Read', { path })),
      user(result('a', makeLines('other', 20)), result('b', `${makeLines('head', 20)}\n${text}`)),
    ]);
  const { before, after } = foldUnchangedText(said('gone'), said('marker'));
  for (const text of [before, after]) {
    const [, shown = ''] = text.split('━━━ 2 · tool result ━━━');
    expect(shown.trim().split('\n')).toEqual([
      expect.stringMatching(/^⋯ \d+ lines unchanged ⋯$/),
      `◀ result of Read ${path}`,
      expect.stringMatching(/^⋯ \d+ lines unchanged ⋯$/),
      ...makeLines('head', 20).split('\n').slice(-3),
      text === before ? 'gone' : 'marker',
    ]);
  }
});

it('the folded comparison shortens 10,000 changed lines to a number that an editor can compare', () => {
  const one = conversation(['task', makeLines('old', 10_000), makeLines('kept', 5_000)]);
  const folded = foldUnchangedText(one, conversation(['task', 'marker', makeLines('kept', 5_000)]));
  expect(countOf(folded.before) + countOf(folded.after)).toBeLessThan(300);
  expect(folded.before).toContain('⋯ 9,750 more lines: “Read What Was Condensed” shows them ⋯');
  const bodies = Array.from({ length: 500 }, (_, at) => makeLines(`part ${at}`, 20));
  const many = foldUnchangedText(conversation(bodies), conversation(bodies.map((_, at) => `marker ${at}`)));
  expect(countOf(many.before) + countOf(many.after)).toBeLessThan(12_000);
});

it('the folded comparison of two equal texts gives the same text twice and no first change', () => {
  const text = conversation(['a', makeLines('b', 50)]);
  const { before, after, firstChange } = foldUnchangedText(text, text);
  expect(before).toBe(after);
  expect(firstChange).toBeUndefined();
});

it('the folded comparison pairs a summary with the messages that it replaced, and later messages with themselves', () => {
  const messages = ['task', 'one', 'two', 'three'].map((body) => user(body));
  const view = renderConversation([user('task'), user('summary of two'), user('three')], [0, -1, 3]);
  const { before, after } = foldUnchangedText(renderConversation(messages), view);
  expect(before.split('\n').at(-3)).toBe(after.split('\n').at(-3));
  expect(before).toContain('two');
});

it('the folded comparison keeps equal texts equal, and different ones different at the reported line', () => {
  const bodies = fc.array(fc.array(fc.constantFrom('a', 'b', '', '━━━ 2 · user ━━━'), { maxLength: 40 }), {
    minLength: 1,
    maxLength: 5,
  });
  fc.assert(
    fc.property(bodies, bodies, (a, b) => {
      const [one, other] = [a, b].map((texts) => conversation(texts.map((text) => text.join('\n'))));
      const { before, after, firstChange } = foldUnchangedText(one ?? '', other ?? '');
      if (firstChange === undefined) {
        expect(one).toBe(other);
        return;
      }
      const [left, right] = [before.split('\n'), after.split('\n')];
      expect(left.slice(0, firstChange)).toEqual(right.slice(0, firstChange));
      expect(left[firstChange]).not.toBe(right[firstChange]);
    }),
  );
});

it('the folded comparison ignores a removed line number but not removed text', () => {
  const numbered = (text: string): string =>
    text
      .split('\n')
      .map((line, at) => `${String(at + 1).padStart(6)}→${line}`)
      .join('\n');
  const before = conversation(['task', `${numbered(makeLines('kept', 6))}\n${numbered(makeLines('gone', 2))}`]);
  const after = conversation(['task', `${makeLines('kept', 6)}\nmarker`]);
  const folded = foldUnchangedText(before, after);
  const right = folded.after.split('\n');
  const changed = folded.before.split('\n').filter((line) => !right.includes(line));
  expect(changed).toHaveLength(2);
  for (const line of changed) expect(line).toContain('gone');
});

it('the folded comparison keeps the line numbers of removed text, even of lines that occur everywhere', () => {
  const body = ['import a', '', 'export function f() {', '  return a;', '}', ''];
  const numbered = body.map((line, at) => `${String(at + 1).padStart(6)}→${line}`).join('\n');
  const other = ['const b = 1;', '', 'if (b) {', '}', ''].join('\n');
  const before = conversation(['task', `${numbered}\n${other}`]);
  const after = conversation(['task', `marker\n${other}`]);
  const folded = foldUnchangedText(before, after);
  for (const line of numbered.split('\n')) expect(folded.before.split('\n')).toContain(line);
});

it('the folded comparison in a preview does not mention a command that previews do not have', () => {
  const one = conversation(['task', makeLines('old', 10_000)]);
  const other = conversation(['task', makeLines('new', 10_000)]);
  expect(foldUnchangedText(one, other).before).toContain('“Read What Was Condensed” shows them');
  expect(foldUnchangedText(one, other, true).before).not.toContain('Read What');
  expect(foldUnchangedText(one, other, true).before).toMatch(/⋯ [\d,]+ more lines/);
});
