import { join } from 'node:path';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { temporaryFolder } from '../../test/support/temporaryFolder';
import { stubHome } from '../../test/support/testWindow';
import { testServices } from '../../test/support/services';
import { fake } from '../../test/support/vscode';
import type { IndexedConversation } from '../background/conversationIndex';
import { findNewestConversation, getConversationIndex, watchConversations } from './conversationIndex';

let home: string;

beforeEach(() => {
  fake.reset();
  home = temporaryFolder();
  stubHome(home);
});
it("the index notices changes of conversations, but not of VS Code's or the extension's own files", async () => {
  const storage = join(home, '.config', 'Code', 'User', 'globalStorage');
  const { services } = testServices(home, join(storage, 'us'));
  const changes = vi.fn();
  vi.spyOn(getConversationIndex(services), 'watchFolders').mockImplementation((folders, watch) => {
    for (const folder of folders) watch(folder, changes);
  });
  await watchConversations(services);
  await watchConversations(services);
  const { created, changed, deleted } = fake.watched.get(storage)!;
  created(join(storage, 'us', 'ledgers', 'a', 'originals.jsonl'));
  changed(join(storage, 'us', 'conversations.json'));
  deleted(join(storage, 'us', 'ledgers', 'a'));
  changed(join(storage, 'state.vscdb'));
  expect(changes).not.toHaveBeenCalled();
  created(join(storage, 'github.copilot-chat', 'transcripts', 'a.jsonl'));
  for (const name of ['a.json', 'kilo.db', 'kilo.db-wal']) changed(join(storage, name));
  deleted(join(storage, 'github.copilot-chat'));
  expect(changes).toHaveBeenCalledTimes(5);
});

describe('the newest conversation', () => {
  const read = (path: string, workspace: string, more: object = {}) =>
    ({ path, details: { path, modified: 1, isComplete: true, workspace, ...more } }) as unknown as IndexedConversation;
  const unread = (path: string) => ({ path, details: undefined }) as unknown as IndexedConversation;
  const NEWEST_FIRST = [
    read('broken', '/here', { problem: 'half a line' }),
    read('elsewhere', '/other'),
    { ...read('subagent', '/here'), parent: 'here' },
    read('inside', '/here/packages/a'),
    read('here', '/here'),
  ];

  /** @param states the list, step by step as it is read */
  async function choose(
    states: readonly (readonly IndexedConversation[])[],
    folders?: readonly string[],
  ): Promise<readonly [string | undefined, number]> {
    const { services } = testServices(home, join(home, 'us'));
    const index = getConversationIndex(services);
    let listener: () => void = () => undefined;
    let at = 0;
    vi.spyOn(index, 'conversations', 'get').mockImplementation(() => states[at] ?? []);
    vi.spyOn(index, 'onDidChange').mockImplementation((changed) => {
      listener = changed;
      return { dispose: () => (listener = () => undefined) };
    });
    let isFound = false;
    vi.spyOn(index, 'refresh').mockImplementation(async () => {
      for (at = 0; at < states.length; at++) {
        await Promise.resolve();
        listener();
        await Promise.resolve();
        if (isFound) return;
      }
      at = states.length - 1;
    });
    const found = await findNewestConversation(services, folders).finally(() => (isFound = true));
    return [found?.path, at];
  }

  it('is the newest readable one that was started by a person, not a subagent', async () => {
    expect((await choose([NEWEST_FIRST]))[0]).toBe('elsewhere');
  });

  it.each([
    ['of this workspace', ['/here'], 'inside'],
    ['of all, if this workspace has none', ['/nowhere'], 'elsewhere'],
  ])('is preferably the newest one %s', async (_which, folders, path) => {
    expect((await choose([NEWEST_FIRST], folders))[0]).toBe(path);
  });

  it('is waited for while newer unread ones may belong to this workspace, but not if only older ones may', async () => {
    const [first, second] = [unread('a'), unread('b')];
    const states = [
      [first, read('c', '/here'), second],
      [read('a', '/other'), read('c', '/here'), second],
      [read('a', '/other'), read('c', '/here'), read('b', '/here')],
    ];
    const [path, at] = await choose(states, ['/here']);
    expect(path).toBe('c');
    expect(at).toBeLessThan(2);
  });

  it('is undefined if there are no conversations', async () => {
    expect((await choose([[]], ['/here']))[0]).toBeUndefined();
  });
});
