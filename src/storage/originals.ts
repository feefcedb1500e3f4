/**
 * The originals of a conversation: every string that an edit changed, once, found by its hash. The texts stay on the
 * disk; in memory is only where they stand.
 */
import { hashSteps, hashText, type Hash } from '../core/hash';
import { jsonPieces } from '../core/json/jsonFrames';
import { LARGE_TEXT } from '../core/largeTexts';
import { originalOf, type Edit } from '../core/condense/edits/edits';
import type { ApiMessage } from '../core/messages/types';
import { inOneGo, Pace, type Steps } from '../core/pace';
import { ifThere, readSlice, withFile } from './fileTools';
import type { Files, OpenFile } from './files';
import { Journal, type JournalRecord, type StorageProblem } from './journal';
import { StorageError } from './storageError';

/** The original strings that edits name. What is kept of them is checked by hash then, not here. */
export function* originalSteps(
  messages: readonly ApiMessage[],
  edits: readonly Edit[],
): Steps<ReadonlyMap<Hash, string>> {
  const originals = new Map<Hash, string>();
  for (const edit of edits) {
    if (originals.has(edit.before)) continue;
    const text = originalOf(messages, edit);
    if (text !== undefined) originals.set(edit.before, text);
    yield;
  }
  return originals;
}

/** The same in one go. */
export const originalsOf = (messages: readonly ApiMessage[], edits: readonly Edit[]): ReadonlyMap<Hash, string> =>
  inOneGo(originalSteps(messages, edits));

interface Slice {
  readonly position: number;
  readonly length: number;
}

const START = /^\{"hash":"([0-9a-f]{64})","text":"/;
const START_BYTES = '{"hash":"","text":"'.length + 64;

/** The originals of one ledger's folder. */
export class Originals {
  /** The lines that claim to hold a text, the last one last: a damaged one may say something else under its hash. */
  private readonly slices = new Map<Hash, readonly Slice[]>();
  /** Those of which a line was read that holds the text. */
  private readonly whole = new Set<Hash>();
  private readonly journal: Journal;

  constructor(
    private readonly files: Files,
    readonly path: string,
  ) {
    this.journal = new Journal(files, path, {
      take: (record) => this.index(record),
      reset: () => {
        this.slices.clear();
        this.whole.clear();
      },
    });
  }

  get problems(): readonly StorageProblem[] {
    return this.journal.problems;
  }

  has(hash: Hash): boolean {
    return this.slices.has(hash);
  }

  refresh(): Promise<void> {
    return this.journal.refresh();
  }

  /**
   * Keeps the texts that aren't kept yet, or whose line says something else. Only for the one who holds the lock, right after a refresh.
   * @throws StorageError where a text hasn't the hash that it is given for; then none is kept.
   */
  async append(texts: ReadonlyMap<Hash, string>): Promise<void> {
    const damaged = await this.damaged([...texts.keys()]);
    const fresh = [...texts].filter(([hash]) => !this.slices.has(hash) || damaged.has(hash));
    if (fresh.length === 0) return;
    const large = new Map<Hash, Buffer>();
    for (const [hash, text] of fresh) if (text.length >= LARGE_TEXT) large.set(hash, await largeLine(hash, text));
    await this.journal.append(this.lines(fresh, large));
  }

  /** Of those that have a line, the ones of which no line holds the text. */
  private async damaged(hashes: readonly Hash[]): Promise<ReadonlySet<Hash>> {
    const known = hashes.filter((hash) => this.slices.has(hash) && !this.whole.has(hash));
    if (known.length === 0) return new Set();
    const damaged = new Set<Hash>();
    await ifThere(
      withFile(this.files, this.path, 'read', async (file) => {
        for (const hash of known) if ((await this.text(file, hash)) === undefined) damaged.add(hash);
      }),
    );
    return damaged;
  }

  /** @throws StorageError where one of them is missing or isn't what was kept. */
  async read(hashes: Iterable<Hash>): Promise<Map<Hash, string>> {
    const wanted = [...new Set(hashes)]
      .map((hash) => ({ hash, slice: this.slices.get(hash)?.at(-1) ?? this.fail('missing-original', hash) }))
      .sort((a, b) => a.slice.position - b.slice.position);
    const texts = new Map<Hash, string>();
    const [first] = wanted;
    if (!first) return texts;
    const done = await ifThere(
      withFile(this.files, this.path, 'read', async (file) => {
        for (const { hash } of wanted)
          texts.set(hash, (await this.text(file, hash)) ?? this.fail('damaged-original', hash));
        return true;
      }),
    );
    return done ? texts : this.fail('missing-original', first.hash);
  }

  private *lines(
    texts: Iterable<readonly [Hash, string]>,
    large: ReadonlyMap<Hash, Buffer>,
  ): Generator<string | Buffer> {
    for (const [hash, text] of texts) {
      if (hashText(text) !== hash) throw wrongOriginal(this.path, hash);
      yield large.get(hash) ?? JSON.stringify({ hash, text });
    }
  }

  /** The text of a hash; undefined where none of its lines holds it. */
  private async text(file: OpenFile, hash: Hash): Promise<string | undefined> {
    for (const { position, length } of [...(this.slices.get(hash) ?? [])].reverse()) {
      const json = await readSlice(file, position, length);
      const pace = new Pace();
      const text = length < LARGE_TEXT ? textIn(json.toString('utf8')) : await pace.through(largeTextIn(json));
      if (text === undefined || (await pace.through(hashSteps(text))) !== hash) continue;
      this.whole.add(hash);
      return text;
    }
    return undefined;
  }

  private index({ position, json }: JournalRecord): string | undefined {
    const [, hash] = START.exec(json.toString('latin1', 0, START_BYTES)) ?? [];
    if (hash === undefined) return 'this line contains no original';
    const earlier = this.slices.get(hash as Hash) ?? [];
    this.slices.set(hash as Hash, [...earlier, { position, length: json.length }]);
    return undefined;
  }

  private fail(trouble: 'missing-original' | 'damaged-original', hash: Hash): never {
    throw new StorageError({
      trouble,
      path: this.path,
      happened: `The original text with sha256 ${hash} is ${trouble === 'missing-original' ? 'missing' : 'damaged'}.`,
      notDone: 'It was not put back.',
      advice: "Restore this file from a backup; the agent's own conversation file still contains the text.",
    });
  }
}

/** The line of a text that takes its time, in steps; its hash is known then, too. */
async function largeLine(hash: Hash, text: string): Promise<Buffer> {
  const pace = new Pace();
  const pieces: Buffer[] = [];
  for (const piece of jsonPieces({ hash, text })) {
    pieces.push(Buffer.from(piece));
    await pace.yieldIfDue();
  }
  await pace.through(hashSteps(text));
  const line = Buffer.allocUnsafe(pieces.reduce((sum, { length }) => sum + length, 0));
  let end = 0;
  for (const piece of pieces) {
    end += piece.copy(line, end);
    await pace.yieldIfDue();
  }
  return line;
}

/** Bytes of JSON that are read in one step. */
const STEP_BYTES = 1 << 20;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const LETTER_U = 0x75;

/** The text in a line as {@link largeLine} makes it, in steps; undefined where it is none. */
function* largeTextIn(json: Buffer): Steps<string | undefined> {
  const from = START_BYTES;
  const to = json.length - '"}'.length;
  if (!START.test(json.toString('latin1', 0, START_BYTES)) || json[to] !== QUOTE) return undefined;
  const parts: string[] = [];
  for (let start = from; start < to;) {
    const end = start + STEP_BYTES < to ? partEnd(json, start, start + STEP_BYTES) : to;
    const part = textIn(`{"text":"${json.toString('utf8', start, end)}"}`);
    if (part === undefined) return undefined;
    parts.push(part);
    start = end;
    yield;
  }
  return parts.join('');
}

/** The last place up to `limit` at which a string's JSON can be parted: it cuts no character and no escape sequence in two. */
function partEnd(json: Buffer, start: number, limit: number): number {
  let end = limit;
  // A character has up to three bytes behind its first.
  for (let back = 0; back < 3 && ((json[end] ?? 0) & 0xc0) === 0x80; back++) end--;
  for (let at = end - 5; at < end; at++) {
    if (json[at] !== BACKSLASH) continue;
    let first = at;
    while (first > start && json[first - 1] === BACKSLASH) first--;
    // Of a row of backslashes every other one begins a sequence; `\ud83d` has six bytes.
    const isBeginning = (at - first) % 2 === 0;
    if (isBeginning && at + (json[at + 1] === LETTER_U ? 6 : 2) > end) return at;
  }
  return end;
}

const wrongOriginal = (path: string, hash: Hash): StorageError =>
  new StorageError({
    trouble: 'wrong-original',
    path,
    happened: `The text given as the original with sha256 ${hash} is different: the conversation has changed in the meantime.`,
    notDone: 'Nothing was added to the ledger.',
    advice: 'Read the conversation again and condense it once more.',
  });

function textIn(json: string): string | undefined {
  try {
    const { text } = JSON.parse(json) as { readonly text?: unknown };
    return typeof text === 'string' ? text : undefined;
  } catch {
    return undefined;
  }
}
