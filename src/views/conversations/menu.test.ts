import { expect, it } from 'vitest';
import { contributes } from '../../../package.json';

/** Returns the entries of a row's context menu by group, or the row's buttons. */
function listEntries(contextValue: string, isInline = false): ReadonlyMap<string, readonly string[]> {
  const holds = (condition: string): boolean => {
    const [, not, pattern] = /^(!\()?viewItem =~ \/(.+)\/\)?$/.exec(condition) ?? [];
    return pattern === undefined || new RegExp(pattern).test(contextValue) === (not === undefined);
  };
  const shown = contributes.menus['view/item/context'].filter(
    ({ when, group }) => group.startsWith('inline') === isInline && when.split(' && ').every(holds),
  );
  const byGroup = Map.groupBy(shown, ({ group }) => group.split('@')[0] ?? '');
  return new Map([...byGroup].map(([group, entries]) => [group, entries.map(({ command }) => command)]));
}

const CONDENSED = 'conversation condensed redoable history returnable given runnable resumable';

it.each([
  ['conversation runnable resumable', 9],
  ['conversation copy runnable resumable', 10],
  ['conversation condensed history runnable', 11],
  ['conversation condensed history returnable runnable resumable', 13],
  [CONDENSED, 15],
  ['live condensed undoable', 7],
  ['broken', 1],
])('the menu of a conversation’s row "%s" has groups of at most four entries, %d in all', (contextValue, all) => {
  const groups = [...listEntries(contextValue).values()];
  for (const group of groups) expect(group.length).toBeLessThanOrEqual(4);
  expect(groups.flat().length).toBe(all);
});

it.each([
  ['conversation runnable', ['condense']],
  ['conversation condensed history', ['diff']],
  ['live condensed undoable', ['condense', 'diff']],
])('the row "%s" leaves room for its figures: its only buttons are %j', (contextValue, buttons) => {
  const commands = listEntries(contextValue, true).get('inline');
  expect(commands).toEqual(buttons.map((name) => `contextCondenser.conversations.${name}`));
});

it('the menu of a conversation that was given back begins with undoing this and resuming the conversation', () => {
  const [first] = [...listEntries(CONDENSED)].toSorted(([a], [b]) => a.localeCompare(b));
  expect(first?.[1]).toEqual(['undoGiveBack', 'resume'].map((name) => `contextCondenser.conversations.${name}`));
});

it.each([
  ['conversation condensed history returnable runnable', true],
  ['conversation condensed history runnable', false],
])(
  'the menu of a conversation’s row "%s" offers giving it back only if its agent can take it (%s), and always an export',
  (words, canReturn) => {
    const offered = [...listEntries(words).values()].flat();
    expect(offered.includes('contextCondenser.conversations.giveBack')).toBe(canReturn);
    expect(offered).toContain('contextCondenser.conversations.export');
  },
);
