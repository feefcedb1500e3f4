/**
 * Claude Code moves an attachment up to the preceding answer or results. Text in the user's role
 * goes before the following prompt. Text in the system's role goes after it, and so do words typed
 * in mid-turn if the model accepts system messages. Source: 2.1.332 (`rZo`), and recorded requests
 * (additions.test.ts).
 */
import { getBlocks, isToolResult, isToolUse } from '../../../core/messages/blocks';
import type { ApiMessage, Block } from '../../../core/messages/types';
import { stringifyValue } from '../../text/values';
import type { AttachmentUse } from './attachments';
import type { ClaudeCodeRecord } from './record';

type AttachmentAddition = Extract<AttachmentUse, { readonly kind: 'agent' | 'person' }>;
type AgentAddition = Extract<AttachmentUse, { readonly kind: 'agent' }>;

export function insertAttachmentMessages(
  messages: readonly ApiMessage[],
  getPlace: (record: ClaudeCodeRecord) => number | undefined,
  branch: readonly ClaudeCodeRecord[],
): readonly ApiMessage[] {
  let insertionIndex = -1;
  const placedAdditions: { readonly index: number; readonly addition: AttachmentAddition }[] = [];
  for (const record of branch) {
    const messageIndex = getPlace(record);
    if (messageIndex !== undefined && !isPromptMessage(messages[messageIndex]))
      insertionIndex = Math.max(insertionIndex, skipToolResults(messages, messageIndex));
    const sending = record.attachment?.sending;
    if (sending?.kind !== 'agent' && sending?.kind !== 'person') continue;
    const addition = adaptRoleToModel(sending, findModelAnsweringAt(messages, insertionIndex));
    const isAfterPrompts =
      addition.kind === 'person'
        ? acceptsSystemMessages(findModelAnsweringAt(messages, insertionIndex))
        : addition.role === 'system';
    placedAdditions.push({ index: isAfterPrompts ? skipPrompts(messages, insertionIndex) : insertionIndex, addition });
  }
  if (placedAdditions.length === 0) return messages;
  const additionsByIndex = Map.groupBy(placedAdditions, ({ index }) => index);
  const getAdditionsAt = (index: number): readonly ApiMessage[] =>
    toAdditionMessages((additionsByIndex.get(index) ?? []).map(({ addition }) => addition));
  return [...getAdditionsAt(-1), ...messages.flatMap((message, index) => [message, ...getAdditionsAt(index)])];
}

/**
 * These models accept system messages only at the start. Source: 2.1.332 (`pk`: models before
 * claude-opus-4-8 in `Zf`, and Claude 3), and requests to claude-sonnet-4-5.
 */
const MODELS_WITHOUT_SYSTEM_MESSAGES = /claude-3-|claude-(?:opus|sonnet|haiku)-4(?:-[0-7])?(?:-\d{8})?(?!-?\d)/;

const acceptsSystemMessages = (model: string): boolean => !MODELS_WITHOUT_SYSTEM_MESSAGES.test(model);

const adaptRoleToModel = (addition: AttachmentAddition, model: string): AttachmentAddition =>
  addition.kind === 'agent' && !acceptsSystemMessages(model) ? { ...addition, role: 'user' } : addition;

/**
 * The model that received the message: that of the next answer, or else of the last answer before
 * it.
 */
function findModelAnsweringAt(messages: readonly ApiMessage[], place: number): string {
  const isAnswer = ({ role }: ApiMessage): boolean => role === 'assistant';
  const answer = messages.slice(place + 1).find(isAnswer) ?? messages.slice(0, place + 1).findLast(isAnswer);
  return stringifyValue(answer?.['model']);
}

const isPromptMessage = (message: ApiMessage | undefined): boolean =>
  message?.role === 'user' && !getBlocks(message).some(isToolResult);

/** Nothing may come between calls and their results. */
function skipToolResults(messages: readonly ApiMessage[], place: number): number {
  const message = messages[place];
  const nextMessage = messages[place + 1];
  const isAnswered =
    message?.role === 'assistant' &&
    getBlocks(message).some(isToolUse) &&
    nextMessage?.role === 'user' &&
    getBlocks(nextMessage).some(isToolResult);
  return isAnswered ? place + 1 : place;
}

function skipPrompts(messages: readonly ApiMessage[], place: number): number {
  let lastPromptIndex = place;
  while (isPromptMessage(messages[lastPromptIndex + 1])) lastPromptIndex += 1;
  return lastPromptIndex;
}

function toAdditionMessages(additions: readonly AttachmentAddition[]): readonly ApiMessage[] {
  const orderedAdditions = [
    ...additions.filter((addition) => addition.kind === 'person' || addition.role === 'user'),
    ...additions.filter((addition) => addition.kind === 'agent' && addition.role === 'system'),
  ];
  const messages: ApiMessage[] = [];
  let openGroup: (Pick<AgentAddition, 'role' | 'isRenewed'> & { readonly content: Block[] }) | undefined;
  for (const addition of orderedAdditions) {
    if (addition.kind === 'person') {
      messages.push({ role: 'user', content: addition.content });
      openGroup = undefined;
      continue;
    }
    const { role, isRenewed } = addition;
    if (openGroup?.role !== role || openGroup.isRenewed !== isRenewed) {
      openGroup = { role, isRenewed, content: [] };
      messages.push(toAdditionMessage(openGroup.content, addition));
    }
    openGroup.content.push(...addition.content);
  }
  return messages;
}

/**
 * All APIs accept the user's role; `sentAs` records a different original one. A resumed session
 * sends the message again if `isRenewed`.
 */
const toAdditionMessage = (content: readonly Block[], { role, isRenewed }: AgentAddition): ApiMessage => ({
  role: 'user',
  content,
  addedByAgent: true,
  ...(role === 'system' && { sentAs: role }),
  ...(isRenewed && { isRenewed }),
});
