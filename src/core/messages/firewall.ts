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
  | 'fields-kept'
  | 'cuts-in-order'
  | 'reference-valid';

export interface Violation {
  readonly rule: Rule;
  /** Index of the message in the checked list. */
  readonly message: number;
  /** Index of the block, where one is meant. */
  readonly block?: number;
  /** What is wrong, in words. */
  readonly detail: string;
}

/** The origin of a summary: it stands for the messages that are missing beside it. */
export const SUMMARY_ORIGIN = -1;

/** The API counts breakpoints over system, tools and messages together. */
const MAX_CACHE_MARKS = 4;

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
 * @param origins for each message of the view, its index in the original, or {@link SUMMARY_ORIGIN}.
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
  violations.push(...checkOrder(origins, original.length), ...checkTask(original, view));
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
    const key = keyOf(violation, violation.message, original);
    blamed.set(key, (blamed.get(key) ?? 0) + 1);
  }
  const own = checkConversation(view, options).filter((violation) => {
    const key = keyOf(violation, origins[violation.message] ?? violation.message, view);
    const left = blamed.get(key) ?? 0;
    if (left > 0) blamed.set(key, left - 1);
    return left === 0;
  });
  return [...own, ...checkView(original, view, origins)];
}

/** Thinking may be left out of a view: blocks are named by their place among the others. */
function keyOf({ rule, message, block }: Violation, origin: number, messages: readonly ApiMessage[]): string {
  const holder = messages[message];
  const place = block === undefined || !holder ? '' : placesOf(holder)[block];
  return `${rule} ${origin} ${place ?? ''}`;
}

const places = new WeakMap<ApiMessage, readonly number[]>();

/** For each block of a message, how many blocks other than thinking stand before it. */
function placesOf(message: ApiMessage): readonly number[] {
  const known = places.get(message);
  if (known) return known;
  let before = 0;
  const counted = blocksOf(message).map((block) => (isAnyThinking(block) ? before : before++));
  places.set(message, counted);
  return counted;
}

const withoutThinking = (blocks: readonly Block[]): Block[] => blocks.filter((block) => !isAnyThinking(block));

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

function checkResult(block: ToolResultBlock, where: At): Violation[] {
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

interface At {
  readonly message: number;
  readonly block: number;
}

/** What the messages of one role that follow each other are to the API: one message. */
interface Turn {
  role: ApiMessage['role'] | undefined;
  /** Calls that wait for their results, and those that have them. */
  readonly open: Map<string, At>;
  readonly answered: Set<string>;
  /** True once something else than results stands in the user's turn. */
  hasOther: boolean;
}

/** Calls and results: each call is answered once, first thing in the very next turn of the user. */
function checkPairs(messages: readonly ApiMessage[]): Violation[] {
  const violations: Violation[] = [];
  const used = new Set<string>();
  const turn: Turn = { role: undefined, open: new Map(), answered: new Set(), hasOther: false };
  messages.forEach((message, index) => {
    if (message.role === 'system') return;
    if (message.role !== turn.role) {
      turn.role = message.role;
      turn.hasOther = false;
      if (message.role === 'assistant') {
        violations.push(...unanswered(turn));
        turn.open.clear();
        turn.answered.clear();
      }
    }
    violations.push(
      ...(message.role === 'assistant'
        ? collectCalls(message, index, used, turn.open)
        : checkResults(message, index, turn)),
    );
  });
  // A conversation may end with calls that are about to be answered, not with some of them answered.
  if (turn.role === 'user') violations.push(...unanswered(turn));
  return violations;
}

const unanswered = ({ open, answered }: Turn): Violation[] =>
  [...open]
    .filter(([id]) => !answered.has(id))
    .map(([id, at]) => ({ rule: 'call-answered', ...at, detail: `${id} has no result` }));

function collectCalls(message: ApiMessage, index: number, used: Set<string>, open: Map<string, At>): Violation[] {
  const violations: Violation[] = [];
  const take = (id: string, where: At): void => {
    if (used.has(id)) violations.push({ rule: 'ids-unique', ...where, detail: `${id} is used twice` });
    used.add(id);
  };
  const server = new Set<string>();
  blocksOf(message).forEach((block, at) => {
    const where = { message: index, block: at };
    if (isToolUse(block)) {
      take(block.id, where);
      open.set(block.id, where);
      return;
    }
    if (isToolResult(block)) {
      const detail = `the result of ${block.tool_use_id} stands in a message of the assistant`;
      violations.push({ rule: 'result-has-call', ...where, detail });
      return;
    }
    const id = serverCallId(block);
    if (id !== undefined) {
      take(id, where);
      server.add(id);
    }
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
  return violations;
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

function checkResults(message: ApiMessage, index: number, turn: Turn): Violation[] {
  if (typeof message.content === 'string') {
    turn.hasOther = true;
    return [];
  }
  const violations: Violation[] = [];
  message.content.forEach((block, at) => {
    const where = { message: index, block: at };
    if (!isToolResult(block)) {
      turn.hasOther = true;
      if (isToolUse(block)) {
        const detail = `the call ${block.id} stands in a message of the user`;
        violations.push({ rule: 'call-answered', ...where, detail });
      }
      return;
    }
    const id = block.tool_use_id;
    if (turn.answered.has(id)) {
      violations.push({ rule: 'result-once', ...where, detail: `${id} is answered twice` });
    } else if (!turn.open.has(id)) {
      violations.push({ rule: 'result-has-call', ...where, detail: `no call ${id} in the message before` });
    }
    if (turn.hasOther) {
      violations.push({ rule: 'results-first', ...where, detail: `the result of ${id} stands behind other content` });
    }
    turn.answered.add(id);
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

/** Messages stand in their order, and one is missing only where a summary stands in its place. */
function checkOrder(origins: readonly number[], length: number): Violation[] {
  let last = -1;
  let summarized = false;
  for (const [message, origin] of [...origins, length].entries()) {
    if (origin === SUMMARY_ORIGIN) {
      summarized = true;
      continue;
    }
    if (origin <= last) return [{ rule: 'messages-kept', message, detail: 'the order of messages changed' }];
    if (origin > last + 1 && !summarized) {
      return [{ rule: 'messages-kept', message, detail: `message ${last + 1} of the original is missing` }];
    }
    last = origin;
    summarized = false;
  }
  return [];
}

const firstUser = (messages: readonly ApiMessage[]): number => messages.findIndex((message) => message.role === 'user');

/** The task: the first user message stands as it was. */
function checkTask(original: readonly ApiMessage[], view: readonly ApiMessage[]): Violation[] {
  const before = original[firstUser(original)];
  const at = firstUser(view);
  if (!before || view[at] === before || isDeepStrictEqual(view[at], before)) return [];
  return [{ rule: 'task-kept', message: Math.max(at, 0), detail: 'the first user message (the task) was changed' }];
}

/** Fields whose change is what a condensation is for; all others stay. By a map: a type may be called "constructor". */
const CHANGEABLE: ReadonlyMap<string, readonly string[]> = new Map([
  ['text', ['text']],
  ['tool_use', ['input']],
  ['tool_result', ['content']],
]);

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
  const kept = now.some(isAnyThinking) ? old : withoutThinking(old);
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
  if (standsFor(after, before)) return [];
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
  if (!sameFields(before, after, CHANGEABLE.get(before.type) ?? [])) {
    violations.push({ rule: 'fields-kept', ...where, detail: `a field of the ${before.type} changed` });
  }
  if (isToolResult(before) && isToolResult(after)) violations.push(...checkResultKept(before, after, where));
  return violations;
}

/** An image may give way to a text that is a marker and nothing else. */
const standsFor = (after: Block, before: Block): boolean =>
  before.type === 'image' && isText(after) && Object.keys(after).length === 2 && MARKER.test(after.text);

const MARKER = /^⟦condensed: [^⟦⟧]+⟧$/;

/** A result keeps its form: text stays text, and what is no text (an image) stays where it was. */
function checkResultKept(before: ToolResultBlock, after: ToolResultBlock, where: At): Violation[] {
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
      return (
        part === other ||
        (isRecord(part) && isRecord(other) && (sameFields(part, other, ['text', 'result']) || standsFor(other, part)))
      );
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
