import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, inject, it, onTestFinished, vi } from 'vitest';
import { temporaryFolder } from '../../../test/support/temporaryFolder';
import { makeTranscript } from '../../../test/support/transcript';

const KEY = 'sk-ant-api03-THE-AGENTS-OWN-KEY';

const put = (path: string, text: string, mode = 0o600): void => {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  chmodSync(path, mode);
};

/** Sets up Cline with a key; the agent only waits. */
function bed() {
  const home = temporaryFolder();
  const store = join(home, 'store');
  const session = join(home, 'session.jsonl');
  put(session, makeTranscript());
  put(join(home, 'bin/cline'), '#!/bin/sh\nexec sleep 60\n', 0o700);
  const settings = { provider: 'anthropic', apiKey: KEY, model: 'm' };
  put(
    join(home, '.cline/data/settings/providers.json'),
    JSON.stringify({ version: 1, lastUsedProvider: 'anthropic', providers: { anthropic: { settings } } }),
  );
  const env = { HOME: home, PATH: `${join(home, 'bin')}:${process.env['PATH'] ?? ''}` };
  const cli = join(inject('bundles'), 'cli.cjs');
  const started: ChildProcess[] = [];
  onTestFinished(() => {
    // The agent of a killed run continues; it is in the run's process group.
    for (const { pid } of started) if (pid !== undefined) spawnSync('kill', ['-9', '--', `-${pid}`]);
  });
  const keyFiles = (): string[] =>
    existsSync(store)
      ? (readdirSync(store, { recursive: true }) as string[]).filter(
          (name) => name.endsWith('.json') && readFileSync(join(store, name), 'utf8').includes(KEY),
        )
      : [];
  const run = async (): Promise<ChildProcess> => {
    const child = spawn(process.execPath, [cli, 'run', '--store', store, 'cline'], {
      env,
      stdio: 'ignore',
      detached: true,
    });
    started.push(child);
    await vi.waitUntil(() => keyFiles().length > 0);
    return child;
  };
  const other = (...argv: string[]) => spawnSync(process.execPath, [cli, ...argv], { env, encoding: 'utf8' });
  return { store, session, keyFiles, run, other, cli, env };
}

describe.skipIf(process.platform === 'win32')("a temporary copy of an agent's settings that contains its key", () => {
  it.each([
    ['inspect', (session: string, store: string) => ['inspect', session, '--store', store]],
    ['account', (_: string, store: string) => ['account', '--store', store]],
    ['run', (_: string, store: string) => ['run', '--store', store, '--', 'true']],
  ])("is deleted at our program's next start, with the command %s, after its run was killed", async (_, argv) => {
    const { store, session, keyFiles, run, other } = bed();
    const child = await run();
    // Other runs don't remove the files of a run that is still running.
    other(...argv(session, store));
    expect(keyFiles()).toHaveLength(1);
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await ended;
    expect(keyFiles()).toHaveLength(1);
    other(...argv(session, store));
    expect(keyFiles()).toEqual([]);
  });

  const inNamespace = ['-rfp', '--mount-proc'];
  const hasNamespaces = spawnSync('unshare', [...inNamespace, 'true']).status === 0;
  it.runIf(hasNamespaces)(
    'is kept while its run is alive, even if a container with the same home folder starts a run',
    async () => {
      const { store, keyFiles, run, cli, env } = bed();
      await run();
      const line = [process.execPath, cli, 'run', '--store', store, '--', 'true'];
      for (let start = 0; start < 2; start++) {
        expect(spawnSync('unshare', [...inNamespace, ...line], { env, encoding: 'utf8' })).toMatchObject({ status: 0 });
      }
      expect(keyFiles()).toHaveLength(1);
    },
  );
});
