/**
 * A conversation as text for a model that summarizes: everything told, nothing at length, the tools' words cut short.
 */
import { getBlocks, isRecord, isText, isToolResult, isToolUse } from '../../messages/blocks';
import { listContents } from '../../messages/content';
import { isAddedByAgent } from '../../messages/task';
import { isProgramsResult } from '../../messages/programs';
import type { ApiMessage, Block } from '../../messages/types';
import type { MessageRange } from '../../messages/messageRange';
import { safeBoundary } from '../operations/truncate';
import { isOneLine, nonceFor, oneLine, QUOTE, quoted } from './quoting';

export interface TranscriptLimits {
  /** Characters that stay of a tool's result. */
  readonly resultChars: number;
  /** Characters that stay of a tool's parameter. */
  readonly parameterChars: number;
}

/** A message as text, without the line that says whose it is. */
export interface Turn {
  /** Index of the message. */
  readonly message: number;
  readonly speaker: string;
  readonly body: string;
}

/** The messages of a range, each as one text; a message with nothing to tell has none. */
export const transcript = (messages: readonly ApiMessage[], range: MessageRange, limits: TranscriptLimits): string[] =>
  withHeaders(turnsIn(messages, range, limits));

/** The turns as texts. Their headers share a word that no turn holds, so that none can hold another's header. */
export function withHeaders(turns: readonly Turn[]): string[] {
  const nonce = nonceFor(turns.map(({ body }) => body));
  return turns.map(({ message, speaker, body }) => `[${message + 1} ${nonce}] ${speaker}:\n${body}`);
}

/** The messages of a range that have something to tell. */
export function turnsIn(
  messages: readonly ApiMessage[],
  { start, end }: MessageRange,
  limits: TranscriptLimits,
): Turn[] {
  const names = new Map<string, string>();
  for (const message of messages) {
    for (const block of getBlocks(message)) if (isToolUse(block)) names.set(block.id, block.name);
  }
  return messages.slice(start, end).flatMap((message, index) => {
    const parts =
      typeof message.content === 'string'
        ? [textPart(message, undefined, message.content, limits)]
        : message.content.map((block, at) => blockPart(message, block, at, limits, names));
    const written = parts.filter((part) => part !== '');
    const speaker = isAddedByAgent(message) ? `${message.role} (added by the agent)` : message.role;
    return written.length === 0 ? [] : [{ message: start + index, speaker, body: written.join('\n') }];
  });
}

function blockPart(
  message: ApiMessage,
  block: Block,
  at: number,
  limits: TranscriptLimits,
  names: ReadonlyMap<string, string>,
): string {
  if (isText(block)) return textPart(message, at, block.text, limits);
  if (isToolUse(block)) return `→ ${oneLine(block.name)}${parameters(block.input, limits)}`;
  if (isToolResult(block)) {
    const head = `${block.is_error === true ? '← error of' : '← result of'} ${oneLine(names.get(block.tool_use_id) ?? 'a tool')}`;
    if (isProgramsResult(block)) return `${head}: (read by a program)`;
    const text = resultText(block.content);
    return text.trim() === '' ? `${head}: (nothing)` : `${head}:\n${quoted(cutMiddle(text, limits.resultChars))}`;
  }
  // A model's thinking is not part of the conversation for the next one.
  if (block.type === 'thinking' || block.type === 'redacted_thinking') return '';
  return `(${oneLine(block.type)})`;
}

/** Prose as it stands; XML-era results and parameters inside it cut like native ones. */
function textPart(message: ApiMessage, at: number | undefined, text: string, limits: TranscriptLimits): string {
  let out = '';
  let from = 0;
  for (const content of listContents(message)) {
    if (content.path[1] !== at || content.type === 'messageText') continue;
    const limit = content.type === 'toolResults' ? limits.resultChars : limits.parameterChars;
    out += text.slice(from, content.start) + cutMiddle(content.text, limit);
    from = content.end;
  }
  const told = (out + text.slice(from)).trim();
  return told === '' ? '' : quoted(told);
}

function parameters(input: unknown, limits: TranscriptLimits): string {
  if (!isRecord(input)) return ` ${oneLine(cutMiddle(JSON.stringify(input ?? null), limits.parameterChars), Infinity)}`;
  const written = Object.entries(input).map(([name, value]) => {
    const text = cutMiddle(typeof value === 'string' ? value : JSON.stringify(value), limits.parameterChars);
    const named = oneLine(name);
    return isOneLine(text) ? ` ${named}=${text}` : `\n  ${named}:\n${quoted(text)}`;
  });
  // What follows a text of several lines begins a line of its own.
  return written.reduce(
    (all, next, index) => (isOneLine(written[index - 1] ?? '') || !isOneLine(next) ? all + next : `${all}\n ${next}`),
    '',
  );
}

function resultText(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return (content as readonly unknown[])
    .map((part) => {
      if (!isRecord(part)) return '';
      const text = part['text'] ?? part['result'];
      return typeof text === 'string' ? text : `(${typeof part['type'] === 'string' ? part['type'] : 'data'})`;
    })
    .join('\n');
}

/** Head and tail of a text; what lies between is told in characters. */
export function cutMiddle(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const head = safeBoundary(text, Math.ceil(limit * 0.6));
  const tail = safeBoundary(text, text.length - Math.floor(limit * 0.4));
  return `${text.slice(0, head)}\n… (${tail - head} characters left out) …\n${text.slice(tail)}`;
}

/**
 * Packs texts in their order into chunks of at most so many tokens. A text that is too long alone is split, at a line's
 * end where there is one; a quoted line that is split stays quoted.
 * @param count tokens of a text; the sum over parts is at least that of the whole.
 */
export function packChunks(texts: readonly string[], budget: number, count: (text: string) => number): string[] {
  const chunks: string[] = [];
  let open: string[] = [];
  let tokens = 0;
  const close = (): void => {
    if (open.length > 0) chunks.push(open.join('\n\n'));
    open = [];
    tokens = 0;
  };
  for (const text of texts.flatMap((long) => split(long, budget, count))) {
    // The blank line between two texts.
    const own = count(text) + 1;
    if (tokens + own > budget) close();
    open.push(text);
    tokens += own;
  }
  close();
  return chunks;
}

function split(text: string, budget: number, count: (text: string) => number): string[] {
  const parts: string[] = [];
  let rest = text;
  while (rest.length > QUOTE.length + 1 && count(rest) + 1 > budget) {
    let chars = Math.max(2, Math.floor((rest.length * budget) / (count(rest) + 1)));
    while (chars > 2 && count(rest.slice(0, chars)) + 1 > budget) chars = Math.floor(chars * 0.8);
    const line = rest.lastIndexOf('\n', chars) + 1;
    const at = Math.max(QUOTE.length + 1, line > chars / 2 ? line : safeBoundary(rest, chars));
    parts.push(rest.slice(0, at));
    const isQuoted = rest.startsWith(QUOTE, rest.lastIndexOf('\n', at - 1) + 1) && rest[at - 1] !== '\n';
    rest = (isQuoted ? QUOTE : '') + rest.slice(at);
  }
  return [...parts, rest];
}
