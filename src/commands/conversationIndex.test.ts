import { join } from 'node:path';
import { beforeEach, expect, it, vi } from 'vitest';
import { temporaryFolder } from '../../test/support/temporaryFolder';
import { stubHome } from '../../test/support/testWindow';
import { testServices } from '../../test/support/services';
import { fake } from '../../test/support/vscode';
import { getConversationIndex, watchConversations } from './conversationIndex';

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
  vi.spyOn(getConversationIndex(services), 'watch').mockImplementation((folders, watch) => {
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
