import { mkdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, inject, it } from 'vitest';
import { temporaryFolder } from '../../test/support/temporaryFolder';
import { loadTokenCounter } from '../storage/assets';
import { renderAccountCsv } from './accountFile';
import { computeAccountOfStores, type StoresAccount } from './accountStores';

let home: string;
beforeEach(() => {
  home = temporaryFolder();
});

const put = (path: string, text: string): string => {
  const file = join(home, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  return file;
};

const account = (): Promise<StoresAccount> =>
  computeAccountOfStores(
    { find: { platform: 'linux', env: {}, homedir: home }, cache: join(home, 'store', 'account.json') },
    () => loadTokenCounter(inject('assets')),
  );

const lines = (records: readonly unknown[]): string => records.map((record) => `${JSON.stringify(record)}\n`).join('');

const claudeCode = (outputTokens: number): string =>
  lines([
    {
      type: 'user',
      uuid: '1',
      sessionId: 's',
      cwd: '/p',
      timestamp: '2026-02-01T12:00:00Z',
      message: { role: 'user', content: 'Hello' },
    },
    ...[1, outputTokens].map((output, index) => ({
      type: 'assistant',
      uuid: `a${index}`,
      parentUuid: index === 0 ? '1' : 'a0',
      sessionId: 's',
      timestamp: '2026-02-01T12:00:01Z',
      message: {
        id: 'msg_1',
        role: 'assistant',
        model: 'claude-opus-4-6',
        content: [{ type: 'text', text: `Part ${index}` }],
        usage: {
          input_tokens: 100_000,
          output_tokens: output,
          cache_read_input_tokens: 0,
          cache_creation_input_tokens: 0,
        },
      },
    })),
  ]);

const CLAUDE = '.claude/projects/p/00000000-0000-4000-8000-000000000001.jsonl';

describe("the account of Claude Code's sessions", () => {
  it('counts a request with two records once, with the token usage of the last record', async () => {
    put(CLAUDE, claudeCode(1_000));
    const { sessions, problems } = await account();
    expect(problems).toEqual([]);
    // A million input tokens cost $5, a million output tokens $25.
    expect(sessions).toMatchObject([
      {
        agent: 'Claude Code',
        project: '/p',
        source: 'recorded',
        usage: [{ model: 'claude-opus-4-6', requests: 1, fresh: 100_000, output: 1_000, unpriced: 0 }],
        fill: [101_000],
      },
    ]);
    expect(sessions[0]?.usage[0]?.cost).toBeCloseTo(0.525, 6);
  });

  it('rereads only changed sessions in a second run', async () => {
    const file = put(CLAUDE, claudeCode(1_000));
    const time = new Date('2026-02-01T13:00:00Z');
    utimesSync(file, time, time);
    const first = await account();
    const { size } = statSync(file);
    // The file keeps its size and time, but reading it again would change the figures.
    writeFileSync(file, claudeCode(2_000));
    utimesSync(file, time, time);
    expect(statSync(file).size).toBe(size);
    expect(await account()).toEqual(first);
    utimesSync(file, time, new Date(time.getTime() + 1_000));
    expect((await account()).sessions[0]?.usage[0]?.output).toBe(2_000);
  });

  it("lists subagents of Claude Code 2.0 below their session, although their files are next to the session's file", async () => {
    const session = put(CLAUDE, claudeCode(1_000).replaceAll('"s"', '"00000000-0000-4000-8000-000000000001"'));
    const told = { isSidechain: true, agentId: 'x', sessionId: '00000000-0000-4000-8000-000000000001' };
    const records = [
      {
        ...told,
        type: 'user',
        uuid: 'x1',
        timestamp: '2026-02-01T12:00:02Z',
        message: { role: 'user', content: 'Look' },
      },
      {
        ...{ ...told, type: 'assistant', uuid: 'x2', parentUuid: 'x1', timestamp: '2026-02-01T12:00:03Z' },
        message: {
          ...{ id: 'msg_x', role: 'assistant', model: 'claude-opus-4-6', content: [{ type: 'text', text: 'Seen' }] },
          usage: { input_tokens: 7, output_tokens: 1 },
        },
      },
    ];
    const file = put('.claude/projects/p/agent-x.jsonl', lines(records));
    const { sessions } = await account();
    expect(sessions.find(({ path }) => path === file)).toMatchObject({
      ...{ above: { path: session, relation: 'subagent' }, usage: [{ requests: 1, fresh: 7 }] },
    });
    expect(sessions).toHaveLength(2);
  });

  it('rebuilds a broken cache', async () => {
    put(CLAUDE, claudeCode(1_000));
    const first = await account();
    put('store/account.json', '{"version":1');
    expect(await account()).toEqual(first);
    expect(readFileSync(join(home, 'store', 'account.json'), 'utf8')).toContain('claude-opus-4-6');
  });

  it('reports a damaged file and still includes the sessions of the other files', async () => {
    put(CLAUDE, claudeCode(1_000));
    put('.claude/projects/p/00000000-0000-4000-8000-000000000002.jsonl', '{"type":"user","uuid":"1"\n{}\n');
    const { sessions, problems } = await account();
    expect(sessions).toHaveLength(1);
    expect(problems).toEqual([
      { path: expect.stringContaining('0002.jsonl') as string, reason: expect.any(String) as string },
    ]);
  });
});

describe("the account of Roo's sessions", () => {
  const task = '.config/Code/User/globalStorage/rooveterinaryinc.roo-cline/tasks/1/';
  const history = JSON.stringify([
    { role: 'user', content: 'Hello', ts: 1_000 },
    { role: 'assistant', content: [{ type: 'text', text: 'Hi' }], ts: 3_000 },
  ]);

  it('takes tokens and cost from ui_messages.json, and leaves the model unknown', async () => {
    put(`${task}api_conversation_history.json`, history);
    const told = { tokensIn: 500, tokensOut: 20, cacheReads: 400, cacheWrites: 0, cost: 0.25 };
    put(`${task}ui_messages.json`, JSON.stringify([{ ts: 2_000, say: 'api_req_started', text: JSON.stringify(told) }]));
    const { sessions } = await account();
    expect(sessions).toMatchObject([
      { source: 'recorded', usage: [{ requests: 1, fresh: 100, cacheRead: 400, output: 20, cost: 0.25, unpriced: 0 }] },
    ]);
  });

  it('estimates requests at unknown cost if ui_messages.json is missing', async () => {
    put(`${task}api_conversation_history.json`, history);
    const { sessions } = await account();
    expect(sessions).toMatchObject([{ source: 'replayed', usage: [{ requests: 1, cost: 0, unpriced: 1 }] }]);
  });
});

it("the account's CSV export escapes a title that looks like a formula", async () => {
  put(CLAUDE, claudeCode(1).replace('Hello', '=1+1, \\"a\\"'));
  const { sessions } = await account();
  expect(renderAccountCsv(sessions, 'session').split('\r\n')[1]).toContain(`"'=1+1, ""a"""`);
});
