/**
 * The firewall: what every view passes before anyone sees it. `checkConversation` knows what the APIs refuse,
 * `checkView` what a condensation must not do to the conversation it was made from, and `newViolations` is the verdict:
 * what is wrong with the view and was not already wrong with the conversation.
 *
 * Sources: Anthropic API reference ("Messages", "Tool use", "Extended thinking", "Prompt caching") and the 400s that
 * agents' users reported.
 */
import { isDeepStrictEqual } from 'node:util';
import { blocksOf, isAnyThinking, isRecord, isText, isToolResult, isToolUse } from './blocks';
import type { ApiMessage, Block, ToolResultBlock } from './types';

export type Rule =
  | 'first-is-user'
  | 'text-not-blank'
  | 'call-answered'
  | 'result-has-call'
  | 'result-once'
  | 'results-first'
  | 'server-pair-kept'
  | 'ids-unique'
  | 'input-is-object'
  | 'error-has-text'
  | 'cache-marks'
  | 'tools-declared'
  | 'messages-kept'
  | 'task-kept'
  | 'structure-kept'
  | 'ids-kept'
  | 'thinking-kept'
  | 'fields-kept';

export interface Violation {
  readonly rule: Rule;
  /** Index of the message in the checked list. */
  readonly message: number;
  /** Index of the block, where one is meant. */
  readonly block?: number;
  /** What is wrong, in words. */
  readonly detail: string;
}

/** The API counts breakpoints over system, tools and messages together. */
export const MAX_CACHE_MARKS = 4;

export interface CheckOptions {
  /** The request's tool declarations; undefined where the caller doesn't know them. */
  readonly tools?: readonly unknown[];
  /** Cache marks that system and tools carry. */
  readonly otherCacheMarks?: number;
}

/** Everything in a conversation that an API would refuse. */
export function checkConversation(messages: readonly ApiMessage[], options: CheckOptions = {}): Violation[] {
  return [
    ...checkFirst(messages),
    ...messages.flatMap(checkMessage),
    ...checkPairs(messages),
    ...checkCacheMarks(messages, options.otherCacheMarks ?? 0),
    ...checkTools(messages, options.tools),
  ];
}

/**
 * What a view changed that no view may change.
 * @param origins for each message of the view, its index in the original.
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
    const before = original[origins[index] ?? -1];
    if (!before || message === before) return;
    violations.push(...checkMessageKept(before, message, index));
  });
  violations.push(...checkOrder(origins), ...checkTask(original, view));
  return violations;
}

/** The verdict on a view: its own violations less those that the original already had, and what it changed unlawfully. */
export function newViolations(
  original: readonly ApiMessage[],
  view: readonly ApiMessage[],
  options: CheckOptions & { readonly origins?: readonly number[] } = {},
): Violation[] {
  const origins = options.origins ?? original.map((_, index) => index);
  const blamed = new Map<string, number>();
  for (const violation of checkConversation(original, options)) {
    const key = keyOf(violation, violation.message);
    blamed.set(key, (blamed.get(key) ?? 0) + 1);
  }
  const own = checkConversation(view, options).filter((violation) => {
    const key = keyOf(violation, origins[violation.message] ?? violation.message);
    const left = blamed.get(key) ?? 0;
    if (left > 0) blamed.set(key, left - 1);
    return left === 0;
  });
  return [...own, ...checkView(original, view, origins)];
}

const keyOf = (violation: Violation, message: number): string =>
  `${violation.rule} ${message} ${violation.block ?? ''}`;

function checkFirst(messages: readonly ApiMessage[]): Violation[] {
  const index = messages.findIndex((message) => message.role !== 'system');
  const first = messages[index];
  return first && first.role !== 'user'
    ? [{ rule: 'first-is-user', message: index, detail: `the first message is the ${first.role}'s` }]
    : [];
}

const isBlank = (text: string): boolean => text.trim() === '';

function checkMessage(message: ApiMessage, index: number, all: readonly ApiMessage[]): Violation[] {
  if (typeof message.content === 'string') {
    return isBlank(message.content) ? [{ rule: 'text-not-blank', message: index, detail: 'the message is blank' }] : [];
  }
  // Only the assistant's last message may be empty (a reply to be continued).
  const isLastReply = message.role === 'assistant' && index === all.length - 1;
  if (message.content.length === 0 && !isLastReply) {
    return [{ rule: 'text-not-blank', message: index, detail: 'the message has no content' }];
  }
  return message.content.flatMap((block, at) => checkBlock(block, index, at));
}

function checkBlock(block: Block, message: number, at: number): Violation[] {
  const where = { message, block: at };
  if (isText(block) && isBlank(block.text)) return [{ rule: 'text-not-blank', ...where, detail: 'the text is blank' }];
  if (isToolUse(block) && !isRecord(block.input)) {
    return [{ rule: 'input-is-object', ...where, detail: `the input of ${block.name} is no object` }];
  }
  if (isToolResult(block)) return checkResult(block, where);
  return [];
}

function checkResult(block: ToolResultBlock, where: { message: number; block: number }): Violation[] {
  const violations: Violation[] = [];
  const parts = Array.isArray(block.content) ? (block.content as readonly Block[]) : [];
  if (parts.some((part) => isText(part) && isBlank(part.text))) {
    violations.push({ rule: 'text-not-blank', ...where, detail: 'the result holds a blank text' });
  }
  if (block.is_error === true) {
    const onlyText =
      typeof block.content === 'string' ? !isBlank(block.content) : parts.length > 0 && parts.every(isText);
    if (!onlyText)
      violations.push({ rule: 'error-has-text', ...where, detail: 'an error needs a text that says what failed' });
  }
  return violations;
}

/** Calls and results, by messages: results first in the very next user message, each call once. */
function checkPairs(messages: readonly ApiMessage[]): Violation[] {
  const violations: Violation[] = [];
  const used = new Set<string>();
  let open = new Map<string, { message: number; block: number }>();
  const closeOpen = (): void => {
    for (const [id, at] of open) violations.push({ rule: 'call-answered', ...at, detail: `${id} has no result` });
    open = new Map();
  };
  let previous: ApiMessage | undefined;
  messages.forEach((message, index) => {
    if (message.role === 'system') return;
    // Consecutive messages of one role are one to the API.
    const continues = previous?.role === message.role;
    if (message.role === 'assistant') {
      if (!continues) closeOpen();
      collectCalls(message, index, used, open, violations);
    } else {
      const blocks = blocksOf(message);
      const answered = new Set<string>();
      const startsWithOther = continues && previous ? !endsInResults(previous) : false;
      violations.push(...checkResults(blocks, index, open, answered, startsWithOther));
      for (const id of answered) open.delete(id);
      if (!continuesInNext(messages, index)) closeOpen();
    }
    previous = message;
  });
  // A conversation may end with calls that are about to be answered.
  return violations;
}

const endsInResults = (message: ApiMessage): boolean => {
  const blocks = blocksOf(message);
  return blocks.length > 0 && blocks.every(isToolResult);
};

const continuesInNext = (messages: readonly ApiMessage[], index: number): boolean => {
  const next = messages.slice(index + 1, index + 2)[0];
  return next?.role === 'user';
};

function collectCalls(
  message: ApiMessage,
  index: number,
  used: Set<string>,
  open: Map<string, { message: number; block: number }>,
  violations: Violation[],
): void {
  const server = new Set<string>();
  blocksOf(message).forEach((block, at) => {
    const where = { message: index, block: at };
    if (isToolUse(block)) {
      if (used.has(block.id)) violations.push({ rule: 'ids-unique', ...where, detail: `${block.id} is used twice` });
      used.add(block.id);
      open.set(block.id, where);
      return;
    }
    const id = serverCallId(block);
    if (id !== undefined) server.add(id);
    const answered = serverResultId(block);
    if (answered !== undefined && !server.delete(answered)) {
      violations.push({
        rule: 'server-pair-kept',
        ...where,
        detail: `${answered} has no call before it in its message`,
      });
    }
  });
  for (const id of server) {
    violations.push({ rule: 'server-pair-kept', message: index, detail: `${id} has no result in its message` });
  }
}

const serverCallId = (block: Block): string | undefined =>
  (block.type === 'server_tool_use' || block.type === 'mcp_tool_use') && typeof block['id'] === 'string'
    ? block['id']
    : undefined;

/** `web_search_tool_result`, `mcp_tool_result` and the like carry the id of their call, and stand in the assistant's message. */
const serverResultId = (block: Block): string | undefined =>
  block.type !== 'tool_result' && block.type.endsWith('_tool_result') && typeof block['tool_use_id'] === 'string'
    ? block['tool_use_id']
    : undefined;

function checkResults(
  blocks: readonly Block[],
  message: number,
  open: ReadonlyMap<string, unknown>,
  answered: Set<string>,
  startsWithOther: boolean,
): Violation[] {
  const violations: Violation[] = [];
  let other = startsWithOther;
  blocks.forEach((block, at) => {
    if (!isToolResult(block)) {
      other = true;
      return;
    }
    const where = { message, block: at };
    const id = block.tool_use_id;
    if (answered.has(id)) violations.push({ rule: 'result-once', ...where, detail: `${id} is answered twice` });
    else if (!open.has(id)) {
      violations.push({ rule: 'result-has-call', ...where, detail: `no call ${id} in the message before` });
    }
    if (other)
      violations.push({ rule: 'results-first', ...where, detail: `the result of ${id} stands behind other content` });
    answered.add(id);
  });
  return violations;
}

function checkCacheMarks(messages: readonly ApiMessage[], others: number): Violation[] {
  let marks = others;
  const violations: Violation[] = [];
  messages.forEach((message, index) => {
    blocksOf(message).forEach((block, at) => {
      const inner = Array.isArray(block['content']) ? (block['content'] as unknown[]) : [];
      const own = [block, ...inner].filter((part) => isRecord(part) && isRecord(part['cache_control'])).length;
      marks += own;
      if (own > 0 && marks > MAX_CACHE_MARKS) {
        violations.push({
          rule: 'cache-marks',
          message: index,
          block: at,
          detail: `more than ${MAX_CACHE_MARKS} cache marks`,
        });
      }
    });
  });
  return violations;
}

function checkTools(messages: readonly ApiMessage[], tools: readonly unknown[] | undefined): Violation[] {
  if (tools === undefined || tools.length > 0) return [];
  const index = messages.findIndex((message) =>
    blocksOf(message).some((block) => isToolUse(block) || isToolResult(block)),
  );
  return index < 0
    ? []
    : [
        {
          rule: 'tools-declared',
          message: index,
          detail: 'the history holds tool blocks and the request declares no tools',
        },
      ];
}

function checkOrder(origins: readonly number[]): Violation[] {
  const at = origins.findIndex((origin, index) => index > 0 && origin <= (origins[index - 1] ?? -1));
  return at < 0 ? [] : [{ rule: 'messages-kept', message: at, detail: 'the order of messages changed' }];
}

const firstUser = (messages: readonly ApiMessage[]): number => messages.findIndex((message) => message.role === 'user');

/** The task: the first user message stands as it was. */
function checkTask(original: readonly ApiMessage[], view: readonly ApiMessage[]): Violation[] {
  const before = original[firstUser(original)];
  const at = firstUser(view);
  if (!before || view[at] === before || isDeepStrictEqual(view[at], before)) return [];
  return [{ rule: 'task-kept', message: Math.max(at, 0), detail: 'the first user message (the task) was changed' }];
}

/** Fields whose change is what a condensation is for; all others stay. */
const CHANGEABLE: Readonly<Record<string, readonly string[]>> = {
  text: ['text'],
  tool_use: ['input'],
  tool_result: ['content'],
};

function checkMessageKept(before: ApiMessage, after: ApiMessage, message: number): Violation[] {
  const violations: Violation[] = [];
  if (!sameFields(before, after, ['content'])) {
    violations.push({ rule: 'fields-kept', message, detail: 'a field of the message changed' });
  }
  const [old, now] = [before.content, after.content];
  if (typeof old === 'string' || typeof now === 'string') {
    if (typeof old !== typeof now)
      violations.push({ rule: 'structure-kept', message, detail: 'string and block content were exchanged' });
    return violations;
  }
  // Thinking may be left out whole; all other blocks keep their places.
  const kept = now.some(isAnyThinking) ? old : old.filter((block) => !isAnyThinking(block));
  if (kept.length !== now.length) {
    const rule =
      old.filter(isAnyThinking).length === now.filter(isAnyThinking).length ? 'structure-kept' : 'thinking-kept';
    violations.push({ rule, message, detail: `${now.length} blocks stand where ${kept.length} should` });
    return violations;
  }
  now.forEach((block, at) => violations.push(...checkBlockKept(kept[at], block, message, at)));
  return violations;
}

function checkBlockKept(before: Block | undefined, after: Block, message: number, block: number): Violation[] {
  if (!before || before === after) return [];
  const where = { message, block };
  if (before.type !== after.type) {
    return [{ rule: 'structure-kept', ...where, detail: `a ${before.type} became a ${after.type}` }];
  }
  if (isAnyThinking(before)) {
    return isDeepStrictEqual(before, after)
      ? []
      : [{ rule: 'thinking-kept', ...where, detail: 'thinking is signed and must not change' }];
  }
  const violations: Violation[] = [];
  const idOf = (value: Block): unknown => value['id'] ?? value['tool_use_id'];
  if (idOf(before) !== idOf(after)) violations.push({ rule: 'ids-kept', ...where, detail: 'the id changed' });
  if (!sameFields(before, after, CHANGEABLE[before.type] ?? [])) {
    violations.push({ rule: 'fields-kept', ...where, detail: `a field of the ${before.type} changed` });
  }
  if (isToolResult(before) && isToolResult(after)) violations.push(...checkResultKept(before, after, where));
  return violations;
}

/** A result keeps its form: text stays text, and what is no text (an image) stays where it was. */
function checkResultKept(
  before: ToolResultBlock,
  after: ToolResultBlock,
  where: { message: number; block: number },
): Violation[] {
  const [old, now] = [before.content, after.content];
  if (!Array.isArray(old) || !Array.isArray(now)) {
    return typeof old === typeof now && Array.isArray(old) === Array.isArray(now)
      ? []
      : [{ rule: 'structure-kept', ...where, detail: 'the content of a result changed its form' }];
  }
  const kept =
    old.length === now.length &&
    (old as readonly Block[]).every((part, index) => {
      const other = (now as readonly Block[])[index];
      return part === other || (isRecord(part) && isRecord(other) && sameFields(part, other, ['text', 'result']));
    });
  return kept ? [] : [{ rule: 'structure-kept', ...where, detail: 'a part of a result was lost or changed' }];
}

function sameFields(
  before: Readonly<Record<string, unknown>>,
  after: Readonly<Record<string, unknown>>,
  but: readonly string[],
): boolean {
  const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
  for (const key of but) keys.delete(key);
  return [...keys].every((key) => before[key] === after[key] || isDeepStrictEqual(before[key], after[key]));
}
