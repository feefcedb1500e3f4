/**
 * Where a Claude Code request has what attachments say. Source: 2.1.332 (`rZo` and the normalization behind it), and recorded
 * requests (additions.test.ts): an attachment moves up to the answer or the results before it; text for the user's role stands in
 * front of the prompt that follows there, text for the system's role behind it. Words that a person typed in mid-turn go to models that
 * take system messages behind that prompt, too (2.1.332 resumed on sessions with such words behind a prompt, an interruption and a
 * summary, on claude-opus-4-8 and claude-sonnet-4-5).
 */
import { blocksOf, isToolResult, isToolUse } from '../../../core/messages/blocks';
import type { ApiMessage, Block } from '../../../core/messages/types';
import { asText } from '../../text/values';
import type { Sending } from './attachments';
import type { ClaudeCodeRecord } from './record';

/** An attachment that is part of a request. */
type Addition = Extract<Sending, { readonly kind: 'agent' | 'person' }>;
type AgentAddition = Extract<Sending, { readonly kind: 'agent' }>;

/**
 * @param messages what the records with a message were joined to
 * @param placeOf the index among them of what a record became part of
 * @param branch all records in the order of the conversation
 */
export function withAdditions(
  messages: readonly ApiMessage[],
  placeOf: (record: ClaudeCodeRecord) => number | undefined,
  branch: readonly ClaudeCodeRecord[],
): readonly ApiMessage[] {
  let stop = -1;
  const placed: { readonly behind: number; readonly addition: Addition }[] = [];
  for (const record of branch) {
    const place = placeOf(record);
    if (place !== undefined && !isPrompt(messages[place])) stop = Math.max(stop, behindResults(messages, place));
    const sending = record.attachment?.sending;
    if (sending?.kind !== 'agent' && sending?.kind !== 'person') continue;
    const addition = forModel(sending, modelAt(messages, stop));
    const isBehind = addition.kind === 'person' ? takesSystem(modelAt(messages, stop)) : addition.role === 'system';
    placed.push({ behind: isBehind ? behindPrompts(messages, stop) : stop, addition });
  }
  if (placed.length === 0) return messages;
  const additions = Map.groupBy(placed, ({ behind }) => behind);
  const at = (behind: number): readonly ApiMessage[] =>
    messagesOf((additions.get(behind) ?? []).map(({ addition }) => addition));
  return [...at(-1), ...messages.flatMap((message, index) => [message, ...at(index)])];
}

/**
 * Models that take no system message behind the first one: what is meant for that role is sent to them as a user's text, in front of the
 * prompt with all else. Source: 2.1.332 (`pk`: models before claude-opus-4-8 in `Zf`, and Claude 3), and requests to claude-sonnet-4-5.
 */
const WITHOUT_SYSTEM_MESSAGES = /claude-3-|claude-(?:opus|sonnet|haiku)-4(?:-[0-7])?(?:-\d{8})?(?!-?\d)/;

const takesSystem = (model: string): boolean => !WITHOUT_SYSTEM_MESSAGES.test(model);

const forModel = (addition: Addition, model: string): Addition =>
  addition.kind === 'agent' && !takesSystem(model) ? { ...addition, role: 'user' } : addition;

/** The model that a request with a message behind this place went to: the one that answers next, else the one that answered last. */
function modelAt(messages: readonly ApiMessage[], place: number): string {
  const isAnswer = ({ role }: ApiMessage): boolean => role === 'assistant';
  const answer = messages.slice(place + 1).find(isAnswer) ?? messages.slice(0, place + 1).findLast(isAnswer);
  return asText(answer?.['model']);
}

/** A user's message that answers no call. */
const isPrompt = (message: ApiMessage | undefined): boolean =>
  message?.role === 'user' && !blocksOf(message).some(isToolResult);

/** Nothing stands between calls and their results. */
function behindResults(messages: readonly ApiMessage[], place: number): number {
  const message = messages[place];
  const next = messages[place + 1];
  const isAnswered =
    message?.role === 'assistant' &&
    blocksOf(message).some(isToolUse) &&
    next?.role === 'user' &&
    blocksOf(next).some(isToolResult);
  return isAnswered ? place + 1 : place;
}

function behindPrompts(messages: readonly ApiMessage[], place: number): number {
  let behind = place;
  while (isPrompt(messages[behind + 1])) behind += 1;
  return behind;
}

/** Neighbors of one kind as one message, as they are sent; each prompt of a person as one of its own. */
function messagesOf(additions: readonly Addition[]): readonly ApiMessage[] {
  const ordered = [
    ...additions.filter((addition) => addition.kind === 'person' || addition.role === 'user'),
    ...additions.filter((addition) => addition.kind === 'agent' && addition.role === 'system'),
  ];
  const messages: ApiMessage[] = [];
  let open: (Pick<AgentAddition, 'role' | 'isRenewed'> & { readonly content: Block[] }) | undefined;
  for (const addition of ordered) {
    if (addition.kind === 'person') {
      messages.push({ role: 'user', content: addition.content });
      open = undefined;
      continue;
    }
    const { role, isRenewed } = addition;
    if (open?.role !== role || open.isRenewed !== isRenewed) {
      open = { role, isRenewed, content: [] };
      messages.push(addedMessage(open.content, addition));
    }
    open.content.push(...addition.content);
  }
  return messages;
}

/**
 * A message that the agent adds. It has the user's role, in which versions before system messages among the others sent it, and which
 * every API takes; `sentAs` says where it was sent in another one, and `isRenewed` that a session given back needs no copy of it.
 */
const addedMessage = (content: readonly Block[], { role, isRenewed }: AgentAddition): ApiMessage => ({
  role: 'user',
  content,
  addedByAgent: true,
  ...(role === 'system' && { sentAs: role }),
  ...(isRenewed && { isRenewed }),
});
