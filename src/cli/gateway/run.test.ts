import { createHash } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import * as http from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, inject, it, onTestFinished, vi } from 'vitest';
import { temporaryFolder } from '../../../test/support/temporaryFolder';
import { makeRequestBody } from '../../gateway/wires/testing';
import { formatOwner, getThisProcess, type OwnerProcess } from '../../storage/owner';
import { makeHeaderLine } from '../../storage/ownFiles';
import { FOLDER_MARKER_FILE_NAME } from '../../storage/ownFolder';
import { runCommandLine } from '../run';
import type { GatewayCommand } from '../../core/agents';
import { findGatewayAgent } from './agents';
import type { AgentEnvironment, RunEnvironment } from './agents/agent';
import { formatDestinations } from './agents/projectTrust';

const put = (path: string, text: string, mode = 0o644): void => {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  chmodSync(path, mode);
};

const readContents = (folder: string): Record<string, string> =>
  Object.fromEntries(
    (readdirSync(folder, { recursive: true }) as string[])
      .filter((name) => statSync(join(folder, name)).isFile())
      .map((name) => [
        name,
        createHash('sha256')
          .update(readFileSync(join(folder, name)))
          .digest('hex'),
      ]),
  );

/** Typical configurations of each agent, each with a URL. */
const HOMES: Readonly<
  Record<
    GatewayCommand,
    { readonly files: Record<string, string>; readonly env?: Record<string, string>; readonly args?: string[] }
  >
> = {
  claude: { files: { '.claude/settings.json': '{"env":{"ANTHROPIC_BASE_URL":"https://own.example/claude"}}' } },
  cline: {
    files: {
      '.cline/data/settings/providers.json': JSON.stringify({
        lastUsedProvider: 'anthropic',
        providers: { anthropic: { settings: { apiKey: 'k', baseUrl: 'https://own.example/cline' } } },
      }),
    },
  },
  cn: {
    files: {
      '.continue/config.yaml':
        'models:\n  - name: a\n    provider: openai\n    model: m\n    apiBase: https://own.example/cn\n',
    },
  },
  copilot: {
    files: {},
    env: {
      COPILOT_PROVIDER_BASE_URL: 'https://own.example/copilot',
      COPILOT_PROVIDER_API_KEY: 'k',
      COPILOT_MODEL: 'm',
    },
  },
  codex: {
    files: {
      '.codex/config.toml':
        'model_provider = "mine"\n[model_providers.mine]\nname = "mine"\nbase_url = "https://own.example/codex"\n',
    },
  },
  gemini: {
    files: { '.gemini/settings.json': '{ // comment\n"security":{"auth":{"selectedType":"gemini-api-key"}},}' },
    env: { GOOGLE_GEMINI_BASE_URL: 'https://own.example/gemini' },
  },
  kilo: {
    files: { '.config/kilo/kilo.json': '{"provider":{"x":{"options":{"baseURL":"https://own.example/kilo"}}}}' },
  },
  opencode: {
    files: {
      '.config/opencode/opencode.jsonc': '{/* "x": */"provider":{"x":{"options":{"baseURL":"{env:OWN}/opencode"}}}}',
    },
    env: { OWN: 'https://own.example' },
  },
  pi: {
    files: {
      '.pi/agent/models.json':
        '{"providers":{"x":{"baseUrl":"https://own.example/pi","models":[{"id":"m","contextWindow":1000}]}}}',
    },
  },
  qwen: { files: {}, env: { OPENAI_API_KEY: 'k', OPENAI_BASE_URL: 'https://own.example/qwen' } },
};

const SECRET = 'the-secret-of-this-run';

describe.each(Object.entries(HOMES))('%s, started through the gateway,', (name, { files, env = {}, args = [] }) => {
  const setUp = (folder: string): AgentEnvironment => {
    for (const [path, text] of Object.entries(files)) put(join(folder, path), text);
    return { homedir: folder, cwd: join(folder, 'work'), platform: 'linux', env, runs: folder };
  };
  const bed = (folder: string): RunEnvironment & { written: string[] } => {
    const written: string[] = [];
    return {
      written,
      url: (route) => `http://127.0.0.1:1/${SECRET}/${route}`,
      ticketUrl: (route) => `http://127.0.0.1:1/ticket/${route}`,
      file: (file, text) => {
        written.push(text);
        return Promise.resolve(join(folder, file));
      },
      recall: {
        name: 'context-condenser',
        command: '/node',
        args: ['cli.cjs', 'mcp'],
        env: { CONTEXT_CONDENSER_RECALL: `http://127.0.0.1:1/${SECRET}/recall` },
      },
    };
  };

  it('reaches the address that it is configured for', async () => {
    const home = setUp(temporaryFolder());
    const ready = await findGatewayAgent(name)!.prepare(args, home);
    expect([...ready.routes.values()].map(String)).toContain(`https://own.example/${name}`);
    const one = bed('/overlay');
    const launch = await ready.launch(one);
    expect(launch.command).toBe(name);
    const launched = [...one.written, ...Object.values(launch.env), ...launch.args].join('\n');
    expect(launched).toContain('http://127.0.0.1:1');
    expect(launched.replaceAll('\\', '').includes('recall')).toBe(ready.canRecall);
    // Gemini CLI can recall only if nobody but root can write to its folder, unlike here.
    expect(ready.canRecall).toBe(name !== 'gemini');
  });

  it('is reported with the host of its address and the setting that contains it', async () => {
    const { routes, sourceByRoute, untrusted, trust } = await findGatewayAgent(name)!.prepare(
      args,
      setUp(temporaryFolder()),
    );
    expect(formatDestinations(routes, sourceByRoute, untrusted, trust)).toMatch(/ own\.example \([^)]+\)/);
  });

  it('never has the secret on its command line, and keeps its own arguments', async () => {
    const home = setUp(temporaryFolder());
    const own = ['-p', 'do it', '--flag'];
    const launch = await (await findGatewayAgent(name)!.prepare(own, home)).launch(bed('/overlay'));
    expect(launch.args.join('\n')).not.toContain(SECRET);
    expect(launch.args.slice(-own.length)).toEqual(own);
  });

  it('keeps all its own files unchanged when it is launched', async () => {
    const folder = temporaryFolder();
    const home = setUp(folder);
    const before = readContents(folder);
    await (await findGatewayAgent(name)!.prepare(args, home)).launch(bed('/overlay'));
    expect(readContents(folder)).toEqual(before);
  });
});

describe('Gemini CLI behind the gateway', () => {
  it.runIf(process.platform !== 'win32')(
    'can recall condensed content only if it will read our system settings file',
    async () => {
      const folder = temporaryFolder();
      const home = { homedir: folder, cwd: folder, platform: 'linux', env: { GEMINI_API_KEY: 'k' } } as const;
      const user = vi.spyOn(process, 'getuid');
      onTestFinished(() => {
        user.mockRestore();
      });
      const canRecall = async (uid: number, runs: string): Promise<boolean> => {
        user.mockReturnValue(uid);
        return (await findGatewayAgent('gemini')!.prepare([], { ...home, runs })).canRecall;
      };
      // /etc belongs to root, and the test must leave nothing in it.
      expect(await canRecall(0, '/etc/not-there/runs')).toBe(true);
      expect(await canRecall(1000, '/etc/not-there/runs')).toBe(false);
      expect(await canRecall(0, folder)).toBe(false);
    },
  );
});

describe("redirecting an agent's requests", () => {
  it.each([
    ['claude', { '.claude/settings.json': '{"env":{"CLAUDE_CODE_USE_BEDROCK":"1"}}' }, /signed for their address/],
    ['claude', { '.claude/settings.json': '{' }, /can't be parsed/],
    ['codex', {}, /how Codex is signed in/],
    ['codex', { '.codex/config.toml': 'model_provider = "ollama"' }, /takes no other address/],
    ['codex', { '.codex/config.toml': 'model_provider = "my.own"' }, /can't be named/],
    [
      'gemini',
      { '.gemini/settings.json': '{"security":{"auth":{"selectedType":"oauth-personal"}}}' },
      /only an API key is supported/,
    ],
    ['opencode', {}, /no provider with a key/],
    ['cline', {}, /choose one with cline auth/],
    [
      'qwen',
      { '.qwen/settings.json': '{"security":{"auth":{"selectedType":"qwen-oauth"}}}' },
      /only a key is supported/,
    ],
    ['cn', {}, /models of its hub/],
    ['claude', { '.claude/settings.json': '{"env":{"CLAUDE_CODE_USE_MANTLE":"1"}}' }, /CLAUDE_CODE_USE_MANTLE/],
    ['pi', { '.pi/agent/settings.json': '{"defaultProvider":"openai-codex"}' }, /"openai-codex" can't be routed/],
  ] as const)('is rejected with a reason if it is impossible: %s %j', async (name, files, message) => {
    const folder = temporaryFolder();
    for (const [path, text] of Object.entries(files)) put(join(folder, path), text);
    const home: AgentEnvironment = {
      homedir: folder,
      cwd: join(folder, 'work'),
      platform: 'linux',
      env: {},
      runs: folder,
    };
    await expect(findGatewayAgent(name)!.prepare([], home)).rejects.toThrow(message);
  });

  it("sends Codex's requests to ChatGPT if signed in with ChatGPT, and to the API with a key", async () => {
    for (const [auth, address] of [
      ['{"auth_mode":"chatgpt","tokens":{}}', 'https://chatgpt.com/backend-api/codex'],
      ['{"OPENAI_API_KEY":"k"}', 'https://api.openai.com/v1'],
    ] as const) {
      const folder = temporaryFolder();
      put(join(folder, '.codex/auth.json'), auth);
      const ready = await findGatewayAgent('codex')!.prepare([], {
        homedir: folder,
        cwd: folder,
        platform: 'linux',
        env: {},
        runs: folder,
      });
      expect([...ready.routes.values()].map(String)).toEqual([address]);
    }
  });
});

describe('context-condenser run', () => {
  const closers: (() => void)[] = [];
  afterEach(() => {
    for (const close of closers.splice(0)) close();
  });

  const vendor = async (): Promise<{ address: string; bodies: string[] }> => {
    const bodies: string[] = [];
    const server = http.createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        bodies.push(Buffer.concat(chunks).toString());
        response.end('{"usage":{"input_tokens":5000,"output_tokens":1}}');
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    closers.push(() => {
      server.close();
      server.closeAllConnections();
    });
    return { address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, bodies };
  };

  const cli = async (
    argv: readonly string[],
    homedir: string,
    env: Record<string, string>,
    onSaid: (text: string) => void = () => undefined,
  ) => {
    let stderr = '';
    const code = await runCommandLine(argv, {
      stdout: () => undefined,
      stderr: (text) => {
        stderr += text;
        onSaid(text);
      },
      assets: inject('assets'),
      signal: new AbortController().signal,
      now: () => new Date(),
      version: '0',
      platform: process.platform,
      env: { PATH: `${join(homedir, 'bin')}:${process.env['PATH'] ?? ''}`, HOME: homedir, ...env },
      homedir,
    });
    return { code, stderr };
  };

  it('starts an agent behind the gateway, returns its exit code, sums up in one line, and leaves no files behind', async () => {
    const { address, bodies } = await vendor();
    const home = temporaryFolder();
    const body = makeRequestBody('anthropic', 40);
    put(join(home, 'body.json'), body);
    put(
      join(home, 'bin/claude'),
      `#!/usr/bin/env node
const settings = process.argv.find((arg) => arg.startsWith('--settings=')).slice(11);
const { ANTHROPIC_BASE_URL } = JSON.parse(require('fs').readFileSync(settings, 'utf8')).env;
if (require('fs').statSync(settings).mode & 0o077) process.exit(9);
const body = require('fs').readFileSync(${JSON.stringify(join(home, 'body.json'))});
fetch(ANTHROPIC_BASE_URL + '/v1/messages', { method: 'POST', body }).then((r) => r.text()).then(() => process.exit(process.argv.includes('--seven') ? 7 : 0));
`,
      0o755,
    );
    const store = join(home, 'store');
    const env = { ANTHROPIC_BASE_URL: address };
    const off = await cli(['run', '--off', '--store', store, 'claude', '--seven'], home, env);
    expect(off.code).toBe(7);
    expect(bodies).toEqual([body]);
    expect(off.stderr).toContain('Context Condenser: 0 requests, nothing was condensed.');
    const on = await cli(['run', '--window', '24000', '--store', store, 'claude', '-p'], home, env);
    expect(on.code).toBe(0);
    expect(bodies[1]!.length).toBeLessThan(body.length);
    expect(on.stderr).toMatch(
      /^Context Condenser: Requests go to 127\.0\.0\.1:\d+ \(ANTHROPIC_BASE_URL\)\.\nContext Condenser: 1 request, 1 of them condensed \(1 condensation\), [\d,]+ tokens saved/,
    );
    expect(readdirSync(join(store, 'runs'))).toEqual([]);
  });

  it('gives any other command the usual address variables, and forwards to the addresses that they had before', async () => {
    const { address, bodies } = await vendor();
    const home = temporaryFolder();
    const script = `fetch(process.env.OPENAI_BASE_URL + '/chat/completions', { method: 'POST', body: '{}' })`;
    const { code } = await cli(['run', '--store', join(home, 's'), '--', process.execPath, '-e', script], home, {
      OPENAI_BASE_URL: `${address}/v1`,
    });
    expect([code, bodies]).toEqual([0, ['{}']]);
  });

  it.runIf(process.platform !== 'win32')('says how to continue an agent that was ended by a signal', async () => {
    const home = temporaryFolder();
    put(join(home, 'bin/claude'), '#!/bin/sh\nkill -9 $$\n', 0o755);
    const store = join(home, 'store');
    const leave = (name: string, owner: Partial<OwnerProcess>): void => {
      const words = [makeHeaderLine('run'), formatOwner({ ...getThisProcess(), ...owner }), ''];
      put(join(store, 'runs', name, 'owner'), words.join('\n'));
    };
    put(join(store, FOLDER_MARKER_FILE_NAME), makeHeaderLine('store'));
    leave('run-2147483646-00000000', { pid: 2147483646 });
    leave('run-1-00000001', { started: '1', pid: process.ppid });
    leave('run-1-00000002', {});
    leave('run-1-00000003', { pid: 2147483646, space: '0-0-1' });
    put(join(store, 'runs/exp7/best.pt'), 'weights of three weeks');
    const ended = await cli(['run', '--store', store, 'claude'], home, {});
    expect(ended.code).toBe(137);
    expect(ended.stderr).toMatch(
      /Claude Code was ended by SIGKILL.*"context-condenser run claude --continue" continues it/,
    );
    // The files of killed runs were removed, but not those of running or invisible processes, nor
    // other files.
    expect(readdirSync(join(store, 'runs')).toSorted()).toEqual(['exp7', 'run-1-00000002', 'run-1-00000003']);
    const plain = await cli(['run', '--store', store, '--', '/bin/sh', '-c', 'kill -9 $$'], home, {});
    expect(plain.stderr).toContain('/bin/sh was ended by SIGKILL. Its session is where the agent keeps it, complete.');
  });

  it('leaves no files behind if a signal arrives before or after the agent runs, or the terminal waits for Enter', async () => {
    const home = temporaryFolder();
    const announced = join(home, 'running');
    const began = join(home, 'began');
    const line = ['--store', join(home, 's'), '--announce', announced, '--', '/bin/sh', '-c', `echo x >> ${began}`];
    const left = (): string[] => [
      ...readdirSync(announced).filter((name) => name !== FOLDER_MARKER_FILE_NAME),
      ...(existsSync(join(home, 's/runs')) ? readdirSync(join(home, 's/runs')) : []),
    ];
    const signals = ['SIGINT', 'SIGQUIT', 'SIGTERM', 'SIGHUP'] as const;
    const heard = (): number[] => signals.map((signal) => process.listenerCount(signal));
    const before = heard();
    const isTTY = Object.getOwnPropertyDescriptor(process.stdin, 'isTTY');
    onTestFinished(() => {
      if (isTTY) Object.defineProperty(process.stdin, 'isTTY', isTTY);
      else Reflect.deleteProperty(process.stdin, 'isTTY');
    });
    Object.defineProperty(process.stdin, 'isTTY', { value: true, configurable: true });
    const waits = [
      ...signals.map((signal) => () => process.emit(signal, signal)),
      () => process.stdin.emit('data', '\n'),
      () => process.stdin.emit('end'),
    ];
    for (const over of waits) {
      let during: number[] = [];
      const ended = await cli(['run', '--hold', ...line], home, {}, (text) => {
        if (text.includes('Context Condenser:')) during = heard();
        if (text.includes('Press Enter')) setImmediate(over);
      });
      expect(ended.code).toBe(0);
      expect(during.every((count, at) => count > before[at]!)).toBe(true);
      expect(left()).toEqual([]);
    }
    expect(heard()).toEqual(before);
    const begun = readFileSync(began, 'utf8');

    // If a signal arrives while the gateway starts, the agent does not start.
    const early = cli(['run', ...line], home, {});
    await vi.waitUntil(() => heard()[0]! > before[0]!, { interval: 1 });
    process.emit('SIGINT', 'SIGINT');
    expect((await early).code).toBe(130);
    expect(left()).toEqual([]);
    expect(readFileSync(began, 'utf8')).toBe(begun);
  });

  it("makes an agent's requests to the gateway bypass any proxy, and removes ELECTRON_RUN_AS_NODE", async () => {
    const home = temporaryFolder();
    const out = join(home, 'env.json');
    const script = `require('fs').writeFileSync(${JSON.stringify(out)}, JSON.stringify(process.env))`;
    await cli(['run', '--store', join(home, 's'), '--', process.execPath, '-e', script], home, {
      NO_PROXY: 'own.example',
      ELECTRON_RUN_AS_NODE: '1',
    });
    const seen = JSON.parse(readFileSync(out, 'utf8')) as Record<string, string>;
    expect(seen['NO_PROXY']).toBe('own.example,127.0.0.1,localhost');
    expect(seen['no_proxy']).toBe('127.0.0.1,localhost');
    expect(seen['ELECTRON_RUN_AS_NODE']).toBeUndefined();
  });

  it('reports wrong usage before anything starts', async () => {
    const home = temporaryFolder();
    const launched = async (...argv: string[]) => cli(argv, home, {});
    expect(await launched('run')).toMatchObject({ code: 2, stderr: expect.stringContaining('Missing agent: ') });
    expect(await launched('run', 'aider')).toMatchObject({ code: 2, stderr: expect.stringContaining('run -- aider') });
    expect(await launched('run', 'opencode')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('OpenCode was not started.'),
    });
    expect(await launched('run', '--threshold', '200', 'pi')).toMatchObject({ code: 2 });
    expect(await launched('run', '--upstream', 'x', 'pi')).toMatchObject({ code: 2 });
    for (const wrong of ['', 'much', '101'])
      expect(await launched('run', '--large-result', wrong, 'pi')).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('--large-result'),
      });
    for (const wrong of [
      ['--max-cost-per-day', 'much'],
      ['--max-cost-per-conversation', ''],
      ['--at-max-cost', 'sleep'],
      ['--off', '--max-cost-per-day', '1'],
    ])
      expect(await launched('run', ...wrong, 'pi')).toMatchObject({ code: 2, stderr: expect.stringMatching(/cost/) });
    expect(await launched('run', '--store', join(home, 's'), '--', 'no-such-command')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('"no-such-command" was not found'),
    });
  });
});
