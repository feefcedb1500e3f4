import {
  chmodSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { Buffer } from 'node:buffer';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { writeDatabase, writeHome } from '../../../test/fixtures/conversations/home';
import { AGENT_LIST } from '../../core/agents';
import { readConversationFile } from '../readFile';
import { listAgentStores } from './agentStores';
import { findCustomStoragePaths } from './customStorage';
import { findConversations, listStoreFolders } from './find';
import type { FindConversationsOptions } from './types';

let home: string;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'home-'));
});
afterEach(() => {
  rmSync(home, { recursive: true, force: true });
});

const options = (more: Partial<FindConversationsOptions> = {}): FindConversationsOptions => ({
  platform: 'linux',
  env: {},
  homedir: home,
  ...more,
});
const write = (path: string, content = '{"role":"user","content":"x"}'): string => {
  const file = join(home, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, content);
  return file;
};

describe('a home folder with conversations of every agent', () => {
  it('has each conversation found and read as its agent’s', async () => {
    const written = writeHome(home);
    const { conversations, problems } = await findConversations(options());
    expect(problems).toEqual([]);
    expect(conversations.map(({ agent, path }) => `${agent} ${path}`).sort()).toEqual(
      written.map(({ agent, path }) => `${agent} ${path}`).sort(),
    );
    expect(new Set(written.map(({ agent }) => agent))).toEqual(
      new Set(AGENT_LIST.filter(({ stores }) => stores.length > 0).map(({ name }) => name)),
    );
    for (const { path, format } of written) {
      const conversation = readConversationFile(path);
      expect(conversation.format, path).toBe(format);
      expect(conversation.title, path).toMatch(/^(?:Rename value7|Explore)/);
    }
  });

  it('is listed newest first, with parents of subagents and sessions in databases', async () => {
    writeHome(home);
    const newest = write('.codex/sessions/rollout-new.jsonl');
    utimesSync(newest, new Date(), new Date(Date.now() + 60_000));
    const { conversations } = await findConversations(options());
    expect(conversations[0]).toMatchObject({ path: newest, bytes: 29 });
    const subagent = conversations.find(({ path }) => path.includes('subagents'));
    expect(subagent?.parent).toBe(
      join(home, '.claude/projects/-home-dev-app/00000000-0000-4000-8000-000000000001.jsonl'),
    );
    expect(conversations.find(({ path }) => path.endsWith('Explore.jsonl'))?.parent).toMatch(/_01a0169f\.jsonl$/);
    const session = conversations.find(({ path }) => path.endsWith('#ses_kilo'));
    expect(session).toMatchObject({
      title: 'Rename value7 in src/values.ts',
      workspace: '/home/dev/app',
      modified: 1_759_500_692_886,
      bytes: undefined,
    });
  });

  it('has a session that is stored in two forms listed in the newer form', async () => {
    write('.gemini/tmp/h/chats/session-a.json');
    write('.gemini/tmp/h/chats/session-a.jsonl');
    write('.gemini/tmp/h/chats/session-b.json');
    const workspace = '.config/Code/User/workspaceStorage/0a';
    write(`${workspace}/chatSessions/v1.json`);
    write(`${workspace}/chatSessions/v1.jsonl`);
    write(`${workspace}/chatSessions/v2.jsonl`);
    write(`${workspace}/GitHub.copilot-chat/transcripts/v2.jsonl`);
    write(`${workspace}/GitHub.copilot-chat/transcripts/v3.jsonl`);
    write('.local/share/opencode/storage/session/p/ses_1.json');
    write('.local/share/opencode/storage/session/p/ses_2.json');
    writeDatabase(join(home, '.local/share/opencode/opencode.db'), 'ses_1');
    const nothingSaid = JSON.stringify({ kind: 0, v: { version: 3, sessionId: 'v4', requests: [] } });
    writeFileSync(write(`${workspace}/chatSessions/v4.jsonl`), nothingSaid);
    write(`${workspace}/GitHub.copilot-chat/transcripts/v4.jsonl`);
    const { conversations } = await findConversations(options());
    expect(conversations.map(({ path }) => path.slice(home.length + 1)).sort()).toEqual([
      '.config/Code/User/workspaceStorage/0a/GitHub.copilot-chat/transcripts/v3.jsonl',
      '.config/Code/User/workspaceStorage/0a/GitHub.copilot-chat/transcripts/v4.jsonl',
      '.config/Code/User/workspaceStorage/0a/chatSessions/v1.jsonl',
      '.config/Code/User/workspaceStorage/0a/chatSessions/v2.jsonl',
      '.config/Code/User/workspaceStorage/0a/chatSessions/v4.jsonl',
      '.gemini/tmp/h/chats/session-a.jsonl',
      '.gemini/tmp/h/chats/session-b.json',
      '.local/share/opencode/opencode.db#ses_1',
      '.local/share/opencode/storage/session/p/ses_2.json',
    ]);
  });
});

describe('the folders searched for conversations', () => {
  const roots = async (more: Partial<FindConversationsOptions>): Promise<string[]> =>
    listStoreFolders(options({ homedir: '/h', ...more }));

  it('depend on the operating system', async () => {
    expect(await roots({ platform: 'darwin' })).toEqual(
      expect.arrayContaining([
        '/h/Library/Application Support/Code/User/globalStorage/rooveterinaryinc.roo-cline/tasks',
        '/h/Library/Application Support/Cursor/User/workspaceStorage',
        '/h/Library/Application Support/kilo',
        '/h/.local/share/kilo',
      ]),
    );
    expect(await roots({ platform: 'win32', env: { APPDATA: '/h/Roaming' } })).toEqual(
      expect.arrayContaining([
        '/h/Roaming/Windsurf/User/globalStorage/saoudrizwan.claude-dev/tasks',
        '/h/AppData/Local/opencode',
      ]),
    );
    expect(await roots({ platform: 'win32' })).toContain('/h/AppData/Roaming/Code/User/workspaceStorage');
  });

  it('respect environment variables', async () => {
    const env = {
      CLAUDE_CONFIG_DIR: '/c',
      CODEX_HOME: '/x',
      COPILOT_HOME: '/p',
      GEMINI_CLI_HOME: '/g',
      CLINE_DATA_DIR: '/l',
      CLINE_SESSION_DATA_DIR: '/s',
      XDG_DATA_HOME: '/d',
      XDG_CONFIG_HOME: '/f',
      VSCODE_PORTABLE: '/v',
    };
    expect(await roots({ env, globalStorage: '/own/User/globalStorage' })).toEqual(
      expect.arrayContaining([
        '/c/projects',
        '/x/sessions',
        '/x/archived_sessions',
        '/p/session-state',
        '/g/.gemini/tmp',
        '/l/tasks',
        '/s',
        '/d/kilo',
        '/d/code-server/User/workspaceStorage',
        '/f/Code - Insiders/User/globalStorage',
        '/v/user-data/User/globalStorage',
        '/own/User/globalStorage',
        '/own/User/workspaceStorage',
      ]),
    );
    expect(await roots({ env: { CLINE_DIR: '/cl' } })).toContain('/cl/data/sessions');
  });

  it('are each searched once', async () => {
    const stores = await listAgentStores(options({ globalStorage: join(home, '.config/Code/User/globalStorage') }));
    const keys = stores.map(({ root, steps }) => `${root} ${steps.join()}`);
    expect(new Set(keys).size).toBe(keys.length);
  });

  it("include folders chosen in users' settings", async () => {
    const chosen = write('roo data/tasks/t1/api_conversation_history.json');
    const machine = write('far/tasks/t2/api_conversation_history.json');
    write('.config/Cursor/User/settings.json', `{ // mine\n  "roo-cline.customStoragePath": "~/roo data", }`);
    write(
      '.vscode-server/data/Machine/settings.json',
      JSON.stringify({ 'zoo-code.customStoragePath': join(home, 'far') }),
    );
    const { conversations } = await findConversations(options());
    expect(conversations.map(({ agent, path }) => [agent, path]).sort()).toEqual([
      ['Roo Code', chosen],
      ['Zoo Code', machine],
    ]);
    expect(
      findCustomStoragePaths('"roo-cline.customStoragePath": "", "kilo-code.customStoragePath": "C:\\\\data"'),
    ).toEqual([{ agent: 'Kilo Code', folder: 'C:\\data' }]);
    expect(findCustomStoragePaths('"roo-cline.customStoragePath": "\\x"')).toEqual([]);
  });
});

describe("in an agent's store,", () => {
  const project = '.claude/projects/p';

  it('links that lead outside are noted and not followed, but a moved store and links inside it are accepted', async () => {
    const outside = write('elsewhere/secret.jsonl');
    const inside = write(`${project}/a.jsonl`);
    symlinkSync(outside, join(home, project, 'out.jsonl'));
    symlinkSync(dirname(outside), join(home, '.claude/projects/folder'));
    symlinkSync(inside, join(home, project, 'in.jsonl'));
    symlinkSync(join(home, project, 'gone.jsonl'), join(home, project, 'dangling.jsonl'));
    symlinkSync(join(home, '.claude/projects'), join(home, project, 'loop'));
    const { conversations, problems } = await findConversations(options());
    expect(conversations.map(({ path }) => path.slice(home.length + 1)).sort()).toEqual([
      `${project}/a.jsonl`,
      `${project}/in.jsonl`,
    ]);
    expect(problems.map(({ path }) => path.slice(home.length + 1)).sort()).toEqual([
      '.claude/projects/folder',
      `${project}/loop`,
      `${project}/out.jsonl`,
    ]);
    expect(problems[0]?.reason).toContain('leads out of the folder');
    renameSync(join(home, '.claude'), join(home, 'dotfiles'));
    symlinkSync(join(home, 'dotfiles'), join(home, '.claude'));
    expect((await findConversations(options())).conversations).toHaveLength(2);
  });

  it('unusual file names are accepted, and file names that are not UTF-8 are noted', async () => {
    const names = ['new\nline.jsonl', '🙂 #1.jsonl', "'; rm -rf.jsonl", '-.jsonl', '%2e.jsonl'];
    for (const name of names) write(`${project}/${name}`);
    linkSync(
      join(home, project, '-.jsonl'),
      Buffer.concat([Buffer.from(join(home, project, 'x')), Buffer.from([0xff]), Buffer.from('.jsonl')]),
    );
    const { conversations, problems } = await findConversations(options());
    expect(conversations.map(({ path }) => path.slice(home.length + project.length + 2)).sort()).toEqual(
      [...names].sort(),
    );
    expect(problems).toEqual([{ path: expect.stringContaining('\ufffd'), reason: 'a name that is not UTF-8' }]);
  });

  it('empty files, folders in place of files, and foreign databases do not stop the search', async () => {
    write(`${project}/empty.jsonl`, '');
    mkdirSync(join(home, project, 'folder.jsonl'));
    write('.local/share/kilo/kilo.db', 'not a database');
    const good = write(`${project}/good.jsonl`);
    const { conversations, problems } = await findConversations(options());
    expect(conversations.map(({ path }) => path)).toEqual([good]);
    expect(problems).toEqual([
      {
        path: join(home, '.local/share/kilo/kilo.db'),
        reason: expect.stringContaining('a database that can’t be read'),
      },
    ]);
  });

  it("folders that can't be listed are noted", async () => {
    const locked = join(home, '.codex/sessions');
    mkdirSync(dirname(locked), { recursive: true });
    // Root may list every folder, so this needs another user.
    if (process.getuid?.() === 0) return;
    mkdirSync(locked);
    chmodSync(locked, 0);
    const { problems } = await findConversations(options());
    chmodSync(locked, 0o700);
    expect(problems).toEqual([{ path: locked, reason: 'the folder can’t be listed (EACCES)' }]);
  });
});
