import { getBlocks, isRecord, isText, isThinking, isToolResult, isToolUse } from './blocks';
import { SUMMARY_ORIGIN } from './firewall';
import { getCommandOfCall, DEFAULT_TOOLS, getToolPath } from './tools';
import type { ApiMessage, Block, ToolUseBlock } from './types';

/** UTF-16 units of the longest text shown in full; editors refuse files of 50 MB. */
export const MAX_COMPARED_CHARS = 2_000_000;

/**
 * Both sides of a comparison have the same headings, so that only condensed text differs.
 * @param origins index of each message in the original, or {@link SUMMARY_ORIGIN}
 * @param original names the results' calls, which may be condensed in the view
 * @param longest UTF-16 units; of longer texts only the ends are shown
 */
export function renderConversation(
  messages: readonly ApiMessage[],
  origins?: readonly number[],
  original = messages,
  longest = Infinity,
): string {
  const bodies = renderMessageBodies(messages, original, longest);
  return messages
    .map((message, index) => {
      const origin = origins?.[index] ?? index;
      const messageNumber = origin === SUMMARY_ORIGIN ? 'summary' : String(origin + 1);
      return `━━━ ${messageNumber} · ${getSpeakerLabel(message)} ━━━\n${bodies[index] ?? ''}\n`;
    })
    .join('\n');
}

export function getSpeakerLabel(message: ApiMessage): string {
  const blocks = getBlocks(message);
  return blocks.length > 0 && blocks.every((block) => isToolResult(block)) ? 'tool result' : message.role;
}

/**
 * Shows a result with the name of its call, since the call may be far above.
 * @param original see {@link renderConversation}
 */
export function renderMessageBodies(
  messages: readonly ApiMessage[],
  original = messages,
  maxChars = Infinity,
): string[] {
  const nameByCallId = collectToolNames(original);
  const truncateText = (text: string): string => truncateMiddle(text, maxChars);
  return messages.map(({ content }) =>
    typeof content === 'string'
      ? truncateText(content)
      : content.map((block) => renderBlock(block, nameByCallId, truncateText)).join('\n'),
  );
}

const MAX_CHARS_PER_LISTED_MESSAGE = 120;

export function listMessagesBriefly(
  messages: readonly ApiMessage[],
): readonly { readonly role: ApiMessage['role']; readonly words: string }[] {
  const bodies = renderMessageBodies(messages, messages, 10 * MAX_CHARS_PER_LISTED_MESSAGE);
  const shortenBody = (body: string): string =>
    body
      .slice(0, 10 * MAX_CHARS_PER_LISTED_MESSAGE)
      .replace(/\s+/g, ' ')
      .trim()
      .slice(0, MAX_CHARS_PER_LISTED_MESSAGE);
  return messages.map(({ role }, index) => ({ role, words: shortenBody(bodies[index] ?? '').toWellFormed() }));
}

function truncateMiddle(text: string, longest: number): string {
  if (text.length <= longest) return text;
  const halfLength = Math.floor(longest / 2);
  const hiddenCount = (text.length - 2 * halfLength).toLocaleString('en-US');
  return `${text.slice(0, halfLength).toWellFormed()}\n⋯ ${hiddenCount} characters ⋯\n${text.slice(text.length - halfLength).toWellFormed()}`;
}

function collectToolNames(messages: readonly ApiMessage[]): Map<string, string> {
  const nameByCallId = new Map<string, string>();
  for (const message of messages) {
    for (const block of getBlocks(message)) if (isToolUse(block)) nameByCallId.set(block.id, getCallName(block));
  }
  return nameByCallId;
}

const MAX_NAME_CHARS = 100;

function getCallName({ name, input }: ToolUseBlock): string {
  if (!isRecord(input)) return name;
  const call = { tool: name, input };
  const path = getToolPath(DEFAULT_TOOLS, call);
  const [commandLine = ''] = (path ?? getCommandOfCall(call) ?? '').trim().split('\n');
  if (commandLine === '') return name;
  const shortText =
    commandLine.length > MAX_NAME_CHARS ? `${commandLine.slice(0, MAX_NAME_CHARS - 1).toWellFormed()}…` : commandLine;
  return path === undefined ? `${name}: ${shortText}` : `${name} ${shortText}`;
}

function renderBlock(
  block: Block,
  nameByCallId: ReadonlyMap<string, string>,
  truncateText: (text: string) => string,
): string {
  if (isText(block)) return truncateText(block.text);
  if (isThinking(block)) return `▹ thinking\n${truncateText(block.thinking)}`;
  if (isToolUse(block)) return `▶ ${block.name}\n${renderToolInput(block.input, truncateText)}`;
  if (isToolResult(block)) {
    const name = nameByCallId.get(block.tool_use_id) ?? block.tool_use_id;
    return `◀ ${block.is_error === true ? 'error' : 'result'} of ${name}\n${renderToolResult(block.content, truncateText)}`;
  }
  return `▫ ${block.type}`;
}

function renderToolInput(input: unknown, truncateText: (text: string) => string): string {
  if (typeof input !== 'object' || input === null) return truncateText(JSON.stringify(input ?? null));
  return Object.entries(input)
    .map(([key, value]) => {
      if (typeof value !== 'string') return `${key}: ${truncateText(JSON.stringify(value))}`;
      return value.includes('\n') ? `${key}:\n${truncateText(value)}` : `${key}: ${truncateText(value)}`;
    })
    .join('\n');
}

function renderToolResult(content: unknown, truncateText: (text: string) => string): string {
  if (typeof content === 'string') return truncateText(content);
  if (!Array.isArray(content)) return '';
  return (content as readonly Block[])
    .map((part) =>
      isText(part) ? truncateText(part.text) : `▫ ${typeof part.type === 'string' ? part.type : JSON.stringify(part)}`,
    )
    .join('\n');
}
