/**
 * Before a call its maximum cost is reserved, and afterwards settled. A lock keeps windows from
 * spending the same dollar twice. A crash keeps the reservation.
 */
import { Buffer } from 'node:buffer';
import { randomUUID } from 'node:crypto';
import { dirname } from 'node:path';
import * as z from 'zod';
import { readTextIfPresent, withOpenFile, writeAllBytes } from './fileTools';
import type { Files } from './files';
import { LOCK_TIMING, withFileLock, type LockTiming } from './lock';
import { nodeFiles } from './nodeFiles';
import { makeHeaderLine, OWN_FILE_KINDS, rejectForeignFile, replaceOwnFile } from './ownFiles';

/**
 * `own`: calls for condensing. `chat`: conversations' requests to models that we offer, or through
 * a gateway.
 */
export type SpendingKind = 'own' | 'chat';

/** Maximum US dollars; 0 means unlimited. */
export interface SpendingLimits {
  readonly perConversation: number;
  readonly perDay: number;
}

export interface SpendingReport {
  readonly conversation: number;
  readonly day: number;
}

export interface SpendingToBook {
  readonly kind: SpendingKind;
  readonly conversation?: string | undefined;
  /**
   * Maximum cost in US dollars. For a conversation's request: the whole prompt at the base price;
   * the request is allowed while anything of the limit is left.
   */
  readonly atMost: number;
}

export type BookingResult =
  | {
      readonly kind: 'booked';
      /**
       * @param cost US dollars; if undefined, the reserved amount counts
       * @returns total spending including the cost
       */
      readonly settle: (cost: number | undefined) => Promise<SpendingReport>;
    }
  | {
      readonly kind: 'refused';
      readonly limit: 'conversation' | 'day';
      readonly spent: number;
      readonly allowed: number;
    };

const spendingLineSchema = z.union([
  z.object({
    id: z.string(),
    at: z.number(),
    kind: z.enum(['own', 'chat']),
    conversation: z.string().optional(),
    usd: z.number().nonnegative(),
    isSettled: z.boolean().optional(),
  }),
  z.object({ id: z.string(), settled: z.number().nonnegative() }),
]);

interface SpendingEntry {
  readonly id: string;
  /** When the amount was reserved, in milliseconds since the epoch. */
  readonly at: number;
  readonly kind: SpendingKind;
  readonly conversation?: string | undefined;
  readonly usd: number;
  readonly isSettled?: boolean | undefined;
}

/**
 * Entries older than this many milliseconds are ignored, so a conversation's limit starts again.
 */
const MAX_ENTRY_AGE_MS = 60 * 24 * 3_600_000;
/**
 * Milliseconds after which a call has certainly ended, so that its reservation counts as settled.
 */
const MAX_CALL_MS = 24 * 3_600_000;
/** A file with more lines is compacted, because each reservation reads the whole file. */
const MAX_LINES_BEFORE_COMPACTION = 2_000;

export interface SpendingOptions {
  readonly files?: Files;
  readonly timing?: LockTiming;
  readonly now?: () => Date;
}

export class Spending {
  private readonly files: Files;
  private readonly timing: LockTiming;
  private readonly now: () => Date;

  constructor(
    private readonly path: string,
    { files = nodeFiles, timing = LOCK_TIMING, now = () => new Date() }: SpendingOptions = {},
  ) {
    this.files = files;
    this.timing = timing;
    this.now = now;
  }

  /** @throws StorageError or the system's error; the call must not be made then */
  async bookSpending({ kind, conversation, atMost }: SpendingToBook, limits: SpendingLimits): Promise<BookingResult> {
    return this.runLocked(async (entries) => {
      const spent = this.sumSpending(entries, kind, conversation);
      const wouldExceed = (already: number, limit: number): boolean =>
        limit > 0 && (kind === 'chat' ? already >= limit : already + atMost > limit);
      if (wouldExceed(spent.conversation, limits.perConversation)) {
        return { kind: 'refused', limit: 'conversation', spent: spent.conversation, allowed: limits.perConversation };
      }
      if (wouldExceed(spent.day, limits.perDay)) {
        return { kind: 'refused', limit: 'day', spent: spent.day, allowed: limits.perDay };
      }
      const bookedEntry: SpendingEntry = {
        id: randomUUID(),
        at: this.now().getTime(),
        kind,
        ...(conversation !== undefined && { conversation }),
        usd: atMost,
      };
      await this.appendLine(bookedEntry);
      return {
        kind: 'booked',
        settle: async (cost) => {
          if (cost === undefined) return this.readSpent(kind, conversation);
          return this.runLocked(async (currentEntries) => {
            await this.appendLine({ id: bookedEntry.id, settled: cost });
            const otherEntries = currentEntries.filter(({ id }) => id !== bookedEntry.id);
            return this.sumSpending([...otherEntries, { ...bookedEntry, usd: cost }], kind, conversation);
          });
        },
      };
    });
  }

  /** Returns US dollars spent or reserved today, and for a conversation. */
  async readSpent(kind: SpendingKind, conversation: string | undefined): Promise<SpendingReport> {
    return this.sumSpending(
      parseSpendingEntries((await readTextIfPresent(this.files, this.path)) ?? ''),
      kind,
      conversation,
    );
  }

  private sumSpending(
    entries: readonly SpendingEntry[],
    kind: SpendingKind,
    conversation: string | undefined,
  ): SpendingReport {
    const today = this.now().toDateString();
    const entriesOfKind = entries.filter((entry) => entry.kind === kind);
    const sumDollars = (spendingEntries: readonly SpendingEntry[]): number =>
      spendingEntries.reduce((total, { usd }) => total + usd, 0);
    return {
      day: sumDollars(entriesOfKind.filter(({ at }) => new Date(at).toDateString() === today)),
      conversation:
        conversation === undefined
          ? 0
          : sumDollars(entriesOfKind.filter((entry) => entry.conversation === conversation)),
    };
  }

  /** @throws StorageError `not-ours` if the file isn't ours; the file is kept */
  async checkFile(): Promise<void> {
    await rejectForeignFile(
      this.files,
      this.path,
      OWN_FILE_KINDS.spending,
      'Nothing was booked there, and no paid call is made.',
    );
    await rejectForeignFile(
      this.files,
      `${this.path}.lock`,
      OWN_FILE_KINDS.lock,
      'Nothing was booked, and no paid call is made.',
    );
  }

  private async runLocked<T>(action: (entries: readonly SpendingEntry[]) => Promise<T>): Promise<T> {
    await this.checkFile();
    await this.files.makeFolder(dirname(this.path));
    return withFileLock(this.files, `${this.path}.lock`, this.timing, async ({ confirm }) => {
      const text = (await readTextIfPresent(this.files, this.path)) ?? '';
      const entries = parseSpendingEntries(text);
      if (text === '') await this.writeFile('append', `${makeHeaderLine('spending')}\n`);
      // A torn last line is ended, so that it does not merge with the next.
      else if (!text.endsWith('\n')) await this.writeFile('append', '\n');
      if (text.split('\n').length > MAX_LINES_BEFORE_COMPACTION) {
        await confirm();
        await this.replaceFile(mergeSettledEntries(entries, this.now().getTime()));
      }
      await confirm();
      return action(entries);
    });
  }

  private appendLine(line: SpendingEntry | { readonly id: string; readonly settled: number }): Promise<void> {
    return this.writeFile('append', `${JSON.stringify(line)}\n`);
  }

  private replaceFile(entries: readonly SpendingEntry[]): Promise<void> {
    const lines = [makeHeaderLine('spending'), ...entries.map((entry) => JSON.stringify(entry))];
    return replaceOwnFile(this.files, this.path, `${lines.join('\n')}\n`, OWN_FILE_KINDS.spending);
  }

  /** Syncs the file, so that a reservation is on the disk before the call. */
  private writeFile(mode: 'append', text: string): Promise<void> {
    return withOpenFile(this.files, this.path, mode, async (file) => {
      await writeAllBytes(file, Buffer.from(text));
      await file.sync();
    });
  }
}

function mergeSettledEntries(entries: readonly SpendingEntry[], nowMs: number): readonly SpendingEntry[] {
  const openEntries: SpendingEntry[] = [];
  const sumByKey = new Map<string, SpendingEntry>();
  for (const entry of entries) {
    const { kind, conversation, at, usd, isSettled } = entry;
    if (at < nowMs - MAX_ENTRY_AGE_MS) continue;
    if (isSettled !== true && at >= nowMs - MAX_CALL_MS) {
      openEntries.push(entry);
      continue;
    }
    const key = JSON.stringify([kind, conversation, new Date(at).toDateString()]);
    // The sum gets a new ID, so that settling an unexpectedly long call can't change it.
    const { id, usd: usdBefore } = sumByKey.get(key) ?? { id: randomUUID(), usd: 0 };
    sumByKey.set(key, { ...entry, id, usd: usdBefore + usd, isSettled: true });
  }
  return [...sumByKey.values(), ...openEntries];
}

/**
 * A settled entry replaces its reservation. An unreadable line was not written completely, so no
 * call followed it.
 */
function parseSpendingEntries(text: string): readonly SpendingEntry[] {
  const entries = new Map<string, SpendingEntry>();
  for (const line of text.split('\n')) {
    const parsed = parseSpendingLine(line);
    if (!parsed) continue;
    if ('at' in parsed) entries.set(parsed.id, parsed);
    else {
      const entry = entries.get(parsed.id);
      if (entry) entries.set(parsed.id, { ...entry, usd: parsed.settled, isSettled: true });
    }
  }
  return [...entries.values()];
}

function parseSpendingLine(line: string): z.infer<typeof spendingLineSchema> | undefined {
  try {
    return spendingLineSchema.parse(JSON.parse(line));
  } catch {
    return undefined;
  }
}
