import { afterEach, describe, expect, it } from 'vitest';
import { shareThread } from '../../sharedThread';
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

afterEach(() => {
  shareThread(false);
});

/** The messages of which something is cut, and by which step. */
async function condensed(messages: readonly ApiMessage[]): Promise<(readonly [number, string])[]> {
  const context = { messages, edits: [], counter: freshCounter() };
  const { edits, notes } = await losslessProvider.condense(context, losslessConfigSchema.parse({}), {});
  expect(notes).toEqual([]);
  return cutsOf(edits).map(({ place, step }) => [place.message, step] as const);
}

describe('a text that is too long to be gone through where others wait for the thread', () => {
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
    shareThread(true);
    expect(await condensed(conversation)).toEqual([[2, 'Duplicate results']]);
  });

  it('is looked into elsewhere', async () => {
    expect(await condensed(conversation)).toEqual([
      [2, 'Duplicate results'],
      [4, 'Repeated runs of lines'],
    ]);
  });

  const place = (message: number) => ({ message, path: ['content', 0, 'content'] });
  const info: CutInfo = { contentType: 'toolResults', operation: 'cut', reason: 'test', strict: false };

  /** The long text without its middle, whose last lines stand again in a later result. */
  function shortened(): Draft {
    const end = long.split('\n').slice(-200).join('\n');
    const again = end.split('\n').slice(50, 150).join('\n');
    const original = [
      user('Look.'),
      ...exchange('1', 'Fetch', { url: 'a' }, long),
      ...exchange('2', 'Fetch', { url: 'b' }, again),
      user('Go on.'),
    ];
    const draft = new Draft(original, freshCounter());
    draft.cut('middle', place(2), [{ start: 0, end: long.length - end.length - 1, marker: 'the middle' }], info);
    return draft;
  }

  it.each(['here', 'elsewhere'])(
    'and was cut shorter promises nothing that is gone once the copy is (cut %s)',
    async (where) => {
      const draft = shortened();
      shareThread(where === 'here');
      for (const step of repeatedLines(DEFAULT_TOOLS, 'latest', LINE_OPERATIONS)) await step.run(draft, new Pace());
      shareThread(true);
      await restoreBroken(draft, new Pace());
      const kept = draft.edits;
      draft.cut('copy', place(4), [{ start: 0, end: draft.text(place(4)).length, marker: 'the copy' }], info);
      await restoreBroken(draft, new Pace());
      shareThread(false);
      expect(await brokenCuts(draft.original, draft.messages, draft.shown.flat())).toEqual([]);
      // What holds is not given back; where nobody may look, nothing is promised.
      const steps = cutsOf(kept).map(({ step }) => step);
      expect(steps).toEqual(where === 'elsewhere' ? ['middle', 'Repeated runs of lines'] : ['middle']);
    },
  );

  it('is not what a line says that names its hash', () => {
    const ids = new LineIds();
    const hash = hashText(long);
    const whole = oneLine(long, ids, new LineTables());
    expect(whole.textId(0)).toBe(oneLine(long, ids, new LineTables()).textId(0));
    expect(whole.textId(0)).not.toBe(ids.idOf(hash, 0, hash.length, false));
  });
});
