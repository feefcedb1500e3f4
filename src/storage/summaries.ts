/**
 * Summaries that were paid for, so that none is paid for twice: after a restart and in other windows, too. Each is a small
 * file of its own, named by the hash of what it was made from (content, prompt and model), so that processes share a folder
 * without a lock. A file that can't be read counts as none. The user can see and clear the folder.
 */
import { Buffer } from 'node:buffer';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { SummaryMemo } from '../core/condense/providers/smart/passParts';
import { hashText, type Hash } from '../core/hash';
import { ifThere, readSlice, readText, statusIfThere, withFile, writeAll } from './fileTools';
import type { Files } from './files';
import { nodeFiles } from './nodeFiles';
import { asStorageError } from './storageError';

export interface SummaryLimits {
  /** Of all files together. */
  readonly maxBytes: number;
  /** Since the last use. */
  readonly maxAgeDays: number;
}

const LIMITS: SummaryLimits = { maxBytes: 16 * 1024 * 1024, maxAgeDays: 30 };

export interface StoredSummariesOptions {
  readonly files: Files;
  readonly limits: SummaryLimits;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Told in words, once, where summaries can't be kept. */
  readonly onTrouble: (words: string) => void;
}

const DAY = 24 * 60 * 60 * 1000;
/** Files that are written between two looks at the folder's size. */
const BETWEEN_LOOKS = 200;
const NAME = /^[0-9a-f]{64}\.json$/;
const TEMPORARY = /^[0-9a-f]{64}\.[0-9a-f]{16}\.new$/;

/** The memo of summaries in a folder, bounded by age and size. What the disk refuses is told once and stops nothing. */
export class StoredSummaries implements SummaryMemo {
  private readonly options: StoredSummariesOptions;
  /** The first write looks, too: what has grown old since the last run goes then. */
  private untilLook = 1;
  private wasReported = false;

  constructor(
    readonly folder: string,
    options: Partial<StoredSummariesOptions> = {},
  ) {
    this.options = { files: nodeFiles, limits: LIMITS, now: Date.now, onTrouble: () => undefined, ...options };
  }

  async get(key: Hash): Promise<string | undefined> {
    const path = this.pathOf(key);
    const { files, now } = this.options;
    const text = await readText(files, path).catch(() => undefined);
    const summary = text === undefined ? undefined : summaryIn(text);
    // A summary that is used stays.
    if (summary !== undefined) await files.touch(path, now()).catch(() => undefined);
    return summary;
  }

  /** Whole or not at all. What can't be kept is told and not thrown: the summary itself is used all the same. */
  async set(key: Hash, summary: string): Promise<void> {
    try {
      await this.write(key, summary);
      if (--this.untilLook > 0) return;
      this.untilLook = BETWEEN_LOOKS;
      await this.prune();
    } catch (error) {
      if (this.wasReported) return;
      this.wasReported = true;
      this.options.onTrouble(asStorageError(error, this.folder, 'A summary was not kept for the next time.').message);
    }
  }

  /** Removes all of them. */
  async clear(): Promise<void> {
    const { files } = this.options;
    for (const { path } of await this.kept()) await ifThere(files.removeFile(path));
  }

  private pathOf(key: Hash): string {
    return join(this.folder, `${key}.json`);
  }

  /** Not synced: what a loss of power leaves half written is seen by its check, and asked for again. */
  private async write(key: Hash, summary: string): Promise<void> {
    const { files } = this.options;
    const temporary = join(this.folder, `${key}.${randomBytes(8).toString('hex')}.new`);
    await files.makeFolder(this.folder);
    const bytes = Buffer.from(JSON.stringify({ check: hashText(summary), summary }));
    await withFile(files, temporary, 'create', (file) => writeAll(file, bytes));
    await files.rename(temporary, this.pathOf(key));
  }

  /** The files of ours that are there: others of such a name are somebody else's. */
  private async kept(): Promise<{ readonly path: string; readonly bytes: number; readonly used: number }[]> {
    const { files } = this.options;
    const kept: { readonly path: string; readonly bytes: number; readonly used: number }[] = [];
    for (const name of (await ifThere(files.list(this.folder))) ?? []) {
      const path = join(this.folder, name);
      const status = NAME.test(name) || TEMPORARY.test(name) ? await statusIfThere(files, path) : undefined;
      if (status?.kind !== 'file') continue;
      const beginning = await withFile(files, path, 'read', async (file) => (await readSlice(file, 0, 80)).toString());
      if (BEGINNING.test(beginning)) kept.push({ path, bytes: status.bytes, used: status.modified });
    }
    return kept;
  }

  /** Removes what is too old, then what was used longest ago until the rest fits. */
  private async prune(): Promise<void> {
    const { files, limits, now } = this.options;
    const kept = await this.kept();
    const oldest = now() - limits.maxAgeDays * DAY;
    let bytes = kept.reduce((sum, file) => sum + file.bytes, 0);
    for (const file of kept.toSorted((a, b) => a.used - b.used)) {
      if (file.used >= oldest && bytes <= limits.maxBytes) return;
      await ifThere(files.removeFile(file.path));
      bytes -= file.bytes;
    }
  }
}

/** What a file of a summary begins with, as far as it was written. */
const BEGINNING = /^(?:$|\{"check":"[0-9a-f]*)/;

/** The summary in a file's text; undefined where it is not what was written. */
function summaryIn(text: string): string | undefined {
  try {
    const { check, summary } = JSON.parse(text) as { readonly check?: unknown; readonly summary?: unknown };
    return typeof summary === 'string' && hashText(summary) === check ? summary : undefined;
  } catch {
    return undefined;
  }
}
