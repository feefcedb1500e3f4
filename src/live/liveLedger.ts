import { applyEntry, EMPTY_LEDGER, type Ledger, type LedgerEntry } from '../core/condense/ledger/ledger';
import type { Hash } from '../core/hash';
import { openLedger, type LedgerAbout, type LedgerFile, type StorageOptions } from '../storage/ledgerStore';

/** The format in ledgers of live conversations. */
const LIVE_FORMAT = 'live';

/**
 * The ledger of a live conversation: the one on disk, and what could not be written there. The agent itself still has the
 * conversation, so that nothing is lost where the disk is full; after a restart such a condensation is simply not there.
 */
export class LiveLedger {
  private unsaved: readonly LedgerEntry[] = [];
  private readonly unsavedOriginals = new Map<Hash, string>();

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
    return this.unsaved.reduce(applyEntry, this.file?.ledger ?? EMPTY_LEDGER);
  }

  get isEmpty(): boolean {
    const { condensations, pinned } = this.ledger;
    return condensations.length === 0 && pinned.length === 0;
  }

  /**
   * Returns once entry and originals are on the disk.
   * @throws StorageError where they are not.
   */
  async append(entry: LedgerEntry, originals: ReadonlyMap<Hash, string> = new Map()): Promise<void> {
    // An entry that builds on one missing from the disk can't be there either.
    if (!this.file || this.unsaved.length > 0) this.keepInMemory(entry, originals);
    else {
      await this.file.append(entry, originals);
      // The folder may be new.
      await this.file.hold();
    }
  }

  keepInMemory(entry: LedgerEntry, originals: ReadonlyMap<Hash, string>): void {
    this.unsaved = [...this.unsaved, entry];
    for (const [hash, text] of originals) this.unsavedOriginals.set(hash, text);
  }

  /**
   * The originals of hashes, as far as they are kept.
   * @throws StorageError where one is damaged.
   */
  async originals(hashes: readonly Hash[]): Promise<Map<Hash, string>> {
    const wanted = hashes.filter((hash) => !this.unsavedOriginals.has(hash));
    const stored = wanted.length > 0 && this.file ? await this.file.originals(wanted) : new Map<Hash, string>();
    for (const hash of hashes) {
      const text = this.unsavedOriginals.get(hash);
      if (text !== undefined) stored.set(hash, text);
    }
    return stored;
  }
}
