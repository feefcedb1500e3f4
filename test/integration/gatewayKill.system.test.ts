/**
 * Kills the gateway or its agent with SIGKILL during condensations. No original may be lost,
 * nothing may hang, and `run` must print how to continue if it still can.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import * as http from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { makeRequestBody } from '../../src/gateway/wires/testing';
import { listLedgers, openLedger } from '../../src/storage/ledgerStore';
import { isLong } from '../support/long';

const KILLS = isLong ? 100 : 2;
/**
 * Range of the task's steps. Each sends the whole conversation, and most from the fifteenth on are
 * condensed.
 */
const FIRST = 6;
const LAST = 60;
const WINDOW = '9000';

/** An agent that works step by step, and ends when a request fails. */
const AGENT = `#!/usr/bin/env node
const fs = require('fs');
const [bodies, pid] = [process.env.TEST_BODIES, process.env.TEST_PID];
fs.writeFileSync(pid, String(process.pid));
const settings = process.argv.find((arg) => arg.startsWith('--settings=')).slice(11);
const { ANTHROPIC_BASE_URL } = JSON.parse(fs.readFileSync(settings, 'utf8')).env;
(async () => {
  for (const body of fs.readFileSync(bodies, 'utf8').split('\\n')) {
    const answer = await fetch(ANTHROPIC_BASE_URL + '/v1/messages', { method: 'POST', body });
    await answer.text();
  }
})().catch(() => process.exit(3));
`;

const home = mkdtempSync(join(tmpdir(), 'condenser-kill-'));
let server: http.Server;
let answered = 0;
/** Called for each request that reaches the vendor. */
let onRequest = (): void => undefined;

beforeAll(async () => {
  server = http.createServer((request, response) => {
    request.resume();
    request.on('end', () => {
      answered++;
      response.end('{"usage":{"input_tokens":5000,"output_tokens":1}}');
      onRequest();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  mkdirSync(join(home, 'bin'));
  writeFileSync(join(home, 'bin/claude'), AGENT);
  chmodSync(join(home, 'bin/claude'), 0o755);
  const steps = Array.from({ length: LAST - FIRST }, (_, at) => plain(FIRST + at));
  writeFileSync(join(home, 'bodies'), steps.join('\n'));
});
afterAll(() => {
  server.close();
  server.closeAllConnections();
  rmSync(home, { recursive: true, force: true });
});

/** Creates a body on a single line. */
const plain = (steps: number): string => makeRequestBody('anthropic', steps).replaceAll('\n', ' ');

const start = (store: string) => {
  const child = spawn(
    process.execPath,
    [join(inject('bundles'), 'cli.cjs'), 'run', '--store', store, '--window', WINDOW, 'claude'],
    {
      cwd: home,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        PATH: `${join(home, 'bin')}:${process.env['PATH'] ?? ''}`,
        HOME: home,
        ANTHROPIC_BASE_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
        TEST_BODIES: join(home, 'bodies'),
        TEST_PID: join(home, 'pid'),
      },
    },
  );
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  child.stdout.resume();
  // The output closes only when the agent has also closed it.
  const closed = once(child, 'close').then(([code]) => ({ code: code as number | null, stderr }));
  return { child, closed };
};

/**
 * Checks that the originals of a store's ledgers all exist.
 * @returns their number
 */
async function expectOriginals(store: string): Promise<number> {
  let found = 0;
  for (const { about } of await listLedgers(store)) {
    const ledger = await openLedger(store, about);
    expect(ledger.problems).toEqual([]);
    const hashes = [...new Set(ledger.ledger.condensations.flatMap(({ edits }) => edits.map(({ before }) => before)))];
    const originals = await ledger.originals(hashes);
    expect(new Set(originals.keys())).toEqual(new Set(hashes));
    found += hashes.length;
  }
  return found;
}

describe('killing the gateway with SIGKILL', () => {
  it(`loses no data, ${KILLS} times`, { timeout: 60_000 + KILLS * 20_000 }, async () => {
    let condensedBefore = 0;
    for (let kill = 0; kill < KILLS; kill++) {
      const store = join(home, `store-${kill}`);
      answered = 0;
      // The kills are spread over the task, and over the duration of a request.
      const after = 8 + ((kill * 17) % (LAST - FIRST - 12));
      const { child, closed } = start(store);
      const isGateway = kill % 2 === 0;
      await new Promise<void>((resolve) => {
        void closed.then(() => {
          resolve();
        });
        onRequest = () => {
          if (answered !== after) return;
          setTimeout(
            () => {
              process.kill(isGateway ? (child.pid ?? 0) : Number(readFileSync(join(home, 'pid'), 'utf8')), 'SIGKILL');
              resolve();
            },
            (kill * 7) % 23,
          );
        };
      });
      const { code, stderr } = await closed;
      onRequest = () => undefined;
      if (isGateway) expect(code).toBeNull();
      else {
        expect(code).toBe(137);
        expect(stderr).toContain('Claude Code was ended by SIGKILL.');
        expect(stderr).toContain('"context-condenser run claude --continue" continues it');
      }
      const found = await expectOriginals(store);
      if (found > 0) condensedBefore++;
      // The next run with the same store removes the files of the run that crashed.
      if (kill < 2) {
        const again = await start(store).closed;
        expect(again.code).toBe(0);
        expect(await expectOriginals(store)).toBeGreaterThan(0);
        expect(existsSync(join(store, 'runs')) ? readdirSync(join(store, 'runs')) : []).toEqual([]);
      }
    }
    expect(condensedBefore).toBeGreaterThan(0);
  });
});
