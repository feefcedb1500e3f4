/**
 * Follows Roo Code 3.52 (`src/core/condense/index.ts`, `getEffectiveApiHistory` and
 * `cleanupAfterTruncation`). All old messages get a `condenseParent`. The view's messages follow
 * them; the first is tagged `isSummary` with the same id, because the agent sends what follows the
 * last summary.
 */
import { isRecord } from '../../core/messages/blocks';
import type { ApiMessage } from '../../core/messages/types';
import { selectEffectiveHistory, readRoo } from '../formats/roo';
import { ConversationReadError } from '../readError';

/** The agent shows a condensation in a row of its own. */
export interface CondensationUiRow {
  readonly condenseId: string;
  /** US dollars, which the agent adds to the task's total. */
  readonly cost: number;
  /** o200k tokens of the messages before and after condensing. */
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  readonly text: string;
}

export interface RooTaskFiles {
  /** `api_conversation_history.json`, parsed. */
  readonly history: readonly unknown[];
  /** `ui_messages.json`, parsed. */
  readonly rows: readonly unknown[];
}

/** The agent's own tags, which get new values in copied messages. */
const CONDENSING_TAGS = [
  'condenseParent',
  'condenseId',
  'isSummary',
  'truncationParent',
  'truncationId',
  'isTruncationMarker',
];

/**
 * @param readMessages the active history, as {@link readRoo} read it
 * @throws ConversationReadError if the files' shape can't be written
 */
export function renderCondensedTask(
  { history, rows }: RooTaskFiles,
  readMessages: readonly ApiMessage[],
  view: readonly ApiMessage[],
  row: CondensationUiRow,
): RooTaskFiles {
  const [firstMessage] = view;
  if (firstMessage?.role !== 'user')
    throw createShapeError('a history that begins with an answer', 'a message of the user first');
  const records = history.map((record) => {
    if (!isRecord(record)) throw createShapeError('a message that is not an object', 'objects');
    return record;
  });
  const rawRecords = findRawRecords(records, readMessages);
  let time = findLatestTime([...records, ...rows.filter(isRecord)]);
  const viewCopies = view.map((message, index) => ({
    ...omitCondensingTags(rawRecords.get(message) ?? message, CONDENSING_TAGS),
    ts: ++time,
    ...(index === 0 && { isSummary: true, condenseId: row.condenseId }),
  }));
  const markedRecords = records.map((record) =>
    record['condenseParent'] === undefined ? { ...record, condenseParent: row.condenseId } : record,
  );
  return { history: [...markedRecords, ...viewCopies], rows: [...rows, renderCondensationRow(row, rows, ++time)] };
}

/** Our reader converts some records, so this finds the agent's original record for each message. */
function findRawRecords(
  records: readonly Readonly<Record<string, unknown>>[],
  readMessages: readonly ApiMessage[],
): ReadonlyMap<ApiMessage, Readonly<Record<string, unknown>>> {
  const allMessages = readRoo({ messages: records }, { name: 'the task' }, '', { history: 'all' }).messages;
  const activeHistory = selectEffectiveHistory(allMessages);
  const indexByMessage = new Map(allMessages.map((message, index) => [message, index]));
  const rawRecords = new Map<ApiMessage, Readonly<Record<string, unknown>>>();
  if (activeHistory.length !== readMessages.length)
    throw createShapeError('a different history from the one that was read', 'the same history');
  for (const [index, message] of activeHistory.entries()) {
    const record = records[indexByMessage.get(message) ?? -1];
    const readMessage = readMessages[index];
    // The agent drops results without calls from some messages, which then match no record.
    if (record && readMessage) rawRecords.set(readMessage, record);
  }
  return rawRecords;
}

/** The agent computes from this row how full the window is (`consolidateTokenUsage`). */
function renderCondensationRow(
  row: CondensationUiRow,
  rows: readonly unknown[],
  ts: number,
): Readonly<Record<string, unknown>> {
  const shownTokens = getContextTokens(rows);
  const prevContextTokens = shownTokens ?? row.tokensBefore;
  // The agent's count includes system prompt and tools, so only the tokens that condensing saved
  // are subtracted.
  const newContextTokens = Math.max(row.tokensAfter, prevContextTokens - (row.tokensBefore - row.tokensAfter));
  const { cost, text: summary, condenseId } = row;
  return {
    ts,
    type: 'say',
    say: 'condense_context',
    contextCondense: { cost, prevContextTokens, newContextTokens, summary, condenseId },
  };
}

/** Returns the tokens of the last request, or those after the last condensation. */
export function getContextTokens(rows: readonly unknown[]): number | undefined {
  for (const row of [...rows].reverse()) {
    if (!isRecord(row) || row['type'] !== 'say') continue;
    if (row['say'] === 'condense_context' && isRecord(row['contextCondense'])) {
      const tokens = row['contextCondense']['newContextTokens'];
      if (typeof tokens === 'number') return tokens;
    }
    const tokens = row['say'] === 'api_req_started' ? getRequestTokens(row['text']) : undefined;
    if (tokens !== undefined) return tokens;
  }
  return undefined;
}

function getRequestTokens(text: unknown): number | undefined {
  if (typeof text !== 'string') return undefined;
  try {
    const request: unknown = JSON.parse(text);
    if (!isRecord(request)) return undefined;
    const { tokensIn, tokensOut } = request;
    const sum = (typeof tokensIn === 'number' ? tokensIn : 0) + (typeof tokensOut === 'number' ? tokensOut : 0);
    return sum > 0 ? sum : undefined;
  } catch {
    return undefined;
  }
}

/** Milliseconds. New messages must be later, because the agent distinguishes messages by time. */
function findLatestTime(records: readonly Readonly<Record<string, unknown>>[]): number {
  let latest = 0;
  for (const { ts } of records) if (typeof ts === 'number' && Number.isFinite(ts)) latest = Math.max(latest, ts);
  return latest;
}

const omitCondensingTags = (
  record: Readonly<Record<string, unknown>>,
  fields: readonly string[],
): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(record).filter(([field]) => !fields.includes(field)));

const createShapeError = (found: string, expected: string): ConversationReadError =>
  new ConversationReadError({ problem: 'wrong-shape', source: 'the task', found, expected });
