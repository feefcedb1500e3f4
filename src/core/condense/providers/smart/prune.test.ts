import { describe, expect, it } from 'vitest';
import type { ApiMessage } from '../../../messages/types';
import { assistant, exchange, user } from '../../../testing';
import { freshCounter } from '../../../testingCounter';
import { Draft } from '../../draft/draft';
import { DEFAULT_TOOLS } from '../../../messages/tools';
import { Pace } from '../../../pace';
import type { Item } from './items';
import { WEIGHTS } from '../../relevance/weights';
import { prune } from './prune';
import { MARKER_START } from '../../../messages/markers';

const counter = freshCounter();

const body = (name: string): string =>
  [`func ${name}() {`, ...Array.from({ length: 12 }, (_, at) => `\t${name}Call${at}("argument of ${name}")`), '}'].join(
    '\n',
  );
const FILE = ['package cli', '', body('setup'), '', body('teardown'), '', body('migrate')].join('\n');
const numbered = (text: string): string =>
  text
    .split('\n')
    .map((line, at) => `${at + 1}→${line}`)
    .join('\n');

const read = (id: string, path: string, content: string): ApiMessage[] =>
  exchange(id, 'Read', { file_path: path }, content);
const bash = (id: string, output: string): ApiMessage[] => exchange(id, 'Bash', { command: `run ${id}` }, output);

const isRead = ({ exchange: made }: Item): boolean => made?.tool === 'Read';

/** @param less tokens that must go; undefined: there is no target. */
async function pruned(
  messages: readonly ApiMessage[],
  less: number | undefined,
  isWanted: (item: Item) => boolean = () => true,
): Promise<Draft> {
  const draft = new Draft(messages, counter);
  const targetTokens = less === undefined ? undefined : draft.tokens - less;
  await prune('Thin', draft, new Pace(), { tools: DEFAULT_TOOLS, targetTokens, weights: WEIGHTS }, isWanted);
  return draft;
}

const resultAt = (draft: Draft, message: number): string => draft.text({ message, path: ['content', 0, 'content'] });
const isWhole = (draft: Draft, message: number): boolean => !resultAt(draft, message).includes(MARKER_START);

describe('thinning', () => {
  it('with another target, of other items or of a view that changed, takes what it takes of a conversation that it never saw', async () => {
    const messages = [
      user('Rewrite migrate: migrateCall3 must not run twice.'),
      ...read('1', '/p/a.go', numbered(FILE)),
      ...bash('2', body('teardown')),
      ...read('3', '/p/b.go', numbered(FILE.replaceAll('setup', 'prepare'))),
    ];
    const everything = (): boolean => true;
    for (const [less, isWanted] of [
      [100, everything],
      [300, everything],
      [200, isRead],
      [100, everything],
    ] as const) {
      const { edits } = await pruned(messages, less, isWanted);
      expect(edits).not.toEqual([]);
      expect(edits).toEqual((await pruned(structuredClone(messages), less, isWanted)).edits);
    }
    const draft = await pruned(messages, 100);
    const again = { tools: DEFAULT_TOOLS, targetTokens: draft.tokens - 150, weights: WEIGHTS };
    await prune('Thin', draft, new Pace(), again, everything);
    const other = await pruned(structuredClone(messages), 100);
    await prune('Thin', other, new Pace(), again, everything);
    expect(draft.edits).toEqual(other.edits);
  });

  it('takes out the blocks that the conversation is least about, and no more than the target asks for', async () => {
    const messages = [
      user('Rewrite migrate: migrateCall3 must not run twice.'),
      ...read('1', '/p/a.go', numbered(FILE)),
    ];
    const draft = await pruned(messages, 120);
    expect(draft.tokens).toBeLessThanOrEqual(counter.messages(messages) - 120);
    const text = resultAt(draft, 2);
    expect(text).toContain('migrateCall3');
    expect(text).toMatch(new RegExp(`${MARKER_START} lines \\d+-\\d+`));
    expect(text).toMatch(/(?:setup|teardown)Call3/);
  });

  it('joins neighbours, and names the lines by their numbers', async () => {
    const draft = await pruned([user('Task.'), ...read('1', '/p/a.go', numbered(FILE))], 400);
    expect(resultAt(draft, 2)).toMatch(new RegExp(`^${MARKER_START} lines 1-46[;·]? `));
  });

  it('takes outputs of commands before files', async () => {
    const other = FILE.replace(/setup|teardown|migrate/g, 'other');
    const messages = [
      user('Look at b.go.'),
      ...read('1', '/p/a.go', other),
      ...read('2', '/p/b.go', other.replace(/other/g, 'thing')),
      ...bash('3', other.replace(/other/g, 'shown')),
      assistant('Done.'),
    ];
    const size = counter.text(other);
    const once = await pruned(messages, size / 2);
    expect([2, 4, 6].filter((message) => !isWhole(once, message))).toEqual([6]);
  });

  it('takes the text of an edit out but not what says which file it was of', async () => {
    const messages = [
      user('Task.'),
      ...exchange('1', 'Write', { file_path: '/p/a.go', content: FILE }, 'done'),
      assistant('Done.'),
    ];
    const draft = await pruned(messages, 300);
    expect(draft.messages[1]?.content).toMatchObject([{ input: { file_path: '/p/a.go' } }]);
    expect(draft.text({ message: 1, path: ['content', 0, 'input', 'content'] })).toContain(MARKER_START);
  });

  it('takes the oldest of the agent’s own words only where more than half of what calls hold has to go', async () => {
    const words = (about: string): string => `I looked at ${about}. `.repeat(20).trim();
    const messages = [
      user('Task.'),
      ...read('1', '/p/a.go', FILE),
      assistant(words('a.go')),
      user(words('what I want')),
      ...read('2', '/p/b.go', FILE),
      ...read('3', '/p/c.go', FILE),
      assistant(words('c.go')),
    ];
    const [first, people, last] = [3, 4, 9] as const;
    const size = 3 * counter.text(FILE);
    const isWhole = (draft: Draft, message: number): boolean => draft.messages[message] === messages[message];
    const some = await pruned(messages, 0.4 * size);
    expect([first, people, last].every((message) => isWhole(some, message))).toBe(true);
    const much = await pruned(messages, 0.7 * size);
    expect(isWhole(much, first)).toBe(false);
    expect([people, last].every((message) => isWhole(much, message))).toBe(true);
    expect(much.tokens).toBeLessThanOrEqual(counter.messages(messages) - 0.7 * size);
    expect([2, 6, 8].some((message) => resultAt(much, message).includes('Call3'))).toBe(true);
    // Markers make the gain less than the estimate; what stays for it goes in the same run, not in the next.
    const nearlyAll = await pruned(messages.slice(4), (2 / 3) * 0.99 * size);
    const target = counter.messages(messages.slice(4)) - (2 / 3) * 0.99 * size;
    expect((await pruned(nearlyAll.messages, nearlyAll.tokens - target)).edits).toEqual([]);
  });

  it('leaves what it may not touch, what a person said in a result, and all where there is no target', async () => {
    const words = 'The user said:\nKeep the old name of migrate.';
    const refused = exchange(
      '1',
      'Edit',
      { file_path: '/p/a.go', old_string: 'x' },
      `The user doesn't want to proceed with this tool use.\n${FILE}\nthe user said:\n${words}`,
    );
    const messages = [user('Task.'), ...refused, ...read('2', '/p/b.go', FILE), assistant('Done.')];
    expect(resultAt(await pruned(messages, 10_000), 2)).toContain(words);
    expect(isWhole(await pruned(messages, 10_000, isRead), 2)).toBe(true);
    expect((await pruned(messages, undefined)).edits).toEqual([]);
    expect((await pruned(messages, 0)).edits).toEqual([]);
    expect((await pruned(messages, 100, () => false)).edits).toEqual([]);
  });
});
