/**
 * A file of JSON lines with length and checksum:
 * {"bytes":"0000000298","crc32":"9f86d081","value":{…}}
 * An interrupted write leaves an incomplete ("torn") last line, which readers skip and the next
 * writer removes. Other damaged lines are reported and skipped.
 */
import { crc32 } from 'node:zlib';
import { Buffer } from 'node:buffer';
import { dirname } from 'node:path';
import { ignoreMissingFile, readFileSlice, withOpenFile, writeAllBytes } from './fileTools';
import type { Files, OpenFile } from './files';

export interface StorageProblem {
  readonly file: string;
  /** One-based number of the line. */
  readonly line: number;
  readonly message: string;
}

export interface JournalRecord {
  /** Byte offset of the value's JSON in the file. */
  readonly position: number;
  /** JSON of the value; the buffer is only valid during the call. */
  readonly json: Buffer;
}

export interface JournalReader {
  /**
   * Processes a record.
   * @returns a description of the problem if the record makes no sense
   */
  take(record: JournalRecord): string | undefined;
  /** Called if the file was replaced or removed, so that all records must be discarded. */
  reset(): void;
}

const HEADER_PATTERN = /^\{"bytes":"(\d{10})","crc32":"([0-9a-f]{8})","value":$/;
const makeLineHeader = (bytes: number, check: string): string =>
  `{"bytes":"${String(bytes).padStart(10, '0')}","crc32":"${check}","value":`;
const HEADER_BYTES = makeLineHeader(0, '0'.repeat(8)).length;
const JOURNAL_LINE_FOOTER = Buffer.from('}\n');
const NEWLINE_BYTE = 0x0a;
/** Bytes that are read or written at once, so that each step is short. */
const CHUNK_BYTES = 1 << 20;

const computeCrc32Hex = (json: Uint8Array): string => crc32(json).toString(16).padStart(8, '0');

/**
 * State of the last line. `torn`: the start of an interrupted write, which will be removed.
 * `damaged`: invalid for another reason, and kept.
 */
type JournalEndState = 'none' | 'torn' | 'damaged';

export class Journal {
  private offset = 0;
  private line = 1;
  private tail: JournalEndState = 'none';
  /** Header and byte offset of the last record read, by which the file is recognized. */
  private lastTaken: { readonly position: number; readonly head: Buffer } | undefined;
  private readonly found: StorageProblem[] = [];

  constructor(
    private readonly files: Files,
    private readonly path: string,
    private readonly reader: JournalReader,
  ) {}

  get problems(): readonly StorageProblem[] {
    return this.tail === 'damaged' ? [...this.found, this.makeProblem(DAMAGED_LINE_TEXT)] : this.found;
  }

  async readNewRecords(): Promise<void> {
    const hasFile = await ignoreMissingFile(
      withOpenFile(this.files, this.path, 'read', (file) => this.readRecordsFrom(file)),
    );
    if (hasFile === undefined) this.resetReading();
  }

  /**
   * Resolves when the values are on disk. Call this with the lock held, right after a refresh.
   * After a failure, the file has its previous length, or a torn line remains.
   */
  async appendValues(values: Iterable<string | Buffer>): Promise<void> {
    await withOpenFile(this.files, this.path, 'append', async (file) => {
      if (this.tail === 'torn') await file.truncate(this.offset);
      if (this.tail === 'damaged') await this.endDamagedLine(file);
      const startOffset = this.offset;
      const records: JournalRecord[] = [];
      let endOffset = startOffset;
      let head: Buffer | undefined;
      try {
        for (const batch of groupInBatches(values)) {
          const lines: Buffer[] = [];
          for (const json of batch) {
            head = makeRecordHeader(json);
            lines.push(head, json, JOURNAL_LINE_FOOTER);
            records.push({ position: endOffset + HEADER_BYTES, json });
            endOffset += countLineBytes(json.length);
          }
          // Only the last value of a batch can be large. Writing it separately avoids a copy.
          const separateParts = (batch.at(-1)?.length ?? 0) < CHUNK_BYTES ? [] : lines.splice(-2);
          for (const part of [Buffer.concat(lines), ...separateParts]) await writeAllBytes(file, part);
        }
        await file.sync();
        if (startOffset === 0) await this.files.syncFolder(dirname(this.path));
      } catch (error) {
        await file.truncate(startOffset).catch(() => undefined);
        throw error;
      }
      for (const record of records) this.passRecordToReader(record, undefined);
      const lastRecord = records.at(-1);
      if (lastRecord && head) this.lastTaken = { position: lastRecord.position - HEADER_BYTES, head };
    });
  }

  /** Ends damaged content with a line break, so that it stays in the file as a line. */
  private async endDamagedLine(file: OpenFile): Promise<void> {
    await writeAllBytes(file, JOURNAL_LINE_FOOTER.subarray(1));
    this.skipDamagedLine((await file.status()).bytes);
    this.tail = 'none';
  }

  private resetReading(): void {
    this.tail = 'none';
    if (this.offset === 0) return;
    this.offset = 0;
    this.line = 1;
    this.lastTaken = undefined;
    this.found.length = 0;
    this.reader.reset();
  }

  private async readRecordsFrom(file: OpenFile): Promise<true> {
    const { bytes: size } = await file.status();
    if (size < this.offset || !(await this.isSameFileContinued(file))) this.resetReading();
    const slices = new BufferedFileReader(file, size);
    while (this.offset < size) {
      const head = await slices.readAt(this.offset, HEADER_BYTES);
      const [, length, check] = HEADER_PATTERN.exec(head.toString('latin1')) ?? [];
      const bytes = length === undefined ? undefined : countLineBytes(Number(length));
      if (bytes !== undefined && this.offset + bytes <= size) {
        const line = await slices.readAt(this.offset, bytes);
        const json = line.subarray(HEADER_BYTES, -JOURNAL_LINE_FOOTER.length);
        if (line.at(-2) === JOURNAL_LINE_FOOTER[0] && computeCrc32Hex(json) === check) {
          const end =
            line.at(-1) === NEWLINE_BYTE ? undefined : 'the end of this line is damaged; its content is whole';
          this.lastTaken = { position: this.offset, head: Buffer.from(head) };
          this.passRecordToReader({ position: this.offset + HEADER_BYTES, json }, end);
          continue;
        }
      }
      const newline = await slices.findByte(NEWLINE_BYTE, this.offset);
      if (newline === undefined) {
        const isCutOff = head.length < HEADER_BYTES || (bytes !== undefined && this.offset + bytes > size);
        this.tail = isCutOff ? 'torn' : 'damaged';
        return true;
      }
      this.skipDamagedLine(newline + 1);
    }
    this.tail = 'none';
    return true;
  }

  /**
   * True if the file still has the last record where it was read. An inode doesn't prove it,
   * because systems reuse inodes.
   */
  private async isSameFileContinued(file: OpenFile): Promise<boolean> {
    if (!this.lastTaken) return true;
    const { position, head } = this.lastTaken;
    return head.equals(await readFileSlice(file, position, head.length));
  }

  private passRecordToReader(record: JournalRecord, damage: string | undefined): void {
    const problemText = this.reader.take(record) ?? damage;
    if (problemText !== undefined) this.found.push(this.makeProblem(problemText));
    this.offset += countLineBytes(record.json.length);
    this.line += 1;
    this.tail = 'none';
  }

  private skipDamagedLine(end: number): void {
    this.found.push(this.makeProblem(DAMAGED_LINE_TEXT));
    this.offset = end;
    this.line += 1;
  }

  private makeProblem(message: string): StorageProblem {
    return { file: this.path, line: this.line, message };
  }
}

const DAMAGED_LINE_TEXT = 'this line is damaged and was skipped; the others were read';

const makeRecordHeader = (json: Buffer): Buffer => Buffer.from(makeLineHeader(json.length, computeCrc32Hex(json)));
const countLineBytes = (jsonBytes: number): number => HEADER_BYTES + jsonBytes + JOURNAL_LINE_FOOTER.length;

function* groupInBatches(values: Iterable<string | Buffer>): Generator<Buffer[]> {
  let batch: Buffer[] = [];
  let bytes = 0;
  for (const value of values) {
    const json = typeof value === 'string' ? Buffer.from(value) : value;
    batch.push(json);
    bytes += json.length;
    if (bytes < CHUNK_BYTES) continue;
    yield batch;
    batch = [];
    bytes = 0;
  }
  if (batch.length > 0) yield batch;
}

class BufferedFileReader {
  private chunk: Buffer = Buffer.alloc(0);
  private start = 0;

  constructor(
    private readonly file: OpenFile,
    private readonly size: number,
  ) {}

  /** Reads `length` bytes, or fewer at the end of the file. */
  async readAt(position: number, length: number): Promise<Buffer> {
    const wantedBytes = Math.min(length, this.size - position);
    const chunkOffset = position - this.start;
    if (chunkOffset < 0 || chunkOffset + wantedBytes > this.chunk.length) {
      this.chunk = await readFileSlice(
        this.file,
        position,
        Math.min(Math.max(length, CHUNK_BYTES), this.size - position),
      );
      this.start = position;
    }
    return this.chunk.subarray(position - this.start, position - this.start + wantedBytes);
  }

  async findByte(byte: number, startPosition: number): Promise<number | undefined> {
    for (let position = startPosition; position < this.size; position += CHUNK_BYTES) {
      const index = (await this.readAt(position, CHUNK_BYTES)).indexOf(byte);
      if (index >= 0) return position + index;
    }
    return undefined;
  }
}
