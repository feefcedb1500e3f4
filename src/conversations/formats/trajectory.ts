/**
 * Reads ATIF (1.0 to 1.7), SWE-agent's `.traj`, and OpenHands' event lists (old and V1). Sources:
 * Harbor's RFC 0001, SWE-agent's and OpenHands' documentation, files in public repositories.
 */
import { isRecord } from '../../core/messages/blocks';
import type { ApiMessage, Block } from '../../core/messages/types';
import { makeSourceId, getSourceName } from '../conversationId';
import { describeSkippedRecords } from '../notes';
import { ConversationReadError } from '../readError';
import { MAX_JSON_DEPTH, isDeeperThan } from '../text/json';
import { readJsonLineRecords } from '../text/jsonLines';
import { readLines } from '../text/lines';
import { stringifyValue, type Fields, convertImageUrl, readList, readRecord, readString } from '../text/values';
import { makeConversationTitle } from '../title';
import type { Conversation, ReadOptions, InputSource, ConversationNote } from '../types';
import { addSourceToShapeErrors } from './messageArray';
import { parseArguments } from './openai/arguments';
import { checkOpenAIMessage, convertFromOpenAI } from './openai/openai';
import { describeUnansweredCalls } from './unanswered';

const isAtifTrajectory = (value: Fields): boolean =>
  readString(value, 'schema_version')?.startsWith('ATIF') === true && Array.isArray(value['steps']);
const isSweAgentTrajectory = (value: Fields): boolean =>
  Array.isArray(value['history']) && Array.isArray(value['trajectory']);
const getEvents = (value: Fields): readonly unknown[] =>
  [value['events'], value['history'], value['items']].find(Array.isArray) ?? [];
const isOpenHandsTrajectory = (value: Fields): boolean => {
  const events = getEvents(value).filter(isRecord);
  return (
    events.length > 0 &&
    events.slice(0, 20).every((event) => 'source' in event && ('action' in event || 'observation' in event))
  );
};

/** Events of OpenHands' software-agent-sdk (V1) name their kind. */
export const isOpenHandsV1Event = (event: Fields): boolean =>
  V1_EVENT_KIND.test(readString(event, 'kind') ?? '') && 'source' in event;

const V1_EVENT_KIND = /^(?:[A-Z]\w*Event|\w*Observation|Condensation\w*)$/;

const isOpenHandsV1Trajectory = (value: Fields): boolean => {
  const events = getEvents(value).filter(isRecord);
  return events.some(isOpenHandsV1Event) && events.slice(0, 20).every((event) => 'kind' in event && 'source' in event);
};

export function asTrajectoryDocument(value: unknown): Fields | undefined {
  const document = Array.isArray(value) ? { events: value } : value;
  return isRecord(document) &&
    (isAtifTrajectory(document) ||
      isSweAgentTrajectory(document) ||
      isOpenHandsTrajectory(document) ||
      isOpenHandsV1Trajectory(document))
    ? document
    : undefined;
}

/** @throws {ConversationReadError} if there are no messages */
export function readOpenHandsV1Lines(
  input: string | Uint8Array,
  source: InputSource,
  options: ReadOptions = {},
): Conversation {
  const name = getSourceName(source);
  const notes: ConversationNote[] = [];
  const events: Fields[] = [];
  readJsonLineRecords(readLines(input, name), name, notes, ({ value }) => {
    events.push(value);
  });
  const conversation = readTrajectory({ events }, source, options, input);
  return { ...conversation, notes: [...notes, ...conversation.notes] };
}

/** @throws {ConversationReadError} if there are no messages */
export function readTrajectory(
  document: Fields,
  source: InputSource,
  options: ReadOptions,
  input: string | Uint8Array,
): Conversation {
  const name = getSourceName(source);
  if (isDeeperThan(document, MAX_JSON_DEPTH)) throw createFormatError(name, 'a document that is nested too deeply');
  const skippedByKind = new Map<string, number>();
  const unknownByKind = new Map<string, number>();
  const messages = isAtifTrajectory(document)
    ? convertAtifSteps(readList(document, 'steps').filter(isRecord))
    : isSweAgentTrajectory(document)
      ? convertSweAgentHistory(readList(document, 'history'), name)
      : isOpenHandsV1Trajectory(document)
        ? convertOpenHandsV1Events(
            getEvents(document).filter(isRecord),
            options.history !== 'all',
            skippedByKind,
            unknownByKind,
          )
        : convertOpenHandsEvents(getEvents(document).filter(isRecord), skippedByKind, unknownByKind);
  if (messages.length === 0) throw createFormatError(name, 'no messages');
  const id = readString(document, 'session_id');
  return {
    id: id === undefined ? makeSourceId(source, input) : `atif:${id}`,
    format: 'trajectory',
    title: makeConversationTitle(messages),
    messages,
    notes: [
      ...describeSkippedRecords(new Map([...unknownByKind, ...skippedByKind]), skippedByKind),
      ...describeUnansweredCalls(messages),
    ],
    sidechains: [],
  };
}

const createFormatError = (source: string, found: string): ConversationReadError =>
  new ConversationReadError({
    problem: 'wrong-shape',
    source,
    found,
    expected: 'an ATIF, SWE-agent or OpenHands trajectory with messages',
  });

/** In ATIF 1.6, content can be a list of texts and of images given by URL. */
function convertTrajectoryContent(content: unknown): Block[] {
  if (!Array.isArray(content)) {
    const text = stringifyValue(content);
    return text.trim() === '' ? [] : [{ type: 'text', text }];
  }
  return (content as readonly unknown[]).flatMap((part): Block[] =>
    isRecord(part) && typeof part['text'] !== 'string'
      ? [{ type: 'trajectory_part', part }]
      : convertTrajectoryContent(isRecord(part) ? part['text'] : part),
  );
}

function convertAtifSteps(steps: readonly Fields[]): ApiMessage[] {
  const messages: ApiMessage[] = [];
  const addMessage = (role: ApiMessage['role'], content: readonly Block[]): void => {
    if (content.length > 0) messages.push({ role, content });
  };
  for (const step of steps) {
    const blocks = convertTrajectoryContent(step['message']);
    if (step['source'] !== 'agent') {
      addMessage(step['source'] === 'system' ? 'system' : 'user', blocks);
      continue;
    }
    const thinking = stringifyValue(step['reasoning_content']);
    const calls = readList(step, 'tool_calls').filter(isRecord).map(makeAtifCall);
    addMessage('assistant', [...(thinking.trim() === '' ? [] : [{ type: 'thinking', thinking }]), ...blocks, ...calls]);
    const results = readList(readRecord(step, 'observation') ?? {}, 'results').filter(isRecord);
    const callResults = results.filter((result) => readString(result, 'source_call_id') !== undefined);
    addMessage('user', [
      ...callResults.map((result): Block => ({
        type: 'tool_result',
        tool_use_id: readString(result, 'source_call_id') ?? '',
        content: Array.isArray(result['content'])
          ? convertTrajectoryContent(result['content'])
          : stringifyValue(result['content']),
      })),
      ...results
        .filter((result) => !callResults.includes(result))
        .flatMap(({ content }) => convertTrajectoryContent(content)),
    ]);
  }
  return messages;
}

const makeAtifCall = (call: Fields): Block => ({
  type: 'tool_use',
  id: readString(call, 'tool_call_id') ?? '',
  name: readString(call, 'function_name') ?? '',
  input: call['arguments'] ?? {},
});

/**
 * SWE-agent's history has the form of Chat Completions, except that a result has a list of call ids
 * (`tool_call_ids`).
 */
function convertSweAgentHistory(history: readonly unknown[], source: string): ApiMessage[] {
  const messages = history.filter(isRecord).map(({ role, content, tool_calls: calls, tool_call_ids: ids }) => ({
    role,
    content: content ?? '',
    ...(Array.isArray(calls) && calls.length > 0 && { tool_calls: calls as readonly unknown[] }),
    ...(role === 'tool' && { tool_call_id: Array.isArray(ids) ? stringifyValue(ids[0]) : '' }),
  }));
  return [
    ...convertFromOpenAI(
      addSourceToShapeErrors(source, () =>
        messages.map((message, index) => checkOpenAIMessage(message, `history[${index}]`)),
      ),
    ),
  ];
}

const ACTIONS_NOT_SENT_TO_MODEL: ReadonlySet<unknown> = new Set([
  'change_agent_state',
  'recall',
  'null',
  'condensation',
]);

const OBSERVATIONS_NOT_SENT_TO_MODEL: ReadonlySet<string> = new Set(['agent_state_changed', 'null', 'condense']);

function convertOpenHandsEvents(
  events: readonly Fields[],
  skippedByKind: Map<string, number>,
  unknownByKind: Map<string, number>,
): ApiMessage[] {
  const messages: ApiMessage[] = [];
  const callIdByEventId = new Map<unknown, string>();
  const add = (role: ApiMessage['role'], content: readonly Block[]): void => {
    if (content.length === 0) return;
    const lastMessage = messages.at(-1);
    const isResult = (blocks: unknown): boolean =>
      Array.isArray(blocks) && (blocks as readonly Block[]).every(({ type }) => type === 'tool_result');
    // Results of one reply's calls follow each other and are joined into one message.
    if (lastMessage?.role === role && role === 'user' && isResult(lastMessage.content) && isResult(content)) {
      messages[messages.length - 1] = {
        ...lastMessage,
        content: [...(lastMessage.content as readonly Block[]), ...content],
      };
    } else messages.push({ role, content });
  };
  for (const event of events) {
    const args = readRecord(event, 'args') ?? {};
    const call = readRecord(event, 'tool_call_metadata');
    const id = (call && readString(call, 'tool_call_id')) ?? `event_${stringifyValue(event['id'])}`;
    const { action, observation } = event;
    if (action === 'message' || action === 'system') {
      const role = action === 'system' ? 'system' : event['source'] === 'user' ? 'user' : 'assistant';
      add(role, convertTrajectoryContent(args['content'] ?? event['message']));
    } else if (typeof action === 'string' && event['source'] === 'agent' && !ACTIONS_NOT_SENT_TO_MODEL.has(action)) {
      callIdByEventId.set(event['id'], id);
      add('assistant', [...convertTrajectoryContent(args['thought']), convertOpenHandsCall(action, id, args, call)]);
    } else if (typeof observation === 'string' && callIdByEventId.has(event['cause'])) {
      const result: Block = { type: 'tool_result', tool_use_id: callIdByEventId.get(event['cause']) ?? id };
      add('user', [
        { ...result, content: stringifyValue(event['content']), ...(observation === 'error' && { is_error: true }) },
      ]);
    } else {
      const kind = stringifyValue(action ?? observation) || 'unnamed';
      const kinds =
        ACTIONS_NOT_SENT_TO_MODEL.has(action) || OBSERVATIONS_NOT_SENT_TO_MODEL.has(kind)
          ? skippedByKind
          : unknownByKind;
      kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
    }
  }
  return messages;
}

/** Uses the model's original call if it was kept, else OpenHands' interpretation. */
function convertOpenHandsCall(action: string, id: string, args: Fields, call: Fields | undefined): Block {
  const [choice] = readList(readRecord(call ?? {}, 'model_response') ?? {}, 'choices');
  const firstCall = readList(readRecord(isRecord(choice) ? choice : {}, 'message') ?? {}, 'tool_calls')
    .filter(isRecord)
    .find((each) => each['id'] === id);
  const rawArguments = firstCall && readRecord(firstCall, 'function')?.['arguments'];
  const argumentsWithoutThought = Object.fromEntries(Object.entries(args).filter(([name]) => name !== 'thought'));
  return {
    type: 'tool_use',
    id,
    name: (call && readString(call, 'function_name')) ?? action,
    input: typeof rawArguments === 'string' ? parseArguments(rawArguments) : argumentsWithoutThought,
  };
}

/**
 * The model never gets these events. Source: OpenHands/software-agent-sdk, LLMConvertibleEvent and
 * its subclasses.
 */
const V1_EVENTS_NOT_SENT_TO_MODEL: ReadonlySet<string> = new Set([
  'ConversationStateUpdateEvent',
  'ConversationErrorEvent',
  'PauseEvent',
  'TokenEvent',
  'LLMCompletionLogEvent',
  'CondensationRequest',
  'Condensation',
  'InterruptEvent',
]);

/**
 * Actions of one reply share `llm_response_id`; an observation, error or rejection with its
 * `tool_call_id` answers each.
 */
function convertOpenHandsV1Events(
  events: readonly Fields[],
  isActive: boolean,
  passedOver: Map<string, number>,
  unknownByKind: Map<string, number>,
): ApiMessage[] {
  const messages: ApiMessage[] = [];
  let openReply: { readonly key: string; readonly blocks: Block[] } | undefined;
  const addMessage = (role: ApiMessage['role'], content: readonly Block[], key?: string): void => {
    if (content.length === 0) return;
    if (key !== undefined && openReply?.key === key) {
      openReply.blocks.push(...content);
      return;
    }
    openReply = key === undefined ? undefined : { key, blocks: [...content] };
    messages.push({ role, content: openReply?.blocks ?? content });
  };
  // Results may arrive before the reply's last call, so they move after the reply.
  const orderedEvents = mergeReplyEvents(isActive ? applyCondensationEvents(events) : events);
  for (const event of orderedEvents) {
    const kind = readString(event, 'kind') ?? 'unnamed';
    const id = readString(event, 'tool_call_id');
    switch (kind) {
      case 'SystemPromptEvent':
        addMessage('system', convertV1Content(readRecord(event, 'system_prompt')));
        break;
      case 'MessageEvent': {
        const message = readRecord(event, 'llm_message') ?? {};
        const thinking = stringifyValue(message['reasoning_content']);
        const blocks = [...readList(message, 'content'), ...readList(event, 'extended_content')].flatMap(
          convertV1Content,
        );
        const isReply =
          message['role'] === 'assistant' || (message['role'] === undefined && event['source'] === 'agent');
        addMessage(isReply ? 'assistant' : 'user', [...(isReply ? makeThinkingBlocks(thinking) : []), ...blocks]);
        break;
      }
      case 'ActionEvent':
        addMessage(
          'assistant',
          [
            ...makeThinkingBlocks(stringifyValue(event['reasoning_content'])),
            ...readList(event, 'thought').flatMap(convertV1Content),
            ...convertV1Call(event),
          ],
          `reply ${readString(event, 'llm_response_id') ?? stringifyValue(event['id'])}`,
        );
        break;
      case 'ObservationEvent':
      case 'UserRejectObservation':
      case 'AgentErrorEvent':
        if (id !== undefined) addMessage('user', [convertV1Result(event, kind, id)], 'results');
        break;
      case 'CondensationSummaryEvent':
        addMessage('user', convertV1Content(event['summary']));
        break;
      default: {
        const countByKind = V1_EVENTS_NOT_SENT_TO_MODEL.has(kind) ? passedOver : unknownByKind;
        countByKind.set(kind, (countByKind.get(kind) ?? 0) + 1);
      }
    }
  }
  return messages;
}

function applyCondensationEvents(events: readonly Fields[]): readonly Fields[] {
  let visibleEvents: Fields[] = [];
  for (const event of events) {
    if (event['kind'] !== 'Condensation') {
      visibleEvents.push(event);
      continue;
    }
    const forgottenIds = new Set<unknown>([
      ...readList(event, 'forgotten_event_ids'),
      ...visibleEvents.filter(({ kind }) => kind === 'CondensationSummaryEvent').map(({ id }) => id),
    ]);
    visibleEvents = visibleEvents.filter((each) => !forgottenIds.has(each['id']));
    const summary = readString(event, 'summary');
    if (summary === undefined) continue;
    const summaryIndex = typeof event['summary_offset'] === 'number' ? event['summary_offset'] : visibleEvents.length;
    visibleEvents.splice(summaryIndex, 0, {
      kind: 'CondensationSummaryEvent',
      id: `${stringifyValue(event['id'])}-summary`,
      summary,
    });
  }
  return visibleEvents;
}

function mergeReplyEvents(events: readonly Fields[]): readonly Fields[] {
  const lastIndexByReply = new Map<string, number>();
  events.forEach((event, index) => {
    const reply = event['kind'] === 'ActionEvent' ? readString(event, 'llm_response_id') : undefined;
    if (reply !== undefined) lastIndexByReply.set(reply, index);
  });
  const orderedEvents: Fields[] = [];
  let deferredEvents: Fields[] = [];
  let lastReply = -1;
  events.forEach((event, index) => {
    const reply = event['kind'] === 'ActionEvent' ? readString(event, 'llm_response_id') : undefined;
    if (reply !== undefined) lastReply = Math.max(lastReply, lastIndexByReply.get(reply) ?? index);
    if (reply === undefined && index < lastReply) deferredEvents.push(event);
    else orderedEvents.push(event);
    if (index >= lastReply) {
      orderedEvents.push(...deferredEvents);
      deferredEvents = [];
    }
  });
  return [...orderedEvents, ...deferredEvents];
}

const makeThinkingBlocks = (thinking: string): Block[] =>
  thinking.trim() === '' ? [] : [{ type: 'thinking', thinking }];

function convertV1Content(content: unknown): Block[] {
  if (!isRecord(content)) return convertTrajectoryContent(content);
  const urls = readList(content, 'image_urls').filter((url) => typeof url === 'string');
  if (urls.length > 0) return urls.map((url) => ({ type: 'image', source: convertImageUrl(url) }));
  return convertTrajectoryContent(content['text'] === undefined ? [content] : content['text']);
}

function convertV1Call(event: Fields): Block[] {
  const call = readRecord(event, 'tool_call') ?? {};
  const id = readString(event, 'tool_call_id') ?? readString(call, 'id');
  const name =
    readString(event, 'tool_name') ??
    readString(call, 'name') ??
    readString(readRecord(call, 'function') ?? {}, 'name');
  if (id === undefined || name === undefined) return [];
  const rawArguments = call['arguments'] ?? readRecord(call, 'function')?.['arguments'];
  const { kind: _kind, ...action } = readRecord(event, 'action') ?? {};
  return [
    {
      type: 'tool_use',
      id,
      name,
      input: typeof rawArguments === 'string' ? parseArguments(rawArguments) : (rawArguments ?? action),
    },
  ];
}

function convertV1Result(event: Fields, kind: string, id: string): Block {
  if (kind === 'AgentErrorEvent') {
    return {
      type: 'tool_result',
      tool_use_id: id,
      content: stringifyValue(event['error']) || 'The tool failed.',
      is_error: true,
    };
  }
  if (kind === 'UserRejectObservation') {
    return {
      type: 'tool_result',
      tool_use_id: id,
      content: stringifyValue(event['rejection_reason']) || 'Rejected by the user.',
      is_error: true,
    };
  }
  const observation = readRecord(event, 'observation') ?? {};
  const content = observation['content'] ?? observation['output'] ?? observation['message'];
  const blocks = Array.isArray(content) ? content.flatMap(convertV1Content) : convertTrajectoryContent(content ?? '');
  const isFailed = observation['is_error'] === true;
  return {
    type: 'tool_result',
    tool_use_id: id,
    content: isFailed && blocks.length === 0 ? 'The tool failed.' : blocks,
    ...(isFailed && { is_error: true }),
  };
}
