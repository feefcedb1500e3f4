import { isUtf8 } from 'node:buffer';
import { closeSync, openSync, readSync } from 'node:fs';
import { dropImplausibleUsage, type RecordedRequests } from '../core/account/recordedRequest';
import type { RequestCollector } from './formats/format';
import { READER_BY_FORMAT } from './read';
import { convertFileError } from './readFile';
import { readJsonLineRecords } from './text/jsonLines';
import type { Line } from './text/lines';
import type { Fields } from './text/values';

export interface StreamedRequests {
  readonly recorded: RecordedRequests;
  readonly compactions: number;
}

const MAX_DETECTION_RECORDS = 20;

/**
 * Blocks the thread.
 * @returns undefined if the format is not line-based or no record has usage
 * @throws {ConversationReadError} for unreadable files and files without records
 */
export function streamRequests(path: string): StreamedRequests | undefined {
  const recordsBeforeDetection: Fields[] = [];
  let collector: RequestCollector | 'none' | undefined;
  readJsonLineRecords(readLines(path), path, [], ({ value }) => {
    collector ??= createRequestCollector(value);
    if (collector === 'none') return;
    if (collector) {
      for (const each of recordsBeforeDetection.splice(0)) collector.takeRecord(each);
      collector.takeRecord(value);
    } else if (recordsBeforeDetection.length < MAX_DETECTION_RECORDS) recordsBeforeDetection.push(value);
  });
  if (!collector || collector === 'none') return undefined;
  const recordedRequests = collector.getResult();
  return recordedRequests && { recorded: dropImplausibleUsage(recordedRequests), compactions: collector.compactions };
}

/** `none` if the agent records no usage. */
function createRequestCollector(value: Fields): RequestCollector | 'none' | undefined {
  const linesReader = Object.values(READER_BY_FORMAT).find((format) => format.lines?.isRecord(value))?.lines;
  return linesReader && (linesReader.requests?.() ?? 'none');
}

const CHUNK_BYTES = 1024 ** 2;
const NEWLINE_BYTE = 0x0a;

function* readLines(path: string): Generator<Line, void> {
  let lineNumber = 0;
  for (const bytes of readLineBytes(path)) {
    lineNumber += 1;
    const text = bytes.toString('utf8');
    if (text.trim() !== '') yield { number: lineNumber, text, valid: isUtf8(bytes), bytes: bytes.length, last: false };
  }
}

function* readLineBytes(path: string): Generator<Buffer, void> {
  let file: number | undefined;
  try {
    file = openSync(path, 'r');
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
    let unfinishedLine: Buffer[] = [];
    for (let readBytes = readSync(file, chunk); readBytes > 0; readBytes = readSync(file, chunk)) {
      let lineStart = 0;
      for (
        let lineEnd = chunk.indexOf(NEWLINE_BYTE);
        lineEnd !== -1 && lineEnd < readBytes;
        lineEnd = chunk.indexOf(NEWLINE_BYTE, lineStart)
      ) {
        yield Buffer.concat([...unfinishedLine, chunk.subarray(lineStart, lineEnd)]);
        unfinishedLine = [];
        lineStart = lineEnd + 1;
      }
      // The chunk is reused, so its bytes are copied.
      if (lineStart < readBytes) unfinishedLine.push(Buffer.from(chunk.subarray(lineStart, readBytes)));
    }
    yield Buffer.concat(unfinishedLine);
  } catch (error) {
    throw convertFileError(path, error);
  } finally {
    if (file !== undefined) closeSync(file);
  }
}
