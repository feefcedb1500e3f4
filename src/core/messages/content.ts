import { copyWithoutSpareCapacity } from '../keptList';
import type { Slice } from '../slice';
import { isRecord, isText, isToolResult, isToolUse } from './blocks';
import { listDisplayedResultsInMessage, type DisplayedToolResult } from './displays';
import { isEnvironmentDetails } from './environment';
import { isResultReadByProgram } from './programs';
import type { ApiMessage, Block, ContentType, Path } from './types';
import { findXmlCalls, parseXmlResultHeader } from './xmlTools';

/** A whole string of a message or, for XML tools, a slice of a string. */
export interface Content extends Slice {
  readonly type: ContentType;
  readonly path: Path;
  readonly text: string;
}

/** Excludes images, thinking, unknown blocks, structure, and results that a program parses. */
export function listContents(message: ApiMessage): readonly Content[] {
  const cachedContents = contentCache.get(message);
  if (cachedContents) return cachedContents;
  const contents = copyWithoutSpareCapacity(collectContents(message));
  contentCache.set(message, contents);
  return contents;
}

const contentCache = new WeakMap<ApiMessage, readonly Content[]>();

/** Uses `concat`, since spread reserves capacity for sixteen more elements. */
function collectContents(message: ApiMessage): Content[] {
  if (typeof message.content === 'string') return listTextContents(message, ['content'], message.content, false);
  const contents: Content[] = [];
  const displays = listDisplayedResultsInMessage(message);
  let afterHeader = false;
  message.content.forEach((block, index) => {
    const path: Path = ['content', index];
    if (isText(block)) {
      const display = displays.find((each) => each.block === index);
      if (display) {
        contents.push(...listContentsAroundDisplay(path.concat('text'), block.text, display));
        return;
      }
      contents.push(...listTextContents(message, path.concat('text'), block.text, afterHeader));
      const header = message.role === 'user' ? parseXmlResultHeader(block.text) : undefined;
      afterHeader = header?.length === block.text.length;
      return;
    }
    afterHeader = false;
    if (isToolUse(block)) contents.push(...listParameterStrings(block.input, path.concat('input')));
    if (isToolResult(block) && !isResultReadByProgram(block))
      contents.push(...listResultContents(block.content, path.concat('content')));
  });
  return contents;
}

const makeWholeContent = (type: ContentType, path: Path, text: string): Content[] =>
  makeContentIfNonEmpty(type, path, text, 0, text.length);

/** A text block is prose, except for XML calls and results. */
function listTextContents(message: ApiMessage, path: Path, text: string, afterHeader: boolean): Content[] {
  if (message.role === 'assistant') return listAssistantTextContents(path, text);
  const header = message.role === 'user' ? parseXmlResultHeader(text) : undefined;
  // The environment that agents append after a result is not part of the result.
  if (afterHeader && !header && !isEnvironmentDetails(text)) return makeWholeContent('toolResults', path, text);
  return header
    ? makeContentIfNonEmpty('toolResults', path, text, header.length, text.length)
    : makeWholeContent('messageText', path, text);
}

const listContentsAroundDisplay = (path: Path, text: string, { start, end }: DisplayedToolResult): Content[] => [
  ...makeContentIfNonEmpty('messageText', path, text, 0, start),
  ...makeContentIfNonEmpty('toolResults', path, text, start, end),
  ...makeContentIfNonEmpty('messageText', path, text, end, text.length),
];

/** Text around a call is prose, the call's values are parameters, and its markup can't change. */
function listAssistantTextContents(path: Path, text: string): Content[] {
  const contents: Content[] = [];
  let textStart = 0;
  for (const call of findXmlCalls(text)) {
    contents.push(...makeContentIfNonEmpty('messageText', path, text, textStart, call.start));
    for (const { start, end } of call.parameters)
      contents.push(...makeContentIfNonEmpty('toolParameters', path, text, start, end));
    textStart = call.end;
  }
  return [...contents, ...makeContentIfNonEmpty('messageText', path, text, textStart, text.length)];
}

const makeContentIfNonEmpty = (type: ContentType, path: Path, text: string, start: number, end: number): Content[] =>
  end > start ? [{ type, path, start, end, text: text.slice(start, end) }] : [];

/** Hostile nesting must not exhaust the stack. */
const MAX_PARAMETER_DEPTH = 64;

function listParameterStrings(value: unknown, path: Path): Content[] {
  if (typeof value === 'string') return makeWholeContent('toolParameters', path, value);
  if (path.length > MAX_PARAMETER_DEPTH) return [];
  if (Array.isArray(value)) return value.flatMap((item, index) => listParameterStrings(item, path.concat(index)));
  if (isRecord(value))
    return Object.entries(value).flatMap(([key, item]) => listParameterStrings(item, path.concat(key)));
  return [];
}

function listResultContents(content: string | readonly Block[] | undefined, path: Path): Content[] {
  if (typeof content === 'string') return makeWholeContent('toolResults', path, content);
  if (!Array.isArray(content)) return [];
  return (content as readonly Block[]).flatMap((block, index) => {
    if (isText(block)) return makeWholeContent('toolResults', path.concat(index, 'text'), block.text);
    // Cline 4 stores parts of a result as `{query, result}` without a type.
    const untypedResult = block['result'];
    return typeof block.type !== 'string' && typeof untypedResult === 'string'
      ? makeWholeContent('toolResults', path.concat(index, 'result'), untypedResult)
      : [];
  });
}
