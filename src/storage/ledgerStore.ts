/**
 * Ledgers on disk. A conversation's folder holds `ledger.jsonl` (its entries, only ever appended to), `originals.jsonl`
 * (the strings that edits changed, each on the disk before the entry that needs it) and `about.json`. Killed at any
 * moment, a ledger is as before an entry or as after it; several processes may append to one at the same time.
 */
import type { Hash } from '../core/hash';
import { foldEntries, type Condensation, type Ledger, type LedgerEntry } from '../core/condense/ledger';
import {
  ledgerFolders,
  makeLedgerFolder,
  pathsIn,
  pathsOf,
  readAbout,
  refuseLinksOut,
  removeLedgerFolder,
  useOf,
  withDefaults,
  writeAbout,
  type LedgerAbout,
  type LedgerPaths,
  type LedgerUse,
  type StorageOptions,
} from './folders';
import { Journal, type JournalRecord, type StorageProblem } from './journal';
import { withLock } from './lock';
import { Originals } from './originals';
import { guarded, StorageError } from './storageError';

export type { LedgerAbout, StorageOptions } from './folders';
export type { StorageProblem } from './journal';
export { originalsOf } from './originals';
export { isStorageError, StorageError } from './storageError';

/** A ledger on disk and its state as last read. It holds nothing open. */
export interface LedgerFile {
  readonly about: LedgerAbout;
  readonly folder: string;
  readonly ledger: Ledger;
  /** Damaged lines that were passed over. */
  readonly problems: readonly StorageProblem[];
  /**
   * Appends an entry, after whatever other processes appended meanwhile; returns once it is on the disk.
   * @param originals holds at least the originals of the entry's edits that aren't kept yet.
   * @throws StorageError where the entry was not appended.
   */
  append(entry: LedgerEntry, originals: ReadonlyMap<Hash, string>): Promise<void>;
  /** @throws StorageError where the original is missing or damaged. */
  original(hash: Hash): Promise<string>;
  /** Many originals in one go. */
  originals(hashes: Iterable<Hash>): Promise<Map<Hash, string>>;
  /** Reads what other processes appended. */
  refresh(): Promise<void>;
}

/** A ledger as a list shows it. */
export interface ListedLedger extends LedgerUse {
  readonly about: LedgerAbout;
}

/**
 * Opens the ledger of a conversation. Where there is none yet it is empty, and nothing is written before the first entry.
 * @throws StorageError
 */
export async function openLedger(
  root: string,
  { id, title, format, path }: LedgerAbout,
  options: Partial<StorageOptions> = {},
): Promise<LedgerFile> {
  const given: LedgerAbout = {
    id,
    ...(title !== undefined && { title }),
    ...(format !== undefined && { format }),
    ...(path !== undefined && { path }),
  };
  const ledger = new StoredLedger(root, pathsOf(root, id), given, withDefaults(options));
  await ledger.open();
  return ledger;
}

/** The ledgers under a root, last used first. */
export async function listLedgers(root: string, options: Partial<StorageOptions> = {}): Promise<ListedLedger[]> {
  const { files } = withDefaults(options);
  return guarded(root, 'The ledgers were not listed.', async () => {
    const listed: ListedLedger[] = [];
    for (const folder of await ledgerFolders(files, root)) {
      const use = await useOf(files, folder);
      const about = use && (await readAbout(files, pathsIn(folder)).catch(() => undefined));
      if (about) listed.push({ ...use, about });
    }
    return listed.sort((a, b) => b.lastUsed - a.lastUsed);
  });
}

/**
 * The ledger of the condensation that made a view, so that a file is recognized into which the view was written. Where
 * several did it is the one used last.
 */
export async function findByView(
  root: string,
  viewHash: string,
  options: Partial<StorageOptions> = {},
): Promise<LedgerFile | undefined> {
  const { files } = withDefaults(options);
  for (const { folder, about } of await listLedgers(root, options)) {
    const { ledger } = pathsIn(folder);
    if (await guarded(ledger, 'The ledger was not searched.', () => madeView(options, ledger, viewHash))) {
      return openLedger(root, about, { ...options, files });
    }
  }
  return undefined;
}

async function madeView(options: Partial<StorageOptions>, path: string, viewHash: string): Promise<boolean> {
  const key = JSON.stringify(viewHash);
  let found = false;
  const take = ({ json }: JournalRecord): undefined => {
    // Most lines are not even parsed.
    if (found || !json.includes(key)) return;
    const entry = entryIn(json.toString('utf8'));
    found = entry?.type === 'condensed' && entry.condensation.viewHash === viewHash;
  };
  const reset = (): undefined => undefined;
  await new Journal(withDefaults(options).files, path, { take, reset }).refresh();
  return found;
}

/** A ledger as it is on the disk, without its originals. Looking at it is no use of it: it doesn't keep it from pruning. */
export async function readLedger(folder: string, options: Partial<StorageOptions> = {}): Promise<Ledger> {
  const entries: LedgerEntry[] = [];
  const take = ({ json }: JournalRecord): undefined => {
    const entry = entryIn(json.toString('utf8'));
    if (entry) entries.push(entry);
  };
  const reset = (): undefined => void (entries.length = 0);
  const { ledger } = pathsIn(folder);
  const journal = new Journal(withDefaults(options).files, ledger, { take, reset });
  await guarded(ledger, 'The ledger was not read.', () => journal.refresh());
  return foldEntries(entries);
}

/**
 * Removes the ledger of a conversation with its originals: what was condensed can then no longer be expanded.
 * @returns false where there was none.
 */
export const removeLedger = (root: string, id: string, options: Partial<StorageOptions> = {}): Promise<boolean> =>
  removeLedgerFolder(root, pathsOf(root, id).folder, withDefaults(options), () => Promise.resolve(true));

class StoredLedger implements LedgerFile {
  private stored: LedgerAbout | undefined;
  private readonly entries: LedgerEntry[] = [];
  /** Of the entries; made when somebody asks. */
  private folded: Ledger | undefined;
  private readonly journal: Journal;
  private readonly texts: Originals;
  /** Of one ledger one thing happens after the other. */
  private queue: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly root: string,
    private readonly paths: LedgerPaths,
    private readonly given: LedgerAbout,
    private readonly options: StorageOptions,
  ) {
    this.texts = new Originals(options.files, paths.originals);
    this.journal = new Journal(options.files, paths.ledger, {
      take: ({ json }) => this.take(json.toString('utf8')),
      reset: () => {
        this.entries.length = 0;
        this.folded = undefined;
      },
    });
  }

  get ledger(): Ledger {
    return (this.folded ??= foldEntries(this.entries));
  }

  get about(): LedgerAbout {
    return { ...this.stored, ...this.given };
  }

  get folder(): string {
    return this.paths.folder;
  }

  get problems(): readonly StorageProblem[] {
    return [...this.journal.problems, ...this.texts.problems];
  }

  async open(): Promise<void> {
    const { files } = this.options;
    await guarded(this.folder, 'The ledger was not opened.', async () => {
      await refuseLinksOut(files, this.root, [this.folder]);
      this.stored = await readAbout(files, this.paths);
      await this.read();
    });
    // Says that the ledger is in use; where it can't be said, it is not worth an error.
    if (this.stored) await files.touch(this.paths.about, Date.now()).catch(() => undefined);
  }

  refresh(): Promise<void> {
    return this.next(() => guarded(this.folder, 'The ledger was not read.', () => this.read()));
  }

  append(entry: LedgerEntry, originals: ReadonlyMap<Hash, string>): Promise<void> {
    return this.next(() => guarded(this.folder, NOT_APPENDED, () => this.write(entry, originals)));
  }

  async original(hash: Hash): Promise<string> {
    return (await this.originals([hash])).get(hash) as string;
  }

  originals(hashes: Iterable<Hash>): Promise<Map<Hash, string>> {
    return guarded(this.paths.originals, 'The original was not read.', () => this.texts.read(hashes));
  }

  private next<T>(action: () => Promise<T>): Promise<T> {
    const result = this.queue.then(action);
    this.queue = result.catch(() => undefined);
    return result;
  }

  /** The entries first: then the originals of every entry that was read are there. */
  private async read(): Promise<void> {
    await this.journal.refresh();
    await this.texts.refresh();
  }

  private take(json: string): string | undefined {
    const entry = entryIn(json);
    if (entry === undefined) return 'this line holds no entry that this version knows; it was passed over';
    this.entries.push(entry);
    this.folded = undefined;
    return undefined;
  }

  private async write(entry: LedgerEntry, originals: ReadonlyMap<Hash, string>): Promise<void> {
    const { files, lock } = this.options;
    const { folder, about, ledger, originals: texts } = this.paths;
    await refuseLinksOut(files, this.root, [folder, about, ledger, texts]);
    await makeLedgerFolder(files, this.root, folder);
    await withLock(files, this.paths.lock, lock, async (held) => {
      await this.read();
      this.refuseMissing(entry, originals);
      await this.writeAbout();
      await held.confirm();
      await this.texts.append(originals);
      await held.confirm();
      await this.journal.append([JSON.stringify(entry)]);
    });
  }

  private async writeAbout(): Promise<void> {
    const { files } = this.options;
    const stored = await readAbout(files, this.paths);
    const about = { ...stored, ...this.given };
    if (JSON.stringify(stored) !== JSON.stringify(about)) await writeAbout(files, this.paths, about);
    this.stored = about;
  }

  /** An edit without its original could never be undone. */
  private refuseMissing(entry: LedgerEntry, originals: ReadonlyMap<Hash, string>): void {
    if (entry.type !== 'condensed') return;
    for (const { before } of entry.condensation.edits) {
      if (!originals.has(before) && !this.texts.has(before)) {
        throw missingOriginal(this.folder, before);
      }
    }
  }
}

const missingOriginal = (folder: string, hash: Hash): StorageError =>
  new StorageError({
    trouble: 'missing-original',
    path: folder,
    happened: `An edit names the original text with sha256 ${hash}, which was not given and is not kept.`,
    notDone: NOT_APPENDED,
    advice: 'Read the conversation again and condense it once more.',
  });

const NOT_APPENDED = 'The entry was not added to the ledger; nothing else has changed.';

/** An entry, or undefined where the line holds none. Its checksum says that it is what was written; this, by whom. */
function entryIn(json: string): LedgerEntry | undefined {
  let entry: Partial<Record<string, unknown>>;
  try {
    entry = Object(JSON.parse(json)) as Partial<Record<string, unknown>>;
  } catch {
    return undefined;
  }
  switch (entry['type']) {
    case 'condensed':
      return isCondensation(entry['condensation']) ? (entry as LedgerEntry) : undefined;
    case 'undone':
    case 'redone':
      return typeof entry['condensation'] === 'string' ? (entry as LedgerEntry) : undefined;
    case 'excluded':
    case 'included':
      return typeof entry['condensation'] === 'string' && typeof entry['edit'] === 'string'
        ? (entry as LedgerEntry)
        : undefined;
    case 'pinned':
    case 'unpinned':
      return typeof entry['message'] === 'number' && typeof entry['key'] === 'string'
        ? (entry as LedgerEntry)
        : undefined;
    default:
      return undefined;
  }
}

const isCondensation = (value: unknown): value is Condensation =>
  typeof value === 'object' && value !== null && 'id' in value && 'edits' in value && Array.isArray(value.edits);
