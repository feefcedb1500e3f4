import { isUtf8 } from 'node:buffer';
import { getSourceName } from './conversationId';
import {
  EXPECTED_FORMATS_TEXT,
  parseFirstRecords,
  type DocumentFormat,
  detectDocumentFormat,
  detectLayout,
  detectRecordFormat,
  parseMessageDocument,
  findRecordWithoutType,
} from './detect';
import { readAnthropic } from './formats/anthropic';
import {
  asClaudeWebExport,
  isClaudeCodeRecord,
  readClaudeCode,
  convertWebExportToLines,
} from './formats/claudeCode/claudeCode';
import { ClaudeRequests } from './formats/claudeCode/usage';
import { isCodexRecord, readCodex } from './formats/codex/codex';
import { CodexRequests } from './formats/codex/usage';
import { isCursorRecord, readCursor } from './formats/cursor';
import { isContinueSession, readContinue } from './formats/continue';
import { isQwenRecord, readQwen } from './formats/qwen';
import { QwenRequests } from './formats/qwenRequests';
import { isResponsesBody, readResponses } from './formats/responses';
import { rejectUnsupportedFormat, checkUnsupportedBinary } from './unsupported';
import { isCopilotRecord, readCopilot } from './formats/copilot/copilot';
import { CopilotRequests } from './formats/copilot/usage';
import type { EarlierRecords, ConversationReader } from './formats/format';
import { isGeminiDocument, isGeminiRecord, readGeminiDocument, readGeminiLines } from './formats/gemini/gemini';
import { GeminiRequests } from './formats/gemini/usage';
import { isOpenCodeDocument, toOpenCodeDocument, readOpenCode } from './formats/openCode/openCode';
import { readOpenAI } from './formats/openai/openai';
import { isPiRecord, PiRequests, readPi } from './formats/pi';
import { readRoo } from './formats/roo';
import { isOpenHandsV1Event, readTrajectory, readOpenHandsV1Lines, asTrajectoryDocument } from './formats/trajectory';
import { isVscodeChat, isVscodeChatRecord, readVscodeChat, readVscodeChatLines } from './formats/vscodeChat';
import { markAnswersOfPerson } from './personsAnswers';
import { ConversationReadError, describeValue } from './readError';
import { JsonError, parseJson } from './text/json';
import { asBuffer, decodeUtf8, readLines } from './text/lines';
import type { Fields } from './text/values';
import type { Conversation, ConversationFormat, ReadOptions, InputSource } from './types';

function createDocumentGuard(isDocument: (value: unknown) => value is Fields): (value: unknown) => Fields | undefined {
  return (value) => (isDocument(value) ? value : undefined);
}

/** Formats are tried in this order. */
export const READER_BY_FORMAT: Readonly<Record<Exclude<ConversationFormat, DocumentFormat>, ConversationReader>> = {
  gemini: {
    lines: { isRecord: isGeminiRecord, read: readGeminiLines, requests: () => new GeminiRequests() },
    document: { normalize: createDocumentGuard(isGeminiDocument), read: readGeminiDocument },
  },
  // Qwen Code's records look like Claude Code's but contain other messages.
  qwen: { lines: { isRecord: isQwenRecord, read: readQwen, requests: () => new QwenRequests() } },
  'claude-code': {
    lines: { isRecord: isClaudeCodeRecord, read: readClaudeCode, requests: () => new ClaudeRequests() },
    document: {
      normalize: asClaudeWebExport,
      read: (value, source, options) => readClaudeCode(convertWebExportToLines(value), source, options),
    },
  },
  pi: { lines: { isRecord: isPiRecord, read: readPi, requests: () => new PiRequests() } },
  cursor: { lines: { isRecord: isCursorRecord, read: readCursor } },
  'vscode-chat': {
    lines: { isRecord: isVscodeChatRecord, read: readVscodeChatLines },
    document: { normalize: createDocumentGuard(isVscodeChat), read: readVscodeChat },
  },
  codex: { lines: { isRecord: isCodexRecord, read: readCodex, requests: () => new CodexRequests() } },
  copilot: { lines: { isRecord: isCopilotRecord, read: readCopilot, requests: () => new CopilotRequests() } },
  opencode: {
    document: {
      normalize: createDocumentGuard(isOpenCodeDocument),
      read: (value, source, options) => readOpenCode(toOpenCodeDocument(value, getSourceName(source)), source, options),
    },
  },
  continue: { document: { normalize: createDocumentGuard(isContinueSession), read: readContinue } },
  responses: { document: { normalize: createDocumentGuard(isResponsesBody), read: readResponses } },
  trajectory: {
    lines: { isRecord: isOpenHandsV1Event, read: readOpenHandsV1Lines },
    document: { normalize: asTrajectoryDocument, read: readTrajectory },
  },
};

/**
 * @param source determines the conversation's id and appears in errors
 * @param earlier records of other files that precede the input, oldest first
 * @throws {ConversationReadError}
 */
export function readConversation(
  input: string | Uint8Array,
  source: InputSource,
  options: ReadOptions = {},
  earlier: readonly EarlierRecords[] = [],
): Conversation {
  return markAnswersOfPerson(readConversationWithoutMarks(input, source, options, earlier));
}

function readConversationWithoutMarks(
  input: string | Uint8Array,
  source: InputSource,
  options: ReadOptions,
  earlierRecords: readonly EarlierRecords[],
): Conversation {
  const name = getSourceName(source);
  const text = stripByteOrderMark(input, name);
  const formats = Object.values(READER_BY_FORMAT);
  const detectFormat = (): ConversationReader['lines'] => detectRecordFormat(readLines(text, name), formats);
  if (detectLayout(readLines(text, name)) === 'lines') {
    const linesFormat = detectFormat();
    if (linesFormat) return linesFormat.read(text, source, options, earlierRecords);
    rejectBinaryInput(text, name);
    // Claude Code's reader reports what is wrong with lines of unknown format.
    const values = parseFirstRecords(readLines(text, name));
    rejectUnsupportedFormat({ values, document: undefined, text: undefined }, name);
    const recordWithoutType = findRecordWithoutType(values);
    if (recordWithoutType === undefined) return readClaudeCode(text, source, options);
    throw new ConversationReadError({
      problem: 'unknown-format',
      source: name,
      found: describeValue(recordWithoutType),
      expected: EXPECTED_FORMATS_TEXT,
    });
  }
  let value: unknown;
  try {
    value = parseDocument(text, name);
  } catch (error) {
    // JSON lines whose first line is damaged look like a broken JSON document.
    const format = detectFormat();
    if (format) return format.read(text, source, options, earlierRecords);
    rejectBinaryInput(text, name);
    rejectUnsupportedFormat({ values: [], document: undefined, text: decodeFirstBytes(text) }, name);
    throw error;
  }
  rejectUnsupportedFormat({ values: [], document: value, text: undefined }, name);
  for (const { document } of formats) {
    const normalizedValue = document?.normalize(value);
    if (document && normalizedValue) return document.read(normalizedValue, source, options, text);
  }
  const document = parseMessageDocument(value, name);
  switch (detectDocumentFormat(document)) {
    case 'openai':
      return readOpenAI(document, source, text);
    case 'roo':
      return readRoo(document, source, text, options);
    case 'anthropic':
      return readAnthropic(document, source, text);
  }
}

function createUnknownTextError(
  name: string,
  problem: 'empty' | 'binary' | 'encoding',
  found: string,
  advice?: string,
): never {
  const expectedText = problem === 'encoding' ? 'UTF-8 text' : EXPECTED_FORMATS_TEXT;
  throw new ConversationReadError({
    problem,
    source: name,
    found,
    expected: expectedText,
    ...(advice !== undefined && { advice }),
  });
}

/** NUL bytes around JSON lines are allowed, other binary data is not. */
function rejectBinaryInput(input: string | Uint8Array, name: string): void {
  if (typeof input === 'string' || !input.subarray(0, DETECTION_BYTES).includes(0)) return;
  throw checkUnsupportedBinary(name) ?? createUnknownTextError(name, 'binary', 'binary data');
}

function stripByteOrderMark(input: string | Uint8Array, name: string): string | Uint8Array {
  const throwTextError = (problem: 'empty' | 'binary' | 'encoding', found: string, advice?: string): never =>
    createUnknownTextError(name, problem, found, advice);
  if (typeof input === 'string') {
    const text = input.startsWith('\ufeff') ? input.slice(1) : input;
    if (text.slice(0, DETECTION_BYTES).trim() === '' && text.trim() === '') return throwTextError('empty', 'nothing');
    return text;
  }
  const [a, b, c] = input;
  if ((a === 0xff && b === 0xfe) || (a === 0xfe && b === 0xff)) {
    return throwTextError('encoding', 'UTF-16 text', 'Save the file as UTF-8.');
  }
  if (a === 0x1f && b === 0x8b) return throwTextError('binary', 'a gzip archive', 'Unpack it first.');
  const bytes = a === 0xef && b === 0xbb && c === 0xbf ? input.subarray(3) : input;
  return bytes.some((byte) => byte > 0x20) ? bytes : throwTextError('empty', 'nothing');
}

const decodeFirstBytes = (input: string | Uint8Array): string =>
  typeof input === 'string'
    ? input.slice(0, DETECTION_BYTES)
    : asBuffer(input.subarray(0, DETECTION_BYTES)).toString('utf8');

const DETECTION_BYTES = 8192;

function parseDocument(input: string | Uint8Array, name: string): unknown {
  const text = typeof input === 'string' ? input : decodeUtf8(asBuffer(input), name);
  const isText = typeof input === 'string' || isUtf8(input);
  try {
    const value = parseJson(text);
    if (isText) return value;
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    throw createDocumentError(text, error, name);
  }
  throw new ConversationReadError({
    problem: 'encoding',
    source: name,
    found: 'bytes that are not UTF-8',
    expected: 'UTF-8 text',
    advice: 'Save the file as UTF-8.',
  });
}

function createDocumentError(text: string, { problem }: JsonError, name: string): ConversationReadError {
  const textBefore = text.slice(0, problem.offset);
  const line = textBefore.split('\n').length;
  const column = problem.offset - textBefore.lastIndexOf('\n');
  if (problem.truncated) {
    return new ConversationReadError({
      problem: 'truncated',
      source: name,
      line,
      found: 'the end of the file in the middle of a JSON value',
      expected: `${problem.expected} there`,
      advice: 'The agent may still be writing; try again, or restore the file from a backup.',
    });
  }
  const isJson = /^\s*[[{]/.test(text);
  return new ConversationReadError({
    problem: isJson ? 'broken-json' : 'unknown-format',
    source: name,
    line,
    found: isJson ? `JSON that breaks at column ${column}` : 'text that is not JSON',
    expected: isJson ? `${problem.expected} there` : EXPECTED_FORMATS_TEXT,
  });
}
