import { expect, it } from 'vitest';
import { inTemporaryFolder } from '../../test/support/inTemporaryFolder';
import { fake } from '../../test/support/vscode';
import type { LiveConversations } from '../live/liveConversations';
import { stringify, createTestBed, createRequest, SMALL_MESSAGES } from '../live/testing';
import type { LiveControls } from '../live/types';
import { chooseEdits, formatTokenDifference } from './liveLists';

/** Creates the controls that a window has for the conversations of its own chat. */
const createControls = (live: LiveConversations): LiveControls => ({
  list: () => live.list(),
  view: (id) => Promise.resolve(live.view(id)),
  compare: (id) => Promise.resolve(live.compare(id)),
  outline: (id) => Promise.resolve(live.outline(id)),
  undo: (id) => live.undo(id),
  redo: (id) => live.redo(id),
  toggleEdit: (id, edit) => live.toggleEdit(id, edit),
  pin: (id, message) => live.pin(id, message),
  unpin: (id, message) => live.unpin(id, message),
});

it("the chat's list of edits shows an excluded edit at its place, unchecked, and applies it again when checked", () =>
  inTemporaryFolder(async (root) => {
    const { live } = createTestBed(root);
    const { conversation: id } = await live.prepare(createRequest(SMALL_MESSAGES));
    await live.condenseNow(id, { provider: 'truncation', config: { preserveRecentCount: 2 } });
    const condensed = live.view(id)!;
    /**
     * Opens the list and leaves only the edits with these labels checked; undefined closes the
     * list.
     */
    const choose = async (labels?: readonly string[]) => {
      fake.picks = [labels?.join()];
      await chooseEdits(createControls(live), id);
      return fake.offered.at(-1)!;
    };
    const all = (await choose()).map(({ label }) => label);
    expect(all.length).toBeGreaterThan(2);
    expect(all[0]).toMatch(/^[\d,]+ fewer tokens · /);
    const [first, second = '', ...rest] = all;
    await choose([first!, ...rest]);
    const place = condensed.edits[1]?.kind === 'cut' ? condensed.edits[1].place.message : -1;
    expect(live.view(id)!.messages[place]).toEqual(SMALL_MESSAGES[place]);
    expect(await choose()).toMatchObject(all.map((label) => ({ label, picked: label !== second })));
    await choose(all);
    expect(stringify(live.view(id)!.messages)).toBe(stringify(condensed.messages));

    // All edits can be excluded, too.
    await choose([]);
    expect(live.view(id)!.messages).toEqual(SMALL_MESSAGES);
    expect(await choose(all)).toMatchObject(all.map((label) => ({ label, picked: false })));
    expect(stringify(live.view(id)!.messages)).toBe(stringify(condensed.messages));
    expect(await choose()).toMatchObject(all.map((label) => ({ label, picked: true })));
  }));

it.each([
  [1_234, '1,234 fewer tokens'],
  [0, '0 fewer tokens'],
  [-88, '88 more tokens'],
])(
  "a condensation's change by %d tokens is shown as “fewer” or “more” tokens instead of with a sign",
  (fewer, words) => {
    expect(formatTokenDifference(fewer)).toBe(words);
  },
);
