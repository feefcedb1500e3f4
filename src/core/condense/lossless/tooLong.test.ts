import { describe, expect, it } from 'vitest';
import { cutsOf, exchange, lines, user } from '../../testing';
import { Draft } from '../draft/draft';
import type { CutInfo } from '../draft/cuts';
import { brokenCuts, restoreBroken } from './integrity';
import { LineIds } from './lineIds';
import { oneLine } from './lines';
import { LineTables } from './lineTables';
import { hashText } from '../../hash';
import { LINE_OPERATIONS, repeatedLines } from './repeatedLines';
import { DEFAULT_TOOLS } from '../../messages/tools';
import { Pace } from '../../pace';
import { freshCounter } from '../../testingCounter';
import type { ApiMessage } from '../../messages/types';
import { losslessConfigSchema, losslessProvider } from '../providers/lossless';

/** The messages of which something is cut, and by which step. */
async function condensed(messages: readonly ApiMessage[]): Promise<(readonly [number, string])[]> {
  const context = { messages, edits: [], counter: freshCounter() };
  const { edits, notes } = await losslessProvider.condense(context, losslessConfigSchema.parse({}), {});
  expect(notes).toEqual([]);
  return cutsOf(edits).map(({ place, step }) => [place.message, step] as const);
}

describe('a text that is too long to be gone through', () => {
  const long = lines('long', 30_000);
  const part = long.split('\n').slice(100, 160).join('\n');
  const conversation = [
    user('Look.'),
    ...exchange('1', 'Fetch', { url: 'a' }, long),
    ...exchange('2', 'Fetch', { url: 'b' }, part),
    ...exchange('3', 'Fetch', { url: 'c' }, long),
    user('Go on.'),
  ];

  it('is not looked into, and refers to its copy as a whole', async () => {
    expect(await condensed(conversation)).toEqual([[2, 'Duplicate results']]);
  });

  const place = (message: number) => ({ message, path: ['content', 0, 'content'] });
  const info: CutInfo = { contentType: 'toolResults', operation: 'cut', reason: 'test', strict: false };

  const end = long.split('\n').slice(-200).join('\n');
  const again = end.split('\n').slice(50, 150).join('\n');

  /** The long text, whose last lines stand again in a later result. */
  const seenAgain = (): Draft =>
    new Draft(
      [
        user('Look.'),
        ...exchange('1', 'Fetch', { url: 'a' }, long),
        ...exchange('2', 'Fetch', { url: 'b' }, again),
        user('Go on.'),
      ],
      freshCounter(),
    );

  /** Takes the later result out, and what the cuts so far promise back. @returns the steps that cut something before. */
  async function withoutCopy(draft: Draft): Promise<string[]> {
    await restoreBroken(draft, new Pace());
    const kept = cutsOf(draft.edits).map(({ step }) => step);
    draft.cut('copy', place(4), [{ start: 0, end: draft.text(place(4)).length, marker: 'the copy' }], info);
    await restoreBroken(draft, new Pace());
    expect(await brokenCuts(draft.original, draft.messages, draft.shown.flat())).toEqual([]);
    return kept;
  }

  it('and was cut shorter promises nothing that is gone once the copy is', async () => {
    const draft = seenAgain();
    draft.cut('middle', place(2), [{ start: 0, end: long.length - end.length - 1, marker: 'the middle' }], info);
    for (const step of repeatedLines(DEFAULT_TOOLS, 'latest', LINE_OPERATIONS)) await step.run(draft, new Pace());
    expect(await withoutCopy(draft)).toEqual(['middle']);
  });

  it('keeps what an earlier version cut out of it line by line, and gets it back once the copy is gone', async () => {
    const draft = seenAgain();
    const start = long.indexOf(again);
    const request = { start, end: start + again.length, marker: 'shown later' };
    draft.cut('lines', place(2), [request], { ...info, strict: true });
    expect(await withoutCopy(draft)).toEqual(['lines']);
    expect(draft.text(place(2))).toBe(long);
  });

  it('is not what a line says that names its hash', () => {
    const ids = new LineIds();
    const hash = hashText(long);
    const whole = oneLine(long, ids, new LineTables());
    expect(whole.textId(0)).toBe(oneLine(long, ids, new LineTables()).textId(0));
    expect(whole.textId(0)).not.toBe(ids.idOf(hash, 0, hash.length, false));
  });
});
