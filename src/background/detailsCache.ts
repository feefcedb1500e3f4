import { readFile } from 'node:fs/promises';
import * as z from 'zod';
import { type ConversationDetails, areDetailsUpToDate } from '../conversations/stores/details';
import type { FoundConversation } from '../conversations/stores/types';
import type { HistoryScope } from '../conversations/types';
import { nodeFiles } from '../storage/nodeFiles';
import { OWN_FILE_KINDS, replaceCacheQuietly } from '../storage/ownFiles';

const MAX_CACHED_DETAILS = 5_000;

const detailsSchema = z.object({
  path: z.string(),
  modified: z.number(),
  bytes: z.number().optional(),
  id: z.string().optional(),
  title: z.string().optional(),
  workspace: z.string().optional(),
  parent: z.string().optional(),
  tokens: z.number().optional(),
  renewed: z.number().optional(),
  fill: z
    .object({
      tokens: z.number(),
      window: z.number().optional(),
      isRecorded: z.boolean(),
      model: z.string().optional(),
      tokenFactor: z.number().optional(),
    })
    .optional(),
  problem: z.string().optional(),
  damage: z.string().optional(),
  isBlank: z.boolean().optional(),
  isComplete: z.boolean(),
});

/** Increase this number when what is read or counted changes. */
const CACHE_VERSION = 12;
const cacheSchema = z.object({
  version: z.literal(CACHE_VERSION),
  history: z.string(),
  details: z.array(detailsSchema),
});

/** Caches details by path in one file. A missing or damaged file counts as empty. */
export class DetailsCache {
  private isChanged = false;

  private constructor(
    private readonly file: string,
    private readonly history: HistoryScope,
    private readonly byPath: Map<string, ConversationDetails>,
  ) {}

  static async open(file: string, history: HistoryScope): Promise<DetailsCache> {
    const details = await readCachedDetails(file, history);
    return new DetailsCache(file, history, new Map(details.map((each) => [each.path, each])));
  }

  /** Returns undefined if the file was never read, or has changed since it was read. */
  findUpToDateDetails(found: FoundConversation): ConversationDetails | undefined {
    const details = this.byPath.get(found.path);
    return details && areDetailsUpToDate(details, found) ? details : undefined;
  }

  storeDetails(details: ConversationDetails): void {
    this.byPath.delete(details.path);
    this.byPath.set(details.path, details);
    this.isChanged = true;
  }

  /**
   * @param existingPaths paths of files that exist now; entries of other files are dropped before
   * saving
   */
  async save(existingPaths?: ReadonlySet<string>): Promise<void> {
    if (!this.isChanged) return;
    this.isChanged = false;
    const newestDetails = [...this.byPath.values()].reverse();
    const orderedDetails = existingPaths
      ? [
          ...newestDetails.filter(({ path }) => existingPaths.has(path)),
          ...newestDetails.filter(({ path }) => !existingPaths.has(path)),
        ]
      : newestDetails;
    const text = JSON.stringify({
      contextCondenser: 'conversations',
      version: CACHE_VERSION,
      history: this.history,
      details: orderedDetails.slice(0, MAX_CACHED_DETAILS).reverse(),
    });
    await replaceCacheQuietly(nodeFiles, this.file, text, OWN_FILE_KINDS.conversations);
  }
}

async function readCachedDetails(file: string, history: HistoryScope): Promise<readonly ConversationDetails[]> {
  try {
    const cache = cacheSchema.parse(JSON.parse(await readFile(file, 'utf8')));
    if (cache.history !== history) return [];
    // Safe cast: Zod types absent fields as undefined.
    return cache.details as ConversationDetails[];
  } catch {
    return [];
  }
}
