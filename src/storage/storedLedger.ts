import { applyEntry, buildLedger, type Ledger, type LedgerEntry } from '../core/condense/ledger/ledger';
import type { Hash } from '../core/hash';
import {
  restoreLedgerFolder,
  makeLedgerFolder,
  readLedgerConversation,
  rejectLinksOutside,
  writeLedgerConversation,
  type LedgerConversation,
  type LedgerPaths,
  type StorageOptions,
} from './folders';
import { markLedgerInUse } from './holds';
import { Journal, type StorageProblem } from './journal';
import { parseLedgerEntry } from './ledgerEntry';
import { withFileLock } from './lock';
import { OriginalsFile } from './originals';
import { convertFileErrors, StorageError, createNewerVersionError } from './storageError';
import { isEqual } from '../core/isEqual';

/** A ledger on disk as it was last read. Keeps no file open. */
export interface LedgerFile {
  readonly about: LedgerConversation;
  readonly folder: string;
  readonly ledger: Ledger;
  readonly problems: readonly StorageProblem[];
  /**
   * Appends an entry after those of other processes. Resolves once it is on disk.
   * @param originals at least those of the entry's edits that are not stored yet
   * @throws StorageError if the entry was not appended
   */
  append(entry: LedgerEntry, originals: ReadonlyMap<Hash, string>): Promise<void>;
  /** @throws StorageError if the original is missing or damaged */
  original(hash: Hash): Promise<string>;
  originals(hashes: Iterable<Hash>): Promise<Map<Hash, string>>;
  refresh(): Promise<void>;
  /** Protects the ledger from pruning while this process runs. */
  holdFolder(): Promise<void>;
}

/** Call `open` before other methods. */
export class StoredLedger implements LedgerFile {
  private stored: LedgerConversation | undefined;
  private readonly entries: LedgerEntry[] = [];
  /**
   * True if a newer version wrote some entries. The view lacks these, so this version must not
   * append any.
   */
  private isNewer = false;
  private folded: Ledger | undefined;
  private readonly journal: Journal;
  private readonly texts: OriginalsFile;
  private queue: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly root: string,
    private readonly paths: LedgerPaths,
    private readonly givenAbout: LedgerConversation,
    private readonly options: StorageOptions,
  ) {
    this.texts = new OriginalsFile(options.files, paths.originals);
    this.journal = new Journal(options.files, paths.ledger, {
      take: ({ json }) => this.applyLine(json.toString('utf8')),
      reset: () => {
        this.entries.length = 0;
        this.isNewer = false;
        this.folded = undefined;
      },
    });
  }

  get ledger(): Ledger {
    return (this.folded ??= buildLedger(this.entries));
  }

  get about(): LedgerConversation {
    return { ...this.stored, ...this.givenAbout };
  }

  get folder(): string {
    return this.paths.folder;
  }

  get problems(): readonly StorageProblem[] {
    return [...this.journal.problems, ...this.texts.problems];
  }

  async open(): Promise<void> {
    const { files } = this.options;
    await convertFileErrors(
      this.folder,
      'Nothing was condensed, because the extension’s storage folder can’t be used.',
      async () => {
        await restoreLedgerFolder(files, this.folder);
        await rejectLinksOutside(files, this.root, [this.folder]);
        this.stored = await readLedgerConversation(files, this.paths);
        await this.readEntries();
      },
    );
    // The file's new time marks the ledger as used. Errors are ignored.
    if (this.stored) await files.touch(this.paths.about, Date.now()).catch(() => undefined);
  }

  holdFolder(): Promise<void> {
    return markLedgerInUse(this.options.files, this.folder);
  }

  refresh(): Promise<void> {
    return this.runInOrder(() => convertFileErrors(this.folder, 'The ledger was not read.', () => this.readEntries()));
  }

  append(entry: LedgerEntry, originals: ReadonlyMap<Hash, string>): Promise<void> {
    return this.runInOrder(() =>
      convertFileErrors(this.folder, NOT_APPENDED_TEXT, () => this.writeEntry(entry, originals)),
    );
  }

  async original(hash: Hash): Promise<string> {
    return (await this.originals([hash])).get(hash) as string;
  }

  originals(hashes: Iterable<Hash>): Promise<Map<Hash, string>> {
    return convertFileErrors(this.paths.originals, 'The original was not read.', () =>
      this.texts.readOriginals(hashes),
    );
  }

  private runInOrder<T>(action: () => Promise<T>): Promise<T> {
    const result = this.queue.then(action);
    this.queue = result.catch(() => undefined);
    return result;
  }

  /** Reads entries before originals, so that the originals of all entries read are there. */
  private async readEntries(): Promise<void> {
    await this.journal.readNewRecords();
    await this.texts.readNewOriginals();
  }

  private applyLine(json: string): string | undefined {
    const entry = parseLedgerEntry(json);
    if (entry === undefined) return 'this line contains no entry that this version knows; it was skipped';
    if (entry === 'newer') {
      this.isNewer = true;
      return 'this line contains no entry that this version knows: a newer version of Context Condenser wrote it';
    }
    this.entries.push(entry);
    this.folded &&= applyEntry(this.folded, entry);
    return undefined;
  }

  private async writeEntry(entry: LedgerEntry, originals: ReadonlyMap<Hash, string>): Promise<void> {
    const { files, lock } = this.options;
    const { folder, about, ledger, originals: texts } = this.paths;
    await rejectLinksOutside(files, this.root, [folder, about, ledger, texts]);
    await makeLedgerFolder(files, this.root, folder);
    await withFileLock(files, this.paths.lock, lock, async (ownLock) => {
      await this.readEntries();
      if (this.isNewer) throw createNewerVersionError(ledger, NOT_APPENDED_TEXT);
      this.throwIfOriginalMissing(entry, originals);
      await this.writeAbout();
      await ownLock.confirm();
      await this.texts.appendOriginals(originals);
      await ownLock.confirm();
      await this.journal.appendValues([JSON.stringify(entry)]);
    });
  }

  private async writeAbout(): Promise<void> {
    const { files } = this.options;
    const stored = await readLedgerConversation(files, this.paths);
    const about = { ...stored, ...this.givenAbout };
    if (!isEqual(stored, about)) await writeLedgerConversation(files, this.paths, about);
    this.stored = about;
  }

  /** Refuses an edit whose original is missing, because the edit could not be undone. */
  private throwIfOriginalMissing(entry: LedgerEntry, originals: ReadonlyMap<Hash, string>): void {
    const edits = entry.type === 'condensed' ? entry.condensation.edits : entry.type === 'arrived' ? entry.edits : [];
    for (const { before } of edits) {
      if (!originals.has(before) && !this.texts.hasOriginal(before)) {
        throw createMissingOriginalError(this.folder, before);
      }
    }
  }
}

const createMissingOriginalError = (folder: string, hash: Hash): StorageError =>
  new StorageError({
    kind: 'missing-original',
    path: folder,
    happened: `An edit names the original text with sha256 ${hash}, which was not given and is not kept.`,
    notDone: NOT_APPENDED_TEXT,
    advice: 'Read the conversation again and condense it once more.',
  });

const NOT_APPENDED_TEXT = 'The entry was not added to the ledger; nothing else has changed.';
