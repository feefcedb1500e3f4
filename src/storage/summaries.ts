/**
 * Paid summaries, reused across restarts and windows. A summary's file is named by the hash of its
 * input (content, prompt, model), so no lock is needed.
 */
import { Buffer } from 'node:buffer';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { SummaryCache } from '../core/condense/providers/smart/passParts';
import { hashText, type Hash } from '../core/hash';
import {
  ignoreMissingFile,
  readFileSlice,
  readTextIfPresent,
  readStatusIfPresent,
  withOpenFile,
  writeFileAtomically,
} from './fileTools';
import type { Files } from './files';
import { nodeFiles } from './nodeFiles';
import { toStorageError } from './storageError';

export interface StoredSummaryLimits {
  readonly maxBytes: number;
  /** Number of days since the last use after which a summary is removed. */
  readonly maxAgeDays: number;
}

const DEFAULT_SUMMARY_LIMITS: StoredSummaryLimits = { maxBytes: 16 * 1024 * 1024, maxAgeDays: 30 };

export interface StoredSummariesOptions {
  readonly files: Files;
  readonly limits: StoredSummaryLimits;
  readonly now: () => number;
  /** Called at the first error in storing summaries, with a text for the user. */
  readonly onError: (words: string) => void;
}

const DAY_MS = 24 * 60 * 60 * 1000;
const WRITES_BETWEEN_CHECKS = 200;
const SUMMARY_FILE_NAME = /^[0-9a-f]{64}\.json$/;
const TEMPORARY_FILE_NAME = /^[0-9a-f]{64}\.[0-9a-f]{16}\.new$/;

/** Disk errors are reported once and otherwise ignored. */
export class StoredSummaries implements SummaryCache {
  private readonly options: StoredSummariesOptions;
  /**
   * Starts at 1, so that the first write also removes files that have expired since the last run.
   */
  private writesUntilCheck = 1;
  private wasReported = false;

  constructor(
    readonly folder: string,
    options: Partial<StoredSummariesOptions> = {},
  ) {
    this.options = {
      files: nodeFiles,
      limits: DEFAULT_SUMMARY_LIMITS,
      now: Date.now,
      onError: () => undefined,
      ...options,
    };
  }

  async get(key: Hash): Promise<string | undefined> {
    const path = this.getPath(key);
    const { files, now } = this.options;
    const text = await readTextIfPresent(files, path).catch(() => undefined);
    const summary = text === undefined ? undefined : parseSummary(text);
    // The file's time is the time of its last use.
    if (summary !== undefined) await files.touch(path, now()).catch(() => undefined);
    return summary;
  }

  /** Reports errors instead of throwing, since the summary is used anyway. */
  async set(key: Hash, summary: string): Promise<void> {
    try {
      await this.writeSummary(key, summary);
      if (--this.writesUntilCheck > 0) return;
      this.writesUntilCheck = WRITES_BETWEEN_CHECKS;
      await this.pruneSummaries();
    } catch (error) {
      if (this.wasReported) return;
      this.wasReported = true;
      this.options.onError(toStorageError(error, this.folder, 'A summary was not kept for the next time.').message);
    }
  }

  async clear(): Promise<void> {
    const { files } = this.options;
    for (const { path } of await this.listStoredSummaries()) await ignoreMissingFile(files.removeFile(path));
  }

  private getPath(key: Hash): string {
    return join(this.folder, `${key}.json`);
  }

  /** Not synced, since the checksum detects files damaged by a power failure. */
  private async writeSummary(key: Hash, summary: string): Promise<void> {
    const { files } = this.options;
    const temporary = join(this.folder, `${key}.${randomBytes(8).toString('hex')}.new`);
    await files.makeFolder(this.folder);
    const bytes = Buffer.from(JSON.stringify({ check: hashText(summary), summary }));
    await writeFileAtomically(files, this.getPath(key), bytes, { temporary, isSynced: false });
  }

  private async listStoredSummaries(): Promise<
    { readonly path: string; readonly bytes: number; readonly used: number }[]
  > {
    const { files } = this.options;
    const summaries: { readonly path: string; readonly bytes: number; readonly used: number }[] = [];
    for (const name of (await ignoreMissingFile(files.list(this.folder))) ?? []) {
      const path = join(this.folder, name);
      const status =
        SUMMARY_FILE_NAME.test(name) || TEMPORARY_FILE_NAME.test(name)
          ? await readStatusIfPresent(files, path)
          : undefined;
      if (status?.kind !== 'file') continue;
      const beginning = await withOpenFile(files, path, 'read', async (file) =>
        (await readFileSlice(file, 0, 80)).toString(),
      );
      if (SUMMARY_FILE_BEGINNING.test(beginning)) summaries.push({ path, bytes: status.bytes, used: status.modified });
    }
    return summaries;
  }

  private async pruneSummaries(): Promise<void> {
    const { files, limits, now } = this.options;
    const storedSummaries = await this.listStoredSummaries();
    const oldestTime = now() - limits.maxAgeDays * DAY_MS;
    let bytes = storedSummaries.reduce((sum, file) => sum + file.bytes, 0);
    for (const file of storedSummaries.toSorted((a, b) => a.used - b.used)) {
      if (file.used >= oldestTime && bytes <= limits.maxBytes) return;
      await ignoreMissingFile(files.removeFile(file.path));
      bytes -= file.bytes;
    }
  }
}

const SUMMARY_FILE_BEGINNING = /^(?:$|\{"check":"[0-9a-f]*)/;

function parseSummary(text: string): string | undefined {
  try {
    const { check, summary } = JSON.parse(text) as { readonly check?: unknown; readonly summary?: unknown };
    return typeof summary === 'string' && hashText(summary) === check ? summary : undefined;
  } catch {
    return undefined;
  }
}
