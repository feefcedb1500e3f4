import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, inject, it } from 'vitest';
import { temporaryFolder } from '../../test/support/temporaryFolder';
import { sumSessionSavings } from '../core/account/whatIf';
import { loadTokenCounter } from '../storage/assets';
import { computeAccountOfStores } from './accountStores';
import { simulateSessionSavings, type WhatIfChoice } from './storesWhatIf';
import { makeReadingSession } from './testing';

it('a replay over all stored sessions simulates each sufficiently long session once, and skips short ones', async () => {
  const home = temporaryFolder();
  const folder = join(home, '.claude/projects/p');
  mkdirSync(folder, { recursive: true });
  const name = (digit: number): string => join(folder, `00000000-0000-4000-8000-00000000000${digit}.jsonl`);
  // The threshold is 75 % of the window's 200,000 tokens, that is 150,000.
  writeFileSync(name(1), makeReadingSession(145_000, 4_000));
  writeFileSync(name(2), makeReadingSession(10_000, 4_000, undefined, 'other'));
  const tokens = () => loadTokenCounter(inject('assets'));
  const find = { platform: 'linux', env: {}, homedir: home } as const;
  const { sessions } = await computeAccountOfStores({ find, cache: join(home, 'account.json') }, tokens);
  expect(sessions).toHaveLength(2);
  const choice: WhatIfChoice = { provider: 'lossless', config: {}, threshold: { percent: 75 } };
  const options = { cache: join(home, 'whatIf.json'), version: '1', signal: new AbortController().signal };
  const first = await simulateSessionSavings(sessions, choice, options, tokens);
  expect([...first.keys()]).toEqual([name(1)]);
  const sum = sumSessionSavings(sessions, first);
  expect(sum).toMatchObject({ sessions: 2, condensed: 1, unknown: 0, missing: 0 });
  expect(sum.cost).toBeGreaterThan(0);
  expect(sum.after).not.toBe(sum.cost);
  // The files are deleted to show that the second run reads none.
  rmSync(folder, { recursive: true });
  expect(await simulateSessionSavings(sessions, choice, options, tokens)).toEqual(first);
  const other = { ...options, version: '2' };
  expect([...(await simulateSessionSavings(sessions, choice, other, tokens)).values()]).toEqual(['unknown']);
});
