/** What a session's file says of its requests, read line by line: files of any size, and those with broken lines. */
import { closeSync, openSync, readSync } from 'node:fs';
import type { RecordedRequests } from '../core/account/recordedRequest';
import { isRecord } from '../core/messages/blocks';
import type { RequestCollector } from './formats/format';
import { FORMATS } from './read';
import { fileError } from './readFile';
import type { Fields } from './text/values';

export interface StreamedRequests {
  readonly recorded: RecordedRequests;
  /** How many compactions there were. */
  readonly compactions: number;
  /** Lines that are no record. */
  readonly broken: number;
}

/** How many lines are looked at to tell the format, as in `detect.ts`. */
const TELLING_LINES = 20;

/**
 * Blocks: it runs in a worker, or on the command line.
 * @returns undefined for a file that is of no format by lines, or whose records tell of no usage
 * @throws {ConversationReadError} for a file that can't be read
 */
export function streamRequests(path: string): StreamedRequests | undefined {
  const waiting: Fields[] = [];
  let collector: RequestCollector | undefined;
  let broken = 0;
  for (const line of linesIn(path)) {
    const value = recordIn(line);
    if (!value) broken += 1;
    else if (collector) collector.take(value);
    else {
      waiting.push(value);
      collector = collectorFor(value);
      if (!collector && waiting.length + broken > TELLING_LINES) return undefined;
      if (collector) for (const each of waiting.splice(0)) collector.take(each);
    }
  }
  const recorded = collector?.result();
  return collector && recorded && { recorded, compactions: collector.compactions, broken };
}

function collectorFor(value: Fields): RequestCollector | undefined {
  const format = Object.values(FORMATS).find(({ lines }) => lines?.isRecord(value));
  return format?.lines?.requests?.();
}

function recordIn(line: Buffer): Fields | undefined {
  try {
    const value: unknown = JSON.parse(line.toString('utf8'));
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const CHUNK_BYTES = 1024 ** 2;
const NEWLINE = 0x0a;

/** The lines of a file that aren't empty, with no more than one of them in memory. */
function* linesIn(path: string): Generator<Buffer, void> {
  let file: number | undefined;
  try {
    file = openSync(path, 'r');
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
    let begun: Buffer[] = [];
    for (let read = readSync(file, chunk); read > 0; read = readSync(file, chunk)) {
      let start = 0;
      for (let end = chunk.indexOf(NEWLINE); end !== -1 && end < read; end = chunk.indexOf(NEWLINE, start)) {
        const line = Buffer.concat([...begun, chunk.subarray(start, end)]);
        begun = [];
        start = end + 1;
        if (line.length > 1) yield line;
      }
      // A copy: the chunk is filled again.
      if (start < read) begun.push(Buffer.from(chunk.subarray(start, read)));
    }
    const last = Buffer.concat(begun);
    if (last.length > 1) yield last;
  } catch (error) {
    throw fileError(path, error);
  } finally {
    if (file !== undefined) closeSync(file);
  }
}
