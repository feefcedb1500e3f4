import { join } from 'node:path';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../../test/support/temporaryFolder';
import type { PaidModel, PaidRequest, PaidTotal, ReadSession } from '../core/account/once';
import { makeSessionAccount } from '../core/account/testing';
import { AccountCache } from './accountCache';

const TOKENS = { fresh: 1, cacheWrite: 2, cacheRead: 3, output: 4 };

/** `Required` forces each new field to be added here, so that the test checks that it is kept. */
const REQUEST: Required<PaidRequest> = {
  ...{ ...TOKENS, at: 1, model: 'm', requests: 1, cost: 1, isReplayed: true, isCharged: true, isCompaction: true },
  ...{ key: 'k', isCopy: true, calls: [{ tool: 'Bash', calls: 1 }] },
};
const MODEL: Required<PaidModel> = { ...TOKENS, model: 'm', requests: 1, charge: 1, rates: TOKENS, toolCost: 1 };
const TOTAL: Required<PaidTotal> = { at: 1, after: 1, compactions: 1, models: [MODEL, TOKENS] };

it('the account cache returns a session with all fields of its requests and totals', async () => {
  const { usage: _, source: __, ...fields } = makeSessionAccount({ title: 'a', usage: [] });
  const account: ReadSession = { ...fields, requests: [REQUEST], totals: [TOTAL], startedBy: '/b', isComposed: false };
  const file = join(temporaryFolder(), 'account.json');
  const cache = await AccountCache.open(file);
  cache.storeAccount({ path: account.path, modified: 1, account });
  await cache.saveAccounts(new Set([account.path]));
  const found = { agent: 'Claude Code', path: account.path, modified: 1, bytes: undefined } as const;
  expect((await AccountCache.open(file)).findUpToDateAccount(found)?.account).toEqual(account);
});
