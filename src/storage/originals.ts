/**
 * Originals are the strings that edits changed, found by hash. Memory holds only their positions in
 * the file.
 */
import { hashText, type Hash } from '../core/hash';
import { getOriginalText, type Edit } from '../core/condense/edits/edits';
import type { ApiMessage } from '../core/messages/types';
import { ignoreMissingFile, readFileSlice, withOpenFile } from './fileTools';
import type { Files, OpenFile } from './files';
import { Journal, type JournalRecord, type StorageProblem } from './journal';
import { StorageError } from './storageError';

export function collectOriginals(messages: readonly ApiMessage[], edits: readonly Edit[]): ReadonlyMap<Hash, string> {
  const originals = new Map<Hash, string>();
  for (const edit of edits) {
    if (originals.has(edit.before)) continue;
    const text = getOriginalText(messages, edit);
    if (text !== undefined) originals.set(edit.before, text);
  }
  return originals;
}

interface OriginalLocation {
  readonly position: number;
  readonly length: number;
}

const ORIGINAL_LINE_START = /^\{"hash":"([0-9a-f]{64})","text":"/;
const ORIGINAL_LINE_START_BYTES = '{"hash":"","text":"'.length + 64;

export class OriginalsFile {
  /**
   * Lines that claim to contain a text, by the text's hash. A damaged line may contain something
   * else.
   */
  private readonly slices = new Map<Hash, readonly OriginalLocation[]>();
  /** Hashes of texts of which a line was verified in this process. */
  private readonly inMemory = new Set<Hash>();
  private readonly journal: Journal;

  constructor(
    private readonly files: Files,
    readonly path: string,
  ) {
    this.journal = new Journal(files, path, {
      take: (record) => this.indexOriginalLine(record),
      reset: () => {
        this.slices.clear();
        this.inMemory.clear();
      },
    });
  }

  get problems(): readonly StorageProblem[] {
    return this.journal.problems;
  }

  hasOriginal(hash: Hash): boolean {
    return this.slices.has(hash);
  }

  readNewOriginals(): Promise<void> {
    return this.journal.readNewRecords();
  }

  /**
   * Call this with the lock held, right after a refresh.
   * @throws StorageError if a text doesn't match its hash; then none is stored
   */
  async appendOriginals(texts: ReadonlyMap<Hash, string>): Promise<void> {
    const damagedHashes = await this.findDamagedOriginals([...texts.keys()]);
    const newOriginals = [...texts].filter(([hash]) => !this.slices.has(hash) || damagedHashes.has(hash));
    if (newOriginals.length === 0) return;
    await this.journal.appendValues(this.makeOriginalLines(newOriginals));
  }

  private async findDamagedOriginals(hashes: readonly Hash[]): Promise<ReadonlySet<Hash>> {
    const unreadHashes = hashes.filter((hash) => this.slices.has(hash) && !this.inMemory.has(hash));
    if (unreadHashes.length === 0) return new Set();
    const damagedHashes = new Set<Hash>();
    await ignoreMissingFile(
      withOpenFile(this.files, this.path, 'read', async (file) => {
        for (const hash of unreadHashes)
          if ((await this.readVerifiedText(file, hash)) === undefined) damagedHashes.add(hash);
      }),
    );
    return damagedHashes;
  }

  /** @throws StorageError if an original is missing or damaged */
  async readOriginals(hashes: Iterable<Hash>): Promise<Map<Hash, string>> {
    const wantedSlices = [...new Set(hashes)]
      .map((hash) => ({
        hash,
        slice: this.slices.get(hash)?.at(-1) ?? this.throwOriginalError('missing-original', hash),
      }))
      .sort((a, b) => a.slice.position - b.slice.position);
    const textByHash = new Map<Hash, string>();
    const [firstSlice] = wantedSlices;
    if (!firstSlice) return textByHash;
    const isRead = await ignoreMissingFile(
      withOpenFile(this.files, this.path, 'read', async (file) => {
        for (const { hash } of wantedSlices)
          textByHash.set(
            hash,
            (await this.readVerifiedText(file, hash)) ?? this.throwOriginalError('damaged-original', hash),
          );
        return true;
      }),
    );
    return isRead ? textByHash : this.throwOriginalError('missing-original', firstSlice.hash);
  }

  private *makeOriginalLines(texts: Iterable<readonly [Hash, string]>): Generator<string> {
    for (const [hash, text] of texts) {
      if (hashText(text) !== hash) throw createWrongOriginalError(this.path, hash);
      yield JSON.stringify({ hash, text });
    }
  }

  private async readVerifiedText(file: OpenFile, hash: Hash): Promise<string | undefined> {
    for (const { position, length } of [...(this.slices.get(hash) ?? [])].reverse()) {
      const json = await readFileSlice(file, position, length);
      const text = parseText(json.toString('utf8'));
      if (text === undefined || hashText(text) !== hash) continue;
      this.inMemory.add(hash);
      return text;
    }
    return undefined;
  }

  private indexOriginalLine({ position, json }: JournalRecord): string | undefined {
    const [, hash] = ORIGINAL_LINE_START.exec(json.toString('latin1', 0, ORIGINAL_LINE_START_BYTES)) ?? [];
    if (hash === undefined) return 'this line contains no original';
    const earlierSlices = this.slices.get(hash as Hash) ?? [];
    this.slices.set(hash as Hash, [...earlierSlices, { position, length: json.length }]);
    return undefined;
  }

  private throwOriginalError(errorKind: 'missing-original' | 'damaged-original', hash: Hash): never {
    throw new StorageError({
      kind: errorKind,
      path: this.path,
      happened: `The original text with sha256 ${hash} is ${errorKind === 'missing-original' ? 'missing' : 'damaged'}.`,
      notDone: 'It was not put back.',
      advice: 'Restore this file from a backup; the agent’s own conversation file still contains the text.',
    });
  }
}

const createWrongOriginalError = (path: string, hash: Hash): StorageError =>
  new StorageError({
    kind: 'wrong-original',
    path,
    happened: `The text given as the original with sha256 ${hash} is different: the conversation has changed in the meantime.`,
    notDone: 'Nothing was added to the ledger.',
    advice: 'Read the conversation again and condense it once more.',
  });

function parseText(json: string): string | undefined {
  try {
    const { text } = JSON.parse(json) as { readonly text?: unknown };
    return typeof text === 'string' ? text : undefined;
  } catch {
    return undefined;
  }
}
