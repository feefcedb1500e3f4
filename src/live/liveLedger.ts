import { applyEntry, EMPTY_LEDGER, type Ledger, type LedgerEntry } from '../core/condense/ledger/ledger';
import type { Hash } from '../core/hash';
import { openLedger, type LedgerAbout, type LedgerFile, type StorageOptions } from '../storage/ledgerStore';

/** The format in ledgers of live conversations. */
const LIVE_FORMAT = 'live';

type Originals = ReadonlyMap<Hash, string>;

/** An entry that is not on the disk. */
interface Pending {
  readonly entry: LedgerEntry;
  readonly originals: Originals;
}

/**
 * The ledger of a live conversation: the one on disk, and what is not there yet or could not be written. The agent itself still
 * has the conversation, so that nothing is lost where the disk is full or the process ends; after a restart such an entry is
 * simply not there.
 */
export class LiveLedger {
  /** In order; what comes later is never on the disk before them. */
  private readonly pending: Pending[] = [];
  /** The ledger with what is pending; undefined where nothing is. */
  private ahead: Ledger | undefined;
  private draining: Promise<void> = Promise.resolve();
  private hasFailed = false;

  private constructor(private readonly file: LedgerFile | undefined) {}

  /** @throws StorageError */
  static async open(root: string, about: LedgerAbout, options: Partial<StorageOptions>): Promise<LiveLedger> {
    const file = await openLedger(root, { ...about, format: LIVE_FORMAT }, options);
    await file.hold();
    return new LiveLedger(file);
  }

  /** One that is kept in memory alone, because the storage can't be used. */
  static inMemory(): LiveLedger {
    return new LiveLedger(undefined);
  }

  get ledger(): Ledger {
    return this.ahead ?? this.file?.ledger ?? EMPTY_LEDGER;
  }

  get isEmpty(): boolean {
    const { condensations, pinned } = this.ledger;
    return condensations.length === 0 && pinned.length === 0;
  }

  /**
   * Returns once entry and originals are on the disk; where what came before can't be written, in memory like that.
   * @throws StorageError where it alone was not written.
   */
  async append(entry: LedgerEntry, originals: Originals = new Map()): Promise<void> {
    // An entry that builds on one missing from the disk can't be there either.
    await this.drain().catch(() => undefined);
    if (!this.file || this.pending.length > 0) this.keepInMemory(entry, originals);
    else await this.write(this.file, { entry, originals });
  }

  /**
   * Counts at once, and is written beside what goes on.
   * @param onFailure is told why nothing is written; once, until something is again.
   */
  appendSoon(entry: LedgerEntry, originals: Originals, onFailure: (error: Error) => void): void {
    this.keepInMemory(entry, originals);
    this.drain().then(
      () => {
        this.hasFailed = false;
      },
      (error: unknown) => {
        if (!this.hasFailed && error instanceof Error) onFailure(error);
        this.hasFailed = true;
      },
    );
  }

  /** Counts, and is written when the next entry is, where that is possible. */
  keepInMemory(entry: LedgerEntry, originals: Originals): void {
    this.ahead = applyEntry(this.ledger, entry);
    this.pending.push({ entry, originals });
  }

  /** Resolves once nothing is being written any more, whether it could be or not. */
  settled(): Promise<void> {
    return this.draining.catch(() => undefined);
  }

  /**
   * The originals of hashes, as far as they are kept.
   * @throws StorageError where one is damaged.
   */
  async originals(hashes: readonly Hash[]): Promise<Map<Hash, string>> {
    const found = new Map<Hash, string>();
    for (const { originals } of this.pending)
      for (const hash of hashes) {
        const text = originals.get(hash);
        if (text !== undefined) found.set(hash, text);
      }
    const wanted = hashes.filter((hash) => !found.has(hash));
    if (wanted.length === 0 || !this.file) return found;
    return new Map([...found, ...(await this.file.originals(wanted))]);
  }

  /** Writes what is pending, in its order. @throws StorageError; what was not written stays pending. */
  private drain(): Promise<void> {
    const { file } = this;
    if (!file) return Promise.resolve();
    const drained = this.settled().then(async () => {
      for (let first = this.pending[0]; first; first = this.pending[0]) {
        await this.write(file, first);
        this.pending.shift();
      }
      this.ahead = undefined;
    });
    this.draining = drained;
    return drained;
  }

  private async write(file: LedgerFile, { entry, originals }: Pending): Promise<void> {
    await file.append(entry, originals);
    // The folder may be new.
    await file.hold();
  }
}
