import { applyEntry, EMPTY_LEDGER, type Ledger, type LedgerEntry } from '../core/condense/ledger/ledger';
import type { Hash } from '../core/hash';
import { openLedger, type LedgerConversation, type LedgerFile, type StorageOptions } from '../storage/ledgerStore';

const LIVE_FORMAT_NAME = 'live';

type OriginalByHash = ReadonlyMap<Hash, string>;

interface PendingEntry {
  readonly entry: LedgerEntry;
  readonly originals: OriginalByHash;
}

/**
 * A conversation's ledger. An entry that is missing after a crash loses nothing, because the agent
 * has the whole conversation.
 */
export class LiveLedger {
  /** Entries not yet written, in order: later ones are never written before earlier ones. */
  private readonly pending: PendingEntry[] = [];
  /** The ledger including pending entries; undefined if no entry is pending. */
  private ledgerInMemory: Ledger | undefined;
  private draining: Promise<void> = Promise.resolve();
  private hasFailed = false;

  private constructor(private readonly file: LedgerFile | undefined) {}

  /** @throws StorageError */
  static async open(root: string, about: LedgerConversation, options: Partial<StorageOptions>): Promise<LiveLedger> {
    const file = await openLedger(root, { ...about, format: LIVE_FORMAT_NAME }, options);
    await file.holdFolder();
    return new LiveLedger(file);
  }

  /** Creates a ledger without a file, for when the storage is unusable. */
  static inMemory(): LiveLedger {
    return new LiveLedger(undefined);
  }

  get ledger(): Ledger {
    return this.ledgerInMemory ?? this.file?.ledger ?? EMPTY_LEDGER;
  }

  get isEmpty(): boolean {
    const { condensations, pinned } = this.ledger;
    return condensations.length === 0 && pinned.length === 0;
  }

  /**
   * Keeps the entry in memory if earlier entries can't be written.
   * @throws StorageError if earlier entries are written but this one is not
   */
  async appendEntry(entry: LedgerEntry, originals: OriginalByHash = new Map()): Promise<void> {
    // An entry must not be written without those on which it builds.
    await this.writePendingEntries().catch(() => undefined);
    if (!this.file || this.pending.length > 0) this.keepInMemory(entry, originals);
    else await this.writePendingEntry(this.file, { entry, originals });
  }

  /** @param onFailure called once for a series of failures in a row */
  appendEntryInBackground(entry: LedgerEntry, originals: OriginalByHash, onFailure: (error: Error) => void): void {
    this.keepInMemory(entry, originals);
    this.writePendingEntries().then(
      () => {
        this.hasFailed = false;
      },
      (error: unknown) => {
        if (!this.hasFailed && error instanceof Error) onFailure(error);
        this.hasFailed = true;
      },
    );
  }

  /** Applies the entry at once and writes it with the next entry if possible. */
  keepInMemory(entry: LedgerEntry, originals: OriginalByHash): void {
    this.ledgerInMemory = applyEntry(this.ledger, entry);
    this.pending.push({ entry, originals });
  }

  waitUntilSettled(): Promise<void> {
    return this.draining.catch(() => undefined);
  }

  /** @throws StorageError if an original is damaged */
  async readOriginals(hashes: readonly Hash[]): Promise<Map<Hash, string>> {
    const textByHash = new Map<Hash, string>();
    for (const { originals } of this.pending)
      for (const hash of hashes) {
        const text = originals.get(hash);
        if (text !== undefined) textByHash.set(hash, text);
      }
    const missingHashes = hashes.filter((hash) => !textByHash.has(hash));
    if (missingHashes.length === 0 || !this.file) return textByHash;
    return new Map([...textByHash, ...(await this.file.originals(missingHashes))]);
  }

  /** @throws StorageError; unwritten entries stay pending */
  private writePendingEntries(): Promise<void> {
    const { file } = this;
    if (!file) return Promise.resolve();
    const writePromise = this.waitUntilSettled().then(async () => {
      for (let nextEntry = this.pending[0]; nextEntry; nextEntry = this.pending[0]) {
        await this.writePendingEntry(file, nextEntry);
        this.pending.shift();
      }
      this.ledgerInMemory = undefined;
    });
    this.draining = writePromise;
    return writePromise;
  }

  private async writePendingEntry(file: LedgerFile, { entry, originals }: PendingEntry): Promise<void> {
    await file.append(entry, originals);
    await file.holdFolder();
  }
}
