import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import OpenAI from 'openai';
import { describe, expect, inject, it, onTestFinished, vi } from 'vitest';
import { startOpenAIServer } from '../../../test/servers/openaiServer';
import { reply } from '../../../test/servers/behaviour';
import { makeLines } from '../../core/testing';
import { temporaryFolder } from '../../../test/support/temporaryFolder';
import { listAnnouncements, type GatewayAnnouncement } from '../../gateway/announcement';
import { FOLDER_MARKER_FILE_NAME } from '../../storage/ownFolder';
import { RunningConversations } from '../../gateway/runningConversations';
import { UsageError } from '../args';
import { runCommandLine } from '../run';
import { listRouteAddresses } from './gatewayCommand';

/** Creates a gateway with a persistent address, and its folders. */
async function startGatewayBed() {
  const home = temporaryFolder();
  const folder = join(home, 'running');
  const file = join(home, 'gateway.json');
  const vendor = await startOpenAIServer({ script: reply('Done.') });
  onTestFinished(() => vendor.close());
  const start = (...more: readonly string[]) => {
    const abort = new AbortController();
    onTestFinished(() => {
      abort.abort(new Error('over'));
    });
    const said = { stdout: '', stderr: '' };
    const code = runCommandLine(
      ['gateway', '--store', join(home, 'store'), '--announce', folder, '--address-file', file, ...more],
      {
        stdout: (text) => (said.stdout += text),
        stderr: (text) => (said.stderr += text),
        assets: inject('assets'),
        signal: abort.signal,
        now: () => new Date(),
        version: '0',
        platform: process.platform,
        env: { OPENAI_BASE_URL: `${vendor.url}/v1` },
        homedir: home,
      },
    );
    return {
      said,
      code,
      stop: () => {
        abort.abort(new Error('over'));
        return code;
      },
      addresses: () =>
        vi.waitFor(async () => {
          const [told] = await listAnnouncements(folder);
          expect(said.stdout).toContain('openai');
          return (told as GatewayAnnouncement & { addresses: Record<string, string> }).addresses;
        }),
    };
  };
  const ask = async (baseURL: string | undefined): Promise<string | null | undefined> => {
    const client = new OpenAI({ baseURL, apiKey: 'sk-test', maxRetries: 0 });
    const messages = [{ role: 'user' as const, content: 'Put the notes in order.' }];
    return (await client.chat.completions.create({ model: 'gpt-5', messages })).choices[0]?.message.content;
  };
  return { home, folder, file, vendor, start, ask };
}

describe('a gateway with a fixed address', () => {
  it('answers while it runs, refuses connections afterwards, and has the same address when restarted', async () => {
    const { folder, file, start, ask } = await startGatewayBed();
    const first = start();
    const { openai } = await first.addresses();
    expect(await ask(openai)).toBe('Done.');
    expect(await first.stop()).toBe(0);
    expect(readdirSync(folder)).toEqual([FOLDER_MARKER_FILE_NAME]);
    await expect(ask(openai)).rejects.toThrow('Connection error.');
    if (process.platform !== 'win32') expect(statSync(file).mode & 0o077).toBe(0);

    const second = start();
    expect((await second.addresses())['openai']).toBe(openai);
    expect(await ask(openai)).toBe('Done.');
    await second.stop();
  });

  it("offers no recall tool, since all who know the address could read each other's tasks", async () => {
    const { start } = await startGatewayBed();
    const gateway = start();
    const { openai = '' } = await gateway.addresses();
    const answer = await fetch(openai.replace(/openai\/v1$/, 'recall'), { method: 'POST', body: '{"words":"notes"}' });
    expect(answer.status).toBe(404);
    await gateway.stop();
  });

  it('ends on any signal, even while starting, and leaves no files behind', async () => {
    const { folder, start } = await startGatewayBed();
    const heard = (): number => process.listenerCount('SIGQUIT');
    const before = heard();
    for (const signal of ['SIGINT', 'SIGQUIT', 'SIGTERM', 'SIGHUP'] as const) {
      const gateway = start();
      await (signal === 'SIGINT' ? vi.waitUntil(() => heard() > before) : gateway.addresses());
      process.emit(signal, signal);
      expect(await gateway.code).toBe(0);
      expect(readdirSync(folder)).toEqual([FOLDER_MARKER_FILE_NAME]);
      expect(heard()).toBe(before);
    }
  });

  it('reports that its port is in use instead of taking another one', async () => {
    const { file, start } = await startGatewayBed();
    const first = start();
    await first.addresses();
    const kept = readFileSync(file, 'utf8');
    const second = start();
    expect(await second.code).toBe(2);
    expect(second.said.stderr).toMatch(/which agents use, is taken by another program/);
    expect(readFileSync(file, 'utf8')).toBe(kept);
    await first.stop();
  });

  it('reports an invalid address file and leaves it unchanged', async () => {
    const { file, start } = await startGatewayBed();
    for (const text of [
      '{',
      '{"port":0,"secret":"x"}',
      '{"port":4000,"secret":"../../../../../../../../../../../x"}',
    ]) {
      writeFileSync(file, text);
      const { code, said } = start();
      expect(await code).toBe(2);
      expect(said.stderr).toContain("is not a gateway's address of Context Condenser. Nothing was done.");
      expect(readFileSync(file, 'utf8')).toBe(text);
    }
  });

  it('ends if a VS Code window asks it to, and windows are told if it ends for another reason', async () => {
    const { folder, start } = await startGatewayBed();
    const onGone = vi.fn();
    const window = new RunningConversations({ folder, onChange: () => undefined, onGone });
    onTestFinished(() => {
      window.dispose();
    });
    const isSeen = (is: boolean) =>
      vi.waitFor(async () => {
        await window.refresh();
        expect(window.shared !== undefined).toBe(is);
      });
    const first = start();
    await first.addresses();
    await isSeen(true);
    await window.endSharedGateway();
    expect(await first.code).toBe(0);
    await isSeen(false);
    expect(onGone).not.toHaveBeenCalled();

    const second = start();
    await second.addresses();
    await isSeen(true);
    await second.stop();
    await isSeen(false);
    expect(onGone).toHaveBeenCalledTimes(1);
    expect(existsSync(folder)).toBe(true);
  });
});

it('the gateway shortens a single new result that is larger than the given share of the window', async () => {
  const { start, vendor } = await startGatewayBed();
  const sentWith = async (...options: readonly string[]): Promise<string> => {
    const gateway = start('--window', '60000', ...options);
    const { openai } = await gateway.addresses();
    const client = new OpenAI({ baseURL: openai, apiKey: 'sk-test', maxRetries: 0 });
    const call = {
      id: 'call_1',
      type: 'function' as const,
      function: { name: 'bash', arguments: '{"command":"make"}' },
    };
    await client.chat.completions.create({
      model: 'gpt-5',
      tools: [{ type: 'function', function: { name: 'bash', parameters: { type: 'object' } } }],
      messages: [
        { role: 'user', content: `Put the notes in order. ${options.join(' ')}` },
        { role: 'assistant', content: null, tool_calls: [call] },
        { role: 'tool', tool_call_id: 'call_1', content: makeLines('log', 8_000) },
      ],
    });
    await gateway.stop();
    return JSON.stringify(vendor.requests.at(-1)?.body);
  };
  // By default, a result that is too large is shortened and keeps its start. With 0, the request is
  // condensed like any other.
  expect(await sentWith()).toContain('log line 100 with');
  expect(await sentWith('--large-result', '0')).not.toContain('log line 100 with');
});

describe('the upstream addresses of a standalone gateway', () => {
  const addresses = (env: Record<string, string>, upstreams: readonly string[] = [], own?: number) =>
    Object.fromEntries([...listRouteAddresses({ upstreams }, env, own)].map(([route, url]) => [route, url.href]));
  const vendors = {
    anthropic: 'https://api.anthropic.com/',
    openai: 'https://api.openai.com/',
    gemini: 'https://generativelanguage.googleapis.com/',
    openrouter: 'https://openrouter.ai/api',
  };

  it.each([
    ['nothing is set', {}, [], {}],
    [
      'an address with the version of the SDK',
      { OPENAI_API_BASE: 'https://e.example/v1/' },
      [],
      { openai: 'https://e.example/' },
    ],
    ['what is no address', { ANTHROPIC_BASE_URL: 'nowhere' }, [], {}],
    [
      'our own address, which would lead in a circle',
      { GOOGLE_GEMINI_BASE_URL: 'http://127.0.0.1:4000/s/gemini' },
      [],
      {},
    ],
    [
      'a neighbour on this machine',
      { ANTHROPIC_BASE_URL: 'http://127.0.0.1:4001' },
      [],
      { anthropic: 'http://127.0.0.1:4001/' },
    ],
    [
      'what was said counts more',
      { ANTHROPIC_BASE_URL: 'https://env.example' },
      ['anthropic=https://said.example', 'local=http://127.0.0.1:9'],
      { anthropic: 'https://said.example/', local: 'http://127.0.0.1:9/' },
    ],
  ])('come from the environment or the defaults: %s', (_, env, upstreams, different) => {
    expect(addresses(env as Record<string, string>, upstreams, 4000)).toEqual({ ...vendors, ...different });
  });

  it.each(['anthropic', '=https://e.example', 'A=https://e.example', 'a=nowhere'])(
    'cannot be given as %s',
    (upstream) => {
      expect(() => addresses({}, [upstream])).toThrow(UsageError);
    },
  );

  it("are printed as variables for an agent's shell, and the gateway ends when interrupted", async () => {
    const home = temporaryFolder();
    const said = { stdout: '', stderr: '' };
    const code = await runCommandLine(
      ['gateway', '--store', join(home, 'store'), '--upstream', 'local=http://127.0.0.1:9'],
      {
        stdout: (text) => (said.stdout += text),
        stderr: (text) => (said.stderr += text),
        assets: inject('assets'),
        signal: AbortSignal.abort(new Error('over')),
        now: () => new Date(),
        version: '0',
        platform: process.platform,
        env: {},
        homedir: home,
      },
    );
    expect(code).toBe(0);
    expect(said.stdout).toMatch(/^ {2}export ANTHROPIC_BASE_URL=http:\/\/127\.0\.0\.1:\d+\/\S+\/anthropic$/m);
    expect(said.stdout).toMatch(/^ {2}export OPENAI_BASE_URL=\S+\/openai\/v1$/m);
    expect(said.stdout).toMatch(/^ {2}\(local\) http:\/\/127\.0\.0\.1:\d+\/\S+\/local$/m);
    expect(said.stderr).toContain('0 requests');
  });
});
