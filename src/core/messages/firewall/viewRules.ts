import { looksLikeMarker } from '../markers';
import { getBlocks, isAnyThinking, isRecord, isText, isToolResult } from '../blocks';
import { findStartOfUnfinishedTurn } from '../task';
import type { ApiMessage, Block, ToolResultBlock } from '../types';
import type { BlockPosition, Violation } from './violation';
import { isEqual } from '../../isEqual';

/** Origin of a summary, which replaces the missing messages next to it. */
export const SUMMARY_ORIGIN = -1;

/**
 * @param origins for each message of the view, its index in the original, or {@link SUMMARY_ORIGIN}
 */
export function checkView(
  original: readonly ApiMessage[],
  view: readonly ApiMessage[],
  origins: readonly number[] = original.map((_, index) => index),
): Violation[] {
  const violations: Violation[] = [];
  if (view.length !== origins.length) {
    violations.push({
      rule: 'messages-kept',
      message: Math.min(view.length, origins.length),
      detail: `${view.length} messages stand where ${origins.length} should`,
    });
  }
  view.forEach((message, index) => {
    const originalMessage = original[origins[index] ?? -1];
    if (!originalMessage || message === originalMessage) return;
    violations.push(...checkMessageUnchanged(originalMessage, message, index));
  });
  violations.push(
    ...checkMessageOrder(origins, original.length),
    ...checkTaskUnchanged(original, view),
    ...checkThinkingAtTurnStart(original, view, origins),
  );
  return violations;
}

const dropThinkingBlocks = (blocks: readonly Block[]): Block[] => blocks.filter((block) => !isAnyThinking(block));

function checkMessageOrder(origins: readonly number[], length: number): Violation[] {
  let lastOrigin = -1;
  let followsSummary = false;
  for (const [message, origin] of [...origins, length].entries()) {
    if (origin === SUMMARY_ORIGIN) {
      followsSummary = true;
      continue;
    }
    if (origin <= lastOrigin) return [{ rule: 'messages-kept', message, detail: 'the order of messages changed' }];
    if (origin > lastOrigin + 1 && !followsSummary) {
      return [{ rule: 'messages-kept', message, detail: `message ${lastOrigin + 1} of the original is missing` }];
    }
    lastOrigin = origin;
    followsSummary = false;
  }
  return [];
}

const findFirstUserMessage = (messages: readonly ApiMessage[]): number =>
  messages.findIndex((message) => message.role === 'user');

function checkTaskUnchanged(original: readonly ApiMessage[], view: readonly ApiMessage[]): Violation[] {
  const originalTask = original[findFirstUserMessage(original)];
  const messageIndex = findFirstUserMessage(view);
  if (!originalTask || view[messageIndex] === originalTask || isEqual(view[messageIndex], originalTask)) return [];
  return [
    { rule: 'task-kept', message: Math.max(messageIndex, 0), detail: 'the first user message (the task) was changed' },
  ];
}

const beginsWithThinking = (message: ApiMessage | undefined): boolean =>
  getBlocks(message ?? { role: 'assistant', content: [] })
    .slice(0, 1)
    .some(isAnyThinking);

/**
 * With a thinking budget, Anthropic requires the first answer of the open turn to begin with its
 * thinking: "When `thinking` is enabled, a final `assistant` message must start with a thinking
 * block". If a summary includes the start of the turn, the next answer may have lost its thinking
 * earlier.
 */
function checkThinkingAtTurnStart(
  original: readonly ApiMessage[],
  view: readonly ApiMessage[],
  origins: readonly number[],
): Violation[] {
  if (view.at(-1)?.role !== 'user') return [];
  const message = findStartOfUnfinishedTurn(view) + 1;
  const originalMessage = original[origins[message] ?? -1];
  if (
    origins[message - 1] === SUMMARY_ORIGIN ||
    !beginsWithThinking(originalMessage) ||
    beginsWithThinking(view[message])
  )
    return [];
  return [{ rule: 'thinking-kept', message, detail: 'the answer that the open turn began with lost its thinking' }];
}

/** Fields that condensation may change. A Map, since a block type may be "constructor". */
const CHANGEABLE_FIELDS: ReadonlyMap<string, readonly string[]> = new Map([
  ['text', ['text']],
  ['tool_use', ['input']],
  ['tool_result', ['content']],
]);

function checkMessageUnchanged(originalMessage: ApiMessage, viewMessage: ApiMessage, message: number): Violation[] {
  const violations: Violation[] = [];
  if (!haveSameFields(originalMessage, viewMessage, ['content'])) {
    violations.push({ rule: 'fields-kept', message, detail: 'a field of the message changed' });
  }
  const [oldContent, newContent] = [originalMessage.content, viewMessage.content];
  if (typeof oldContent === 'string' || typeof newContent === 'string') {
    if (typeof oldContent !== typeof newContent)
      violations.push({ rule: 'structure-kept', message, detail: 'string and block content were exchanged' });
    return violations;
  }
  // A view may leave out a whole thinking block; all other blocks keep their positions.
  const expectedBlocks = newContent.some(isAnyThinking) ? oldContent : dropThinkingBlocks(oldContent);
  if (expectedBlocks.length !== newContent.length) {
    const rule =
      oldContent.filter(isAnyThinking).length === newContent.filter(isAnyThinking).length
        ? 'structure-kept'
        : 'thinking-kept';
    violations.push({
      rule,
      message,
      detail: `${newContent.length} blocks stand where ${expectedBlocks.length} should`,
    });
    return violations;
  }
  newContent.forEach((block, at) => violations.push(...checkBlockUnchanged(expectedBlocks[at], block, message, at)));
  return violations;
}

function checkBlockUnchanged(
  originalBlock: Block | undefined,
  viewBlock: Block,
  message: number,
  block: number,
): Violation[] {
  if (!originalBlock || originalBlock === viewBlock) return [];
  const place = { message, block };
  if (isMarkerForImage(viewBlock, originalBlock)) return [];
  if (originalBlock.type !== viewBlock.type) {
    return [{ rule: 'structure-kept', ...place, detail: `a ${originalBlock.type} became a ${viewBlock.type}` }];
  }
  if (isAnyThinking(originalBlock)) {
    return isEqual(originalBlock, viewBlock)
      ? []
      : [{ rule: 'thinking-kept', ...place, detail: 'thinking is signed and must not change' }];
  }
  const violations: Violation[] = [];
  const getId = (value: Block): unknown => value['id'] ?? value['tool_use_id'];
  if (getId(originalBlock) !== getId(viewBlock))
    violations.push({ rule: 'ids-kept', ...place, detail: 'the id changed' });
  if (!haveSameFields(originalBlock, viewBlock, CHANGEABLE_FIELDS.get(originalBlock.type) ?? [])) {
    violations.push({ rule: 'fields-kept', ...place, detail: `a field of the ${originalBlock.type} changed` });
  }
  if (isToolResult(originalBlock) && isToolResult(viewBlock))
    violations.push(...checkResultUnchanged(originalBlock, viewBlock, place));
  return violations;
}

/** A text that is exactly one marker may replace an image. */
const isMarkerForImage = (after: Block, before: Block): boolean =>
  before.type === 'image' && isText(after) && Object.keys(after).length === 2 && looksLikeMarker(after.text);

/**
 * Checks that text in a result is still text, and that anything else (an image) has kept its
 * position.
 */
function checkResultUnchanged(before: ToolResultBlock, after: ToolResultBlock, place: BlockPosition): Violation[] {
  const [oldContent, newContent] = [before.content, after.content];
  if (!Array.isArray(oldContent) || !Array.isArray(newContent)) {
    return typeof oldContent === typeof newContent && Array.isArray(oldContent) === Array.isArray(newContent)
      ? []
      : [{ rule: 'structure-kept', ...place, detail: 'the content of a result changed its form' }];
  }
  const isPartKept =
    oldContent.length === newContent.length &&
    (oldContent as readonly Block[]).every((part, index) => {
      const newPart = (newContent as readonly Block[])[index];
      return (
        part === newPart ||
        (isRecord(part) &&
          isRecord(newPart) &&
          (haveSameFields(part, newPart, ['text', 'result']) || isMarkerForImage(newPart, part)))
      );
    });
  return isPartKept ? [] : [{ rule: 'structure-kept', ...place, detail: 'a part of a result was lost or changed' }];
}

function haveSameFields(
  original: Readonly<Record<string, unknown>>,
  edited: Readonly<Record<string, unknown>>,
  but: readonly string[],
): boolean {
  const keys = new Set([...Object.keys(original), ...Object.keys(edited)]);
  for (const key of but) keys.delete(key);
  return [...keys].every((key) => original[key] === edited[key] || isEqual(original[key], edited[key]));
}
