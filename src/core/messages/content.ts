import { trimList } from '../keptList';
import type { Slice } from '../slice';
import { isRecord, isText, isToolResult, isToolUse } from './blocks';
import { displaysIn, type Display } from './displays';
import { isEnvironment } from './environment';
import { isProgramsResult } from './programs';
import type { ApiMessage, Block, ContentType, Path } from './types';
import { findXmlCalls, parseXmlResultHeader } from './xmlTools';

/**
 * A text that an operation can work on: a whole string of the message, or a slice of one for XML
 * tools.
 */
export interface Content extends Slice {
  readonly type: ContentType;
  readonly path: Path;
  readonly text: string;
}

/**
 * All text that operations can work on, in message order. Images, thinking, unknown
 * blocks, structure, and results that a program parses are excluded.
 */
export function listContents(message: ApiMessage): readonly Content[] {
  const known = remembered.get(message);
  if (known) return known;
  const contents = trimList(collectContents(message));
  remembered.set(message, contents);
  return contents;
}

const remembered = new WeakMap<ApiMessage, readonly Content[]>();

/** Paths are made with `concat`, since spread reserves capacity for sixteen more elements each. */
function collectContents(message: ApiMessage): Content[] {
  if (typeof message.content === 'string') return textContents(message, ['content'], message.content, false);
  const contents: Content[] = [];
  const displays = displaysIn(message);
  let afterHeader = false;
  message.content.forEach((block, index) => {
    const path: Path = ['content', index];
    if (isText(block)) {
      const display = displays.find((each) => each.block === index);
      if (display) {
        contents.push(...displayContents(path.concat('text'), block.text, display));
        return;
      }
      contents.push(...textContents(message, path.concat('text'), block.text, afterHeader));
      const header = message.role === 'user' ? parseXmlResultHeader(block.text) : undefined;
      afterHeader = header?.length === block.text.length;
      return;
    }
    afterHeader = false;
    if (isToolUse(block)) contents.push(...stringsIn(block.input, path.concat('input')));
    if (isToolResult(block) && !isProgramsResult(block))
      contents.push(...resultContents(block.content, path.concat('content')));
  });
  return contents;
}

const whole = (type: ContentType, path: Path, text: string): Content[] => slice(type, path, text, 0, text.length);

/**
 * Content of a text block: prose, except for XML calls by the assistant and XML results in user
 * messages.
 */
function textContents(message: ApiMessage, path: Path, text: string, afterHeader: boolean): Content[] {
  if (message.role === 'assistant') return assistantTextContents(path, text);
  const header = message.role === 'user' ? parseXmlResultHeader(text) : undefined;
  // The environment that agents append after a result is not part of it.
  if (afterHeader && !header && !isEnvironment(text)) return whole('toolResults', path, text);
  return header ? slice('toolResults', path, text, header.length, text.length) : whole('messageText', path, text);
}

/** The displayed file or listing is a tool result; the words around it are the agent's. */
const displayContents = (path: Path, text: string, { start, end }: Display): Content[] => [
  ...slice('messageText', path, text, 0, start),
  ...slice('toolResults', path, text, start, end),
  ...slice('messageText', path, text, end, text.length),
];

/** The markup of a call is structure: text around it is prose, its values are parameters. */
function assistantTextContents(path: Path, text: string): Content[] {
  const contents: Content[] = [];
  let at = 0;
  for (const call of findXmlCalls(text)) {
    contents.push(...slice('messageText', path, text, at, call.start));
    for (const { start, end } of call.parameters) contents.push(...slice('toolParameters', path, text, start, end));
    at = call.end;
  }
  return [...contents, ...slice('messageText', path, text, at, text.length)];
}

const slice = (type: ContentType, path: Path, text: string, start: number, end: number): Content[] =>
  end > start ? [{ type, path, start, end, text: text.slice(start, end) }] : [];

/** Deeper than any tool's schema. Hostile nesting must not exhaust the stack. */
const MAX_DEPTH = 64;

function stringsIn(value: unknown, path: Path): Content[] {
  if (typeof value === 'string') return whole('toolParameters', path, value);
  if (path.length > MAX_DEPTH) return [];
  if (Array.isArray(value)) return value.flatMap((item, index) => stringsIn(item, path.concat(index)));
  if (isRecord(value)) return Object.entries(value).flatMap(([key, item]) => stringsIn(item, path.concat(key)));
  return [];
}

function resultContents(content: string | readonly Block[] | undefined, path: Path): Content[] {
  if (typeof content === 'string') return whole('toolResults', path, content);
  if (!Array.isArray(content)) return [];
  return (content as readonly Block[]).flatMap((block, index) => {
    if (isText(block)) return whole('toolResults', path.concat(index, 'text'), block.text);
    // Cline 4 stores parts of a result as `{query, result}` without a type.
    const untyped = block['result'];
    return typeof block.type !== 'string' && typeof untyped === 'string'
      ? whole('toolResults', path.concat(index, 'result'), untyped)
      : [];
  });
}
