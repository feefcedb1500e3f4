import { readFile } from 'node:fs/promises';
import * as z from 'zod';
import { PRICE_PACKAGE } from '../api/newerModels';
import type { FoundConversation } from '../conversations/stores/types';
import type { ReadSession } from '../core/account/once';
import { PART_KINDS } from '../core/account/parts';
import { nodeFiles } from '../storage/nodeFiles';
import { OWN_FILE_KINDS, replaceCacheQuietly } from '../storage/ownFiles';

export interface CachedAccount {
  readonly path: string;
  readonly modified: number;
  readonly bytes?: number;
  /** The session's account; undefined if the session is empty. */
  readonly account?: ReadSession;
  /** Why the session can't be read, as text for the user. */
  readonly problem?: string;
}

const countSchema = z.number();
const tokenFieldSchemas = { fresh: countSchema, cacheWrite: countSchema, cacheRead: countSchema, output: countSchema };
const callsSchema = z.array(z.object({ tool: z.string(), calls: countSchema }));
const accountSchema = z.object({
  agent: z.string(),
  path: z.string(),
  id: z.string(),
  title: z.string(),
  project: z.string().optional(),
  requests: z.array(
    z.object({
      at: countSchema,
      model: z.string().optional(),
      requests: countSchema,
      cost: countSchema.optional(),
      isReplayed: z.boolean().optional(),
      isCharged: z.boolean().optional(),
      isCompaction: z.boolean().optional(),
      key: z.string().optional(),
      isCopy: z.boolean().optional(),
      calls: callsSchema.optional(),
      ...tokenFieldSchemas,
    }),
  ),
  totals: z
    .array(
      z.object({
        ...{ at: countSchema, after: countSchema, compactions: countSchema },
        models: z.array(
          z.object({
            model: z.string().optional(),
            requests: countSchema.optional(),
            charge: countSchema.optional(),
            toolCost: countSchema.optional(),
            rates: z.object(tokenFieldSchemas).optional(),
            ...tokenFieldSchemas,
          }),
        ),
      }),
    )
    .optional(),
  identity: z
    .object({
      id: z.string().optional(),
      began: countSchema.optional(),
      forkOf: z.string().optional(),
      furtherOrigins: z.array(z.string()).optional(),
      keys: z.enum(['everywhere', 'in-lineage']),
    })
    .optional(),
  startedBy: z.string().optional(),
  isComposed: z.boolean().optional(),
  window: countSchema.optional(),
  fill: z.array(countSchema),
  now: z
    .object({
      tokens: countSchema,
      window: countSchema.optional(),
      isRecorded: z.boolean(),
      model: z.string().optional(),
      tokenFactor: z.number().optional(),
    })
    .optional(),
  compactions: z.object({ count: countSchema, cost: countSchema.optional(), isEstimate: z.boolean() }),
  parts: z.record(z.enum(PART_KINDS), countSchema),
  sentOften: countSchema,
  files: z.array(z.object({ path: z.string(), reads: countSchema, tokens: countSchema })),
  unused: z.array(z.object({ tool: z.string(), what: z.string(), tokens: countSchema, sent: countSchema })),
  calls: callsSchema,
});
const cachedAccountSchema = z.object({
  path: z.string(),
  modified: z.number(),
  bytes: z.number().optional(),
  account: accountSchema.optional(),
  problem: z.string().optional(),
});

/** Increase this number when what is read or counted changes. */
const CACHE_VERSION = 20;
const cacheSchema = z.object({
  version: z.literal(CACHE_VERSION),
  prices: z.literal(PRICE_PACKAGE.published),
  kept: z.array(cachedAccountSchema),
});

/** Treats a missing, damaged or outdated file as an empty cache. */
export class AccountCache {
  private isChanged = false;

  private constructor(
    private readonly file: string,
    private readonly byPath: Map<string, CachedAccount>,
  ) {}

  static async open(file: string): Promise<AccountCache> {
    const cachedAccounts = await readCachedAccounts(file);
    return new AccountCache(file, new Map(cachedAccounts.map((each) => [each.path, each])));
  }

  /** Returns undefined if the file was never read or has changed since. */
  findUpToDateAccount({ path, modified, bytes }: FoundConversation): CachedAccount | undefined {
    const cachedAccount = this.byPath.get(path);
    return cachedAccount && cachedAccount.modified === modified && cachedAccount.bytes === bytes
      ? cachedAccount
      : undefined;
  }

  storeAccount(account: CachedAccount): void {
    this.byPath.set(account.path, account);
    this.isChanged = true;
  }

  /** @param existingPaths paths that currently exist */
  async saveAccounts(existingPaths: ReadonlySet<string>): Promise<void> {
    const existingAccounts = [...this.byPath.values()].filter(({ path }) => existingPaths.has(path));
    if (!this.isChanged && existingAccounts.length === this.byPath.size) return;
    this.isChanged = false;
    const text = JSON.stringify({
      contextCondenser: 'account',
      version: CACHE_VERSION,
      prices: PRICE_PACKAGE.published,
      kept: existingAccounts,
    });
    await replaceCacheQuietly(nodeFiles, this.file, text, OWN_FILE_KINDS.account);
  }
}

async function readCachedAccounts(file: string): Promise<readonly CachedAccount[]> {
  try {
    // Safe cast: Zod types absent fields as undefined.
    return cacheSchema.parse(JSON.parse(await readFile(file, 'utf8'))).kept as CachedAccount[];
  } catch {
    return [];
  }
}
