/**
 * Two windows in separate processes condense one conversation, give it back, and undo that, all at
 * the same time.
 */
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, inject, test } from 'vitest';
import { inTemporaryFolder } from '../support/inTemporaryFolder';
import { readConversation } from '../../src/conversations/read';
import { applyEdits } from '../../src/core/condense/edits/applyEdits';
import { getActiveEdits } from '../../src/core/condense/ledger/ledger';
import { checkConversation } from '../../src/core/messages/firewall';
import { undoLastReplacement } from '../../src/giveBack/replacements';
import { writeClaudeSession, writeZooTask } from '../../src/giveBack/testing';
import { openLedger } from '../../src/storage/ledgerStore';
import { nodeFiles } from '../../src/storage/nodeFiles';

import { ROUNDS, type Did, type WindowOptions } from './windows.options';
import { childProgram } from '../support/childProgram';

const { program } = childProgram('windows.child.ts');

interface Window {
  readonly ready: Promise<void>;
  readonly go: () => void;
  readonly ended: Promise<readonly Did[]>;
}

function open(options: WindowOptions): Window {
  const child = spawn(process.execPath, [program, JSON.stringify(options)], { stdio: ['pipe', 'pipe', 'pipe'] });
  let output = '';
  let errors = '';
  child.stderr.on('data', (data: Buffer) => (errors += data.toString()));
  const ended = new Promise<readonly Did[]>((resolve, reject) => {
    child.on('close', (code) => {
      const [, ...lines] = output.trim().split('\n');
      if (code === 0) resolve(lines.map((line) => JSON.parse(line) as Did));
      else reject(new Error(errors));
    });
  });
  const ready = new Promise<void>((resolve) => {
    child.stdout.on('data', (data: Buffer) => {
      output += data.toString();
      resolve();
    });
  });
  return { ready: Promise.race([ready, ended.then(() => undefined)]), go: () => child.stdin.write('go\n'), ended };
}

/**
 * Starts both windows at the same time.
 * @returns what each did
 */
async function bothWindows(options: Omit<WindowOptions, 'seed'>, seeds: readonly number[]): Promise<readonly Did[]> {
  const windows = seeds.map((seed) => open({ ...options, seed }));
  await Promise.all(windows.map(({ ready }) => ready));
  for (const { go } of windows) go();
  const did = (await Promise.all(windows.map(({ ended }) => ended))).flat();
  expect(did).toHaveLength(seeds.length * ROUNDS);
  return did;
}

const optionsIn = (home: string, path: string): Omit<WindowOptions, 'seed'> => ({
  path,
  store: join(home, 'ledgers'),
  replacements: join(home, 'replacements'),
  bundles: inject('bundles'),
});

const listResults = (did: readonly Did[], kind: Did['did']): string[] =>
  did.filter((each) => each.did === kind).map((each) => each.as ?? '');

/** Checks that the ledger contains every condensation that was reported, with all originals. */
async function expectNothingLost({ path, store }: Omit<WindowOptions, 'seed'>, did: readonly Did[]) {
  const { id, messages } = readConversation(readFileSync(path), { path });
  const file = await openLedger(store, { id });
  const { ledger, problems } = file;
  expect(problems).toEqual([]);
  const kept = ledger.condensations.map(
    ({ provider, edits, tokensAfter }) => `${provider} ${edits.length} ${tokensAfter}`,
  );
  expect(kept.sort()).toEqual(listResults(did, 'condensed').sort());
  const hashes = new Set(ledger.condensations.flatMap(({ edits }) => edits.map(({ before }) => before)));
  expect((await file.originals(hashes)).size).toBe(hashes.size);
  return { messages, ledger };
}

test(
  'several windows on a Claude Code session lose no condensation, and each new session is complete',
  { timeout: 300_000 },
  () =>
    inTemporaryFolder(async (home) => {
      const path = writeClaudeSession(home);
      const before = readFileSync(path);
      const options = optionsIn(home, path);
      const did = await bothWindows(options, [1, 2]);
      const { messages, ledger } = await expectNothingLost(options, did);
      expect(readFileSync(path)).toEqual(before);
      expect(applyEdits(messages, getActiveEdits(ledger)).stale).toEqual([]);
      const sessions = readdirSync(dirname(path)).filter((name) => join(dirname(path), name) !== path);
      expect(sessions).toHaveLength(listResults(did, 'given').length - listResults(did, 'taken back').length);
      for (const name of sessions) {
        const session = join(dirname(path), name);
        expect(listResults(did, 'given')).toContain(session);
        const given = readConversation(readFileSync(session), { path: session }).messages;
        expect(given[0]?.content).toEqual(messages[0]?.content);
        expect(checkConversation(given)).toEqual([]);
      }
      // If the other window has undone the condensation, it can't be given back.
      expect(listResults(did, 'refused').filter((trouble) => trouble !== 'missing')).toEqual([]);
      expect(listResults(did, 'given').length).toBeGreaterThan(0);
    }),
);

test(
  'several windows on a Zoo task lose no condensation, and undoing all restores its files',
  { timeout: 300_000 },
  () =>
    inTemporaryFolder(async (home) => {
      const path = writeZooTask(home);
      const files = [path, join(dirname(path), 'ui_messages.json')];
      const before = files.map((file) => readFileSync(file));
      const options = optionsIn(home, path);
      const did = await bothWindows(options, [3, 4]);
      await expectNothingLost(options, did);
      const { id } = readConversation(readFileSync(path), { path });
      let isUndone = true;
      for (let left = listResults(did, 'given').length; isUndone && left >= 0; left--) {
        isUndone = (await undoLastReplacement(nodeFiles, options.replacements, { conversation: id })) !== undefined;
      }
      expect(isUndone).toBe(false);
      expect(files.map((file) => readFileSync(file))).toEqual(before);
      expect(readdirSync(dirname(path)).sort()).toEqual([
        'api_conversation_history.json',
        'history_item.json',
        'ui_messages.json',
      ]);
      // The other window was faster: it replaced the file, has just written it, or left nothing
      // condensed.
      const expected = ['changed', 'running', 'missing', 'locked'];
      expect(listResults(did, 'refused').filter((trouble) => !expected.includes(trouble))).toEqual([]);
      expect(listResults(did, 'given').length).toBeGreaterThan(0);
    }),
);
