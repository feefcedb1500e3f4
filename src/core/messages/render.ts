import { blocksOf, isRecord, isText, isThinking, isToolResult, isToolUse } from './blocks';
import { SUMMARY_ORIGIN } from './firewall';
import { commandOf, DEFAULT_TOOLS, pathOf } from './tools';
import type { ApiMessage, Block, ToolUseBlock } from './types';

/**
 * A conversation as text for people: one heading a message, the tools' calls and results under it. Both sides of a
 * comparison have the same headings, so that only what was condensed differs.
 * @param origins for each message of a view its index in the original, or {@link SUMMARY_ORIGIN}.
 * @param original of a view: its calls name the results, for a view's may have lost the words that name them.
 */
export function renderConversation(
  messages: readonly ApiMessage[],
  origins?: readonly number[],
  original = messages,
): string {
  const bodies = renderBodies(messages, original);
  return messages
    .map(({ role }, index) => {
      const origin = origins?.[index] ?? index;
      const number = origin === SUMMARY_ORIGIN ? 'summary' : String(origin + 1);
      return `━━━ ${number} · ${role} ━━━\n${bodies[index] ?? ''}\n`;
    })
    .join('\n');
}

/**
 * Each message as text for people, without a heading; a result is named by its call, which may be folded or far above.
 * @param original as of {@link renderConversation}
 */
export function renderBodies(messages: readonly ApiMessage[], original = messages): string[] {
  const names = toolNames(original);
  return messages.map(({ content }) =>
    typeof content === 'string' ? content : content.map((block) => renderBlock(block, names)).join('\n'),
  );
}

function toolNames(messages: readonly ApiMessage[]): Map<string, string> {
  const names = new Map<string, string>();
  for (const message of messages) {
    for (const block of blocksOf(message)) if (isToolUse(block)) names.set(block.id, nameOf(block));
  }
  return names;
}

/** Of a path or a command that names a call. */
const MAX_NAME = 100;

/** A call as it is told from others of its tool: by the file that it works on, or by its command. */
function nameOf({ name, input }: ToolUseBlock): string {
  if (!isRecord(input)) return name;
  const call = { tool: name, input };
  const path = pathOf(DEFAULT_TOOLS, call);
  const [words = ''] = (path ?? commandOf(call) ?? '').trim().split('\n');
  if (words === '') return name;
  const short = words.length > MAX_NAME ? `${words.slice(0, MAX_NAME - 1).toWellFormed()}…` : words;
  return path === undefined ? `${name}: ${short}` : `${name} ${short}`;
}

function renderBlock(block: Block, names: ReadonlyMap<string, string>): string {
  if (isText(block)) return block.text;
  if (isThinking(block)) return `▹ thinking\n${block.thinking}`;
  if (isToolUse(block)) return `▶ ${block.name}\n${renderInput(block.input)}`;
  if (isToolResult(block)) {
    const name = names.get(block.tool_use_id) ?? block.tool_use_id;
    return `◀ ${block.is_error === true ? 'error' : 'result'} of ${name}\n${renderResult(block.content)}`;
  }
  return `▫ ${block.type}`;
}

/** Parameters one a line; a text of several lines stands under its name as it is. */
function renderInput(input: unknown): string {
  if (typeof input !== 'object' || input === null) return JSON.stringify(input ?? null);
  return Object.entries(input)
    .map(([key, value]) => {
      if (typeof value !== 'string') return `${key}: ${JSON.stringify(value)}`;
      return value.includes('\n') ? `${key}:\n${value}` : `${key}: ${value}`;
    })
    .join('\n');
}

function renderResult(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return (content as readonly Block[])
    .map((part) => (isText(part) ? part.text : `▫ ${typeof part.type === 'string' ? part.type : JSON.stringify(part)}`))
    .join('\n');
}
