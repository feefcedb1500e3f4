/**
 * Records of runs that benchmarks and trainers keep: ATIF (1.0 to 1.7), SWE-agent's `.traj`, OpenHands' list of events. Sources:
 * Harbor's RFC 0001, SWE-agent's and OpenHands' documentation and files in public repositories.
 */
import { isRecord } from '../../core/messages/blocks';
import type { ApiMessage, Block } from '../../core/messages/types';
import { sourceId, sourceName } from '../conversationId';
import { countedKinds } from '../notes';
import { ConversationReadError } from '../readError';
import { MAX_DEPTH, isDeeperThan } from '../text/json';
import { type Fields, asText, listIn, recordIn, stringIn } from '../text/values';
import { titleOf } from '../title';
import type { Conversation, ReadOptions, Source } from '../types';
import { inSource } from './messageArray';
import { parseArguments } from './openai/arguments';
import { checkedOpenAI, fromOpenAI } from './openai/openai';
import { unansweredNote } from './unanswered';

const isAtif = (value: Fields): boolean =>
  stringIn(value, 'schema_version')?.startsWith('ATIF') === true && Array.isArray(value['steps']);
const isSweAgent = (value: Fields): boolean => Array.isArray(value['history']) && Array.isArray(value['trajectory']);
const eventsOf = (value: Fields): readonly unknown[] => [value['events'], value['history']].find(Array.isArray) ?? [];
const isOpenHands = (value: Fields): boolean => {
  const events = eventsOf(value).filter(isRecord);
  return (
    events.length > 0 &&
    events.slice(0, 20).every((event) => 'source' in event && ('action' in event || 'observation' in event))
  );
};

/** The document, where it is one of these; a bare list of OpenHands' events as its `events`. */
export function trajectoryOf(value: unknown): Fields | undefined {
  const document = Array.isArray(value) ? { events: value } : value;
  return isRecord(document) && (isAtif(document) || isSweAgent(document) || isOpenHands(document))
    ? document
    : undefined;
}

/** @throws {ConversationReadError} where there are no messages */
export function readTrajectory(
  document: Fields,
  source: Source,
  _options: ReadOptions,
  input: string | Uint8Array,
): Conversation {
  const name = sourceName(source);
  if (isDeeperThan(document, MAX_DEPTH)) throw wrong(name, 'a document that is nested too deeply');
  const passedOver = new Map<string, number>();
  const messages = isAtif(document)
    ? atifMessages(listIn(document, 'steps').filter(isRecord))
    : isSweAgent(document)
      ? sweAgentMessages(listIn(document, 'history'), name)
      : openHandsMessages(eventsOf(document).filter(isRecord), passedOver);
  if (messages.length === 0) throw wrong(name, 'no messages');
  const id = stringIn(document, 'session_id');
  return {
    id: id === undefined ? sourceId(source, input) : `atif:${id}`,
    format: 'trajectory',
    title: titleOf(messages),
    messages,
    notes: [
      ...(passedOver.size > 0 ? [`Left out because it is not sent to the model: ${countedKinds(passedOver)}.`] : []),
      ...unansweredNote(messages),
    ],
    sidechains: [],
  };
}

const wrong = (source: string, found: string): ConversationReadError =>
  new ConversationReadError({
    problem: 'wrong-shape',
    source,
    found,
    expected: 'an ATIF, SWE-agent or OpenHands trajectory with messages',
  });

/** Texts, and images by their address; ATIF 1.6 has lists of parts. */
function contentBlocks(content: unknown): Block[] {
  if (!Array.isArray(content)) {
    const text = asText(content);
    return text.trim() === '' ? [] : [{ type: 'text', text }];
  }
  return (content as readonly unknown[]).flatMap((part): Block[] =>
    isRecord(part) && typeof part['text'] !== 'string'
      ? [{ type: 'trajectory_part', part }]
      : contentBlocks(isRecord(part) ? part['text'] : part),
  );
}

function atifMessages(steps: readonly Fields[]): ApiMessage[] {
  const messages: ApiMessage[] = [];
  const add = (role: ApiMessage['role'], content: readonly Block[]): void => {
    if (content.length > 0) messages.push({ role, content });
  };
  for (const step of steps) {
    const words = contentBlocks(step['message']);
    if (step['source'] !== 'agent') {
      add(step['source'] === 'system' ? 'system' : 'user', words);
      continue;
    }
    const thinking = asText(step['reasoning_content']);
    const calls = listIn(step, 'tool_calls').filter(isRecord).map(atifCall);
    add('assistant', [...(thinking.trim() === '' ? [] : [{ type: 'thinking', thinking }]), ...words, ...calls]);
    const results = listIn(recordIn(step, 'observation') ?? {}, 'results').filter(isRecord);
    const answers = results.filter((result) => stringIn(result, 'source_call_id') !== undefined);
    add('user', [
      ...answers.map((result): Block => ({
        type: 'tool_result',
        tool_use_id: stringIn(result, 'source_call_id') ?? '',
        content: Array.isArray(result['content']) ? contentBlocks(result['content']) : asText(result['content']),
      })),
      // Results without a call are written like words.
      ...results.filter((result) => !answers.includes(result)).flatMap(({ content }) => contentBlocks(content)),
    ]);
  }
  return messages;
}

const atifCall = (call: Fields): Block => ({
  type: 'tool_use',
  id: stringIn(call, 'tool_call_id') ?? '',
  name: stringIn(call, 'function_name') ?? '',
  input: call['arguments'] ?? {},
});

/** SWE-agent's history is that of Chat Completions, but for the ids of calls, which stand in lists. */
function sweAgentMessages(history: readonly unknown[], source: string): ApiMessage[] {
  const messages = history.filter(isRecord).map(({ role, content, tool_calls: calls, tool_call_ids: ids }) => ({
    role,
    content: content ?? '',
    ...(Array.isArray(calls) && calls.length > 0 && { tool_calls: calls as readonly unknown[] }),
    ...(role === 'tool' && { tool_call_id: Array.isArray(ids) ? asText(ids[0]) : '' }),
  }));
  return [
    ...fromOpenAI(
      inSource(source, () => messages.map((message, index) => checkedOpenAI(message, `history[${index}]`))),
    ),
  ];
}

/** Actions that are words, and those that tell nothing to the model. */
const SILENT: ReadonlySet<unknown> = new Set(['change_agent_state', 'recall', 'null', 'condensation']);

function openHandsMessages(events: readonly Fields[], passedOver: Map<string, number>): ApiMessage[] {
  const messages: ApiMessage[] = [];
  const calls = new Map<unknown, string>();
  const add = (role: ApiMessage['role'], content: readonly Block[]): void => {
    if (content.length === 0) return;
    const last = messages.at(-1);
    const isResult = (blocks: unknown): boolean =>
      Array.isArray(blocks) && (blocks as readonly Block[]).every(({ type }) => type === 'tool_result');
    // Calls that one reply made, and their results, stand in a row.
    if (last?.role === role && role === 'user' && isResult(last.content) && isResult(content)) {
      messages[messages.length - 1] = { ...last, content: [...(last.content as readonly Block[]), ...content] };
    } else messages.push({ role, content });
  };
  for (const event of events) {
    const args = recordIn(event, 'args') ?? {};
    const call = recordIn(event, 'tool_call_metadata');
    const id = (call && stringIn(call, 'tool_call_id')) ?? `event_${asText(event['id'])}`;
    const { action, observation } = event;
    if (action === 'message' || action === 'system') {
      const role = action === 'system' ? 'system' : event['source'] === 'user' ? 'user' : 'assistant';
      add(role, contentBlocks(args['content'] ?? event['message']));
    } else if (typeof action === 'string' && event['source'] === 'agent' && !SILENT.has(action)) {
      calls.set(event['id'], id);
      add('assistant', [...contentBlocks(args['thought']), openHandsCall(action, id, args, call)]);
    } else if (typeof observation === 'string' && calls.has(event['cause'])) {
      const result: Block = { type: 'tool_result', tool_use_id: calls.get(event['cause']) ?? id };
      add('user', [
        { ...result, content: asText(event['content']), ...(observation === 'error' && { is_error: true }) },
      ]);
    } else {
      const kind = asText(action ?? observation) || 'unnamed';
      passedOver.set(kind, (passedOver.get(kind) ?? 0) + 1);
    }
  }
  return messages;
}

/** The call as the model made it where that was kept, else as OpenHands understood it. */
function openHandsCall(action: string, id: string, args: Fields, call: Fields | undefined): Block {
  const [choice] = listIn(recordIn(call ?? {}, 'model_response') ?? {}, 'choices');
  const made = listIn(recordIn(isRecord(choice) ? choice : {}, 'message') ?? {}, 'tool_calls')
    .filter(isRecord)
    .find((each) => each['id'] === id);
  const given = made && recordIn(made, 'function')?.['arguments'];
  const rest = Object.fromEntries(Object.entries(args).filter(([name]) => name !== 'thought'));
  return {
    type: 'tool_use',
    id,
    name: (call && stringIn(call, 'function_name')) ?? action,
    input: typeof given === 'string' ? parseArguments(given) : rest,
  };
}
