/**
 * VS Code's chat sessions are `chatSessions/<id>.json` or, since 1.109, `.jsonl`, a log of changes
 * to one object. Sources: VS Code's chatModel.ts and objectMutationLog.ts, vscode-copilot-chat's
 * toolCallRound.ts.
 */
import { isRecord } from '../../core/messages/blocks';
import type { ApiMessage, Block } from '../../core/messages/types';
import { type RecordedRequest, selectRecordedRequests } from '../../core/account/recordedRequest';
import { makeSourceId, getSourceName } from '../conversationId';
import type { Usage } from '../../core/cost/usage';
import { formatPlural } from '../../core/plural';
import { OWN_VSCODE_VENDOR } from '../../core/vendors/ownVendor';
import { createNoMessagesError } from '../notes';
import { ConversationReadError } from '../readError';
import { MAX_JSON_DEPTH, isDeeperThan } from '../text/json';
import { type JsonRecord, readJsonLineRecords } from '../text/jsonLines';
import { readLines } from '../text/lines';
import { type Fields, stringifyValue, readList, readRecord, readString, readNumber } from '../text/values';
import { normalizeTitle, makeConversationTitle } from '../title';
import type { Conversation, ReadOptions, InputSource, ConversationNote } from '../types';
import { parseArguments } from './openai/arguments';
import { describeUnansweredCalls } from './unanswered';

export const isVscodeChat = (value: unknown): value is Fields =>
  isRecord(value) && Array.isArray(value['requests']) && readString(value, 'sessionId') !== undefined;

export const isVscodeChatRecord = (value: Fields): boolean =>
  typeof value['kind'] === 'number' && ((value['kind'] === 0 && isRecord(value['v'])) || Array.isArray(value['k']));

/** @throws {ConversationReadError} for a broken line or a log without an initial object */
export function readVscodeChatLines(
  input: string | Uint8Array,
  source: InputSource,
  options: ReadOptions = {},
): Conversation {
  const name = getSourceName(source);
  const notes: ConversationNote[] = [];
  let session: unknown;
  readJsonLineRecords(readLines(input, name), name, notes, (record) => {
    session = applyLoggedChange(session, record, name);
  });
  if (!isVscodeChat(session)) throw createLogError(name, undefined, 'a log that contains no chat session');
  if (notes.length > 0 && readList(session, 'requests').length === 0) {
    throw createNoMessagesError(name, 'a VS Code chat session with requests', new Map(), notes);
  }
  const conversation = readVscodeChat(session, source, options, input);
  return { ...conversation, notes: [...notes, ...conversation.notes] };
}

const createLogError = (source: string, line: number | undefined, found: string): ConversationReadError =>
  new ConversationReadError({
    problem: 'wrong-shape',
    source,
    ...(line !== undefined && { line }),
    found,
    expected: 'a VS Code chat session: its initial state, then changes to it',
  });

/** Kinds of changes (`EntryKind` in VS Code). */
const CHANGE_KIND_INITIAL = 0;
const CHANGE_KIND_SET = 1;
const CHANGE_KIND_PUSH = 2;
const CHANGE_KIND_DELETE = 3;

function applyLoggedChange(session: unknown, { value, line }: JsonRecord, source: string): unknown {
  if (value['kind'] === CHANGE_KIND_INITIAL) return value['v'];
  const keyPath = readList(value, 'k');
  let changedParent: unknown = session;
  for (const key of keyPath.slice(0, -1)) changedParent = getField(changedParent, key);
  const lastKey = toValidKey(changedParent, keyPath.at(-1));
  if (lastKey === undefined) throw createLogError(source, line, 'a change to something that does not exist');
  // Earlier lines created the object, and nothing else uses it yet, so it may be changed.
  const fields = changedParent as Record<string | number, unknown>;
  switch (value['kind']) {
    case CHANGE_KIND_SET:
      fields[lastKey] = value['v'];
      break;
    case CHANGE_KIND_DELETE:
      fields[lastKey] = undefined;
      break;
    case CHANGE_KIND_PUSH: {
      const elements = fields[lastKey] ?? [];
      if (!Array.isArray(elements))
        throw createLogError(source, line, 'a change that adds to something that is not a list');
      const keptElements = typeof value['i'] === 'number' ? elements.slice(0, value['i']) : elements;
      fields[lastKey] = [...(keptElements as readonly unknown[]), ...readList(value, 'v')];
      break;
    }
    default:
      throw createLogError(source, line, 'a change of an unknown kind');
  }
  return session;
}

function toValidKey(holder: unknown, key: unknown): string | number | undefined {
  if (Array.isArray(holder)) return typeof key === 'number' && key >= 0 && key <= holder.length ? key : undefined;
  return isRecord(holder) && typeof key === 'string' && key !== '__proto__' ? key : undefined;
}

const getField = (holder: unknown, key: unknown): unknown =>
  typeof holder === 'object' && holder !== null && Object.hasOwn(holder, String(key))
    ? (holder as Record<string, unknown>)[String(key)]
    : undefined;

/** @throws {ConversationReadError} if there are no messages */
export function readVscodeChat(
  session: Fields,
  source: InputSource,
  _options: ReadOptions,
  input: string | Uint8Array,
): Conversation {
  const name = getSourceName(source);
  if (isDeeperThan(session, MAX_JSON_DEPTH)) {
    throw createLogError(name, undefined, 'a session that is nested too deeply');
  }
  const requests = readList(session, 'requests').filter(isRecord);
  const turns = requests.map(parseChatTurn);
  const messages = turns.flatMap((turn) => turn.messages);
  if (messages.length === 0) {
    throw new ConversationReadError({
      problem: 'nothing-said',
      source: name,
      found: 'a chat session in which nothing was said',
      expected: 'at least one request',
    });
  }
  const id = readString(session, 'sessionId');
  const shownTurns = turns.filter(({ isShown }) => isShown).length;
  return {
    id: id === undefined ? makeSourceId(source, input) : `vscode:${id}`,
    format: 'vscode-chat',
    title: normalizeTitle(readString(session, 'customTitle')) ?? makeConversationTitle(turns.map(({ typed }) => typed)),
    messages,
    notes: [
      ...(shownTurns > 0
        ? [
            `${formatPlural(shownTurns, 'answer')} of which VS Code kept only what it showed: their tool calls are missing.`,
          ]
        : []),
      ...describeUnansweredCalls(messages),
    ],
    sidechains: [],
    ...findLastRequest(turns, messages.length, readModelWindow(session)),
  };
}

/** VS Code records only the last request of each turn, so costs can't be calculated from it. */
function findLastRequest(
  turns: readonly ChatSessionTurn[],
  count: number,
  window: { readonly window?: number },
): Pick<Conversation, 'lastRequest'> {
  let end = 0;
  const requests = turns.flatMap(({ messages, usage }): RecordedRequest[] => {
    const start = end;
    end += messages.length;
    const answer = messages.findLastIndex(({ role }) => role === 'assistant');
    return usage === undefined || answer < 0 ? [] : [{ purpose: 'answer', usage, message: start + answer, ...window }];
  });
  return selectRecordedRequests('active', { requests, compactions: [] }, count);
}

/**
 * Input and output together, in tokens, as VS Code shows it (1.139, ChatContextUsageWidget). The
 * `maxInputTokens` of our own models may be larger than the model's.
 */
function readModelWindow(session: Fields): { readonly window?: number } {
  const model = readRecord(readRecord(session, 'inputState') ?? {}, 'selectedModel') ?? {};
  const metadata = readRecord(model, 'metadata') ?? {};
  const input = metadata['vendor'] === OWN_VSCODE_VENDOR ? 0 : (readNumber(metadata, 'maxInputTokens') ?? 0);
  const window =
    readNumber(metadata, 'maxContextWindowTokens') ??
    (input > 0 ? input + (readNumber(metadata, 'maxOutputTokens') ?? 0) : undefined);
  return window === undefined ? {} : { window };
}

/** `promptTokens` include cached ones. In 1.139 `outputTokens` covers a turn's last answer only. */
function readUsage({ promptTokens, outputTokens }: Fields): Usage | undefined {
  if (typeof promptTokens !== 'number' || typeof outputTokens !== 'number') return undefined;
  return {
    accounting: 'openai',
    source: 'reported',
    inputTokens: promptTokens,
    outputTokens,
    cacheReadTokens: 0,
    cacheWriteTokens: 0,
  };
}

interface ChatSessionTurn {
  readonly typed: ApiMessage;
  readonly usage: Usage | undefined;
  readonly messages: readonly ApiMessage[];
  /** True if only the text shown on screen is known. */
  readonly isShown: boolean;
}

function parseChatTurn(request: Fields): ChatSessionTurn {
  const metadata = readRecord(readRecord(request, 'result') ?? {}, 'metadata') ?? {};
  const messages: ApiMessage[] = [];
  const add = (role: ApiMessage['role'], content: readonly Block[]): void => {
    if (content.length > 0) messages.push({ role, content });
  };
  const renderedBlocks = readList(metadata, 'renderedUserMessage').flatMap((part) =>
    isRecord(part) ? makeTextBlocks(readString(part, 'text') ?? '') : [],
  );
  const { message } = request;
  const typedText = isRecord(message) ? stringifyValue(message['text']) : stringifyValue(message);
  // The record contains the prompt as typed and as sent; the sent text is preferred.
  add('user', renderedBlocks.length > 0 ? renderedBlocks : makeTextBlocks(typedText));
  const toolCallRounds = readList(metadata, 'toolCallRounds').filter(isRecord);
  const results = readRecord(metadata, 'toolCallResults') ?? {};
  for (const round of toolCallRounds) {
    const calls = readList(round, 'toolCalls').filter(isRecord).flatMap(convertToolCall);
    add('assistant', [...convertThinking(round), ...makeTextBlocks(stringifyValue(round['response'])), ...calls]);
    add(
      'user',
      calls.flatMap(({ id }) => convertToolResult(String(id), results)),
    );
  }
  if (toolCallRounds.length === 0) add('assistant', makeTextBlocks(getShownText(readList(request, 'response'))));
  return {
    typed: { role: 'user', content: typedText },
    messages,
    usage: readUsage(metadata),
    isShown: toolCallRounds.length === 0 && readList(request, 'response').some(isToolInvocation),
  };
}

const isToolInvocation = (part: unknown): boolean => isRecord(part) && part['kind'] === 'toolInvocationSerialized';

const makeTextBlocks = (text: string): Block[] => (text.trim() === '' ? [] : [{ type: 'text', text }]);

function convertThinking(round: Fields): Block[] {
  const thoughtValue = readRecord(round, 'thinking')?.['text'];
  const thinking = Array.isArray(thoughtValue)
    ? thoughtValue.map(stringifyValue).join('')
    : stringifyValue(thoughtValue);
  return thinking.trim() === '' ? [] : [{ type: 'thinking', thinking }];
}

function convertToolCall(call: Fields): Block[] {
  const id = readString(call, 'id');
  const name = readString(call, 'name');
  if (id === undefined || name === undefined) return [];
  const rawArguments = call['arguments'];
  return [
    {
      type: 'tool_use',
      id,
      name,
      input: typeof rawArguments === 'string' ? parseArguments(rawArguments) : (rawArguments ?? {}),
    },
  ];
}

function convertToolResult(id: string, results: Fields): Block[] {
  const result = Object.hasOwn(results, id) ? results[id] : undefined;
  if (!isRecord(result)) return [];
  const text = readList(result, 'content')
    .map((part) => (isRecord(part) ? getValueText(part['value']) : stringifyValue(part)))
    .join('\n');
  return [{ type: 'tool_result', tool_use_id: id, content: text }];
}

/** Accepts a text, or prompt-tsx's tree, whose leaves are texts. */
function getValueText(value: unknown): string {
  if (!isRecord(value)) return stringifyValue(value);
  const node = readRecord(value, 'node') ?? value;
  const children = node['children'];
  const text = readString(node, 'text');
  if (text !== undefined) return node['lineBreakBefore'] === true ? `\n${text}` : text;
  return Array.isArray(children) ? children.map(getValueText).join('') : stringifyValue(value);
}

/** Excludes VS Code's own descriptions of tool activity. */
const getShownText = (parts: readonly unknown[]): string =>
  parts
    .map((part) => {
      if (!isRecord(part) || (part['kind'] !== undefined && part['kind'] !== 'markdownContent')) return '';
      const content = part['content'] ?? part['value'];
      return isRecord(content) ? stringifyValue(content['value']) : stringifyValue(content);
    })
    .join('');
