/**
 * Older versions of Roo Code and Cline wrote tool calls as XML. Source: stored histories (call:
 * `<tool><param>value</param></tool>`; result: a user text `[tool for 'x'] Result:` with the output
 * in it or in the next block).
 */

import { AGENT_LIST } from '../agents';
import type { ToolRule } from '../agents/types';
import type { Slice } from '../slice';
import { getBlocks, isText, isToolResult, isToolUse } from './blocks';
import type { ApiMessage } from './types';

export interface XmlParameter extends Slice {
  readonly name: string;
}

export interface XmlCall extends Slice {
  readonly tool: string;
  readonly parameters: readonly XmlParameter[];
}

/** Tags with other names are prose or code. */
const XML_TOOL_NAMES: ReadonlySet<string> = new Set(
  AGENT_LIST.flatMap(({ tools }) => Object.entries<ToolRule>(tools))
    .filter(([, { xml }]) => xml)
    .map(([name]) => name),
);

/** Free-text parameters, which end at the last closing tag instead of the first. */
const FREE_TEXT_PARAMETERS = new Set(['content', 'diff', 'args', 'arguments', 'command']);

const OPENING_TAG = /<([a-z][a-z_]*)>/g;
/**
 * `[tool] Result:`, `[tool for 'subject'. A hint.] Result:`, `[tool for 4 files] Result:`. A quoted
 * subject may span lines.
 */
const RESULT_HEADER_START = /^\[([a-z][a-z_]*)(?:(?=\] Result:)| for (')?)/;
const RESULT_HEADER_END = '] Result:';
const RESULT_HEADER_SPACE = /[ \t]*\n*/y;

/** A truncated call ends at the end of the text. */
export function findXmlCalls(text: string): XmlCall[] {
  const calls: XmlCall[] = [];
  const openingTag = new RegExp(OPENING_TAG);
  for (let match = openingTag.exec(text); match; match = openingTag.exec(text)) {
    const tool = match[1] ?? '';
    if (!XML_TOOL_NAMES.has(tool)) continue;
    const bodyStart = openingTag.lastIndex;
    const bodyEnd = findClosingTag(text, tool, bodyStart);
    const end = Math.min(text.length, bodyEnd + `</${tool}>`.length);
    calls.push({ tool, start: match.index, end, parameters: readXmlParameters(text, bodyStart, bodyEnd) });
    openingTag.lastIndex = end;
  }
  return calls;
}

export function hasXmlCalls(messages: readonly ApiMessage[]): boolean {
  const hasNativeCalls = messages.some((message) =>
    getBlocks(message).some((block) => isToolUse(block) || isToolResult(block)),
  );
  return (
    !hasNativeCalls &&
    messages.some(({ role, content }) => role === 'assistant' && listMessageTexts(content).some(containsXmlCall))
  );
}

const listMessageTexts = (content: ApiMessage['content']): readonly string[] =>
  typeof content === 'string' ? [content] : content.filter(isText).map(({ text }) => text);

const containsXmlCall = (text: string): boolean => findXmlCalls(text).length > 0;

const FREE_TEXT_TAG = new RegExp(`<(?:${[...FREE_TEXT_PARAMETERS].join('|')})>`);

/**
 * File content may contain the tool's tags, so the call ends at the balancing closing tag, or at a
 * later unmatched one.
 */
function findClosingTag(text: string, tool: string, bodyStart: number): number {
  const firstEnd = text.indexOf(`</${tool}>`, bodyStart);
  if (firstEnd < 0) return text.length;
  if (!FREE_TEXT_TAG.test(text.slice(bodyStart, firstEnd))) return firstEnd;
  const tagPattern = new RegExp(`<(/?)${tool}>`, 'g');
  tagPattern.lastIndex = bodyStart;
  let depth = 1;
  let lastEnd = firstEnd;
  for (let tag = tagPattern.exec(text); tag; tag = tagPattern.exec(text)) {
    if (tag[1] === '') {
      if (depth <= 0) break;
      depth++;
    } else {
      depth--;
      lastEnd = tag.index;
    }
  }
  return lastEnd;
}

function readXmlParameters(text: string, bodyStart: number, bodyEnd: number): XmlParameter[] {
  const parameters: XmlParameter[] = [];
  const openingTag = new RegExp(OPENING_TAG);
  openingTag.lastIndex = bodyStart;
  for (let match = openingTag.exec(text); match && match.index < bodyEnd; match = openingTag.exec(text)) {
    const name = match[1] ?? '';
    const start = openingTag.lastIndex;
    const closingTag = `</${name}>`;
    const closingIndex = FREE_TEXT_PARAMETERS.has(name)
      ? text.lastIndexOf(closingTag, bodyEnd - closingTag.length)
      : text.indexOf(closingTag, start);
    const end = closingIndex < start || closingIndex >= bodyEnd ? bodyEnd : closingIndex;
    parameters.push({ name, start, end });
    openingTag.lastIndex = end;
  }
  return parameters;
}

export function parseXmlResultHeader(text: string): { tool: string; length: number } | undefined {
  const openingMatch = RESULT_HEADER_START.exec(text);
  if (!openingMatch) return undefined;
  const [{ length: headerStart }, tool = '', quote] = openingMatch;
  const headerEnd = text.indexOf(RESULT_HEADER_END, headerStart);
  // A single regular expression would be quadratic on hostile input.
  if (headerEnd < 0 || (quote === undefined && text.slice(headerStart, headerEnd).includes('\n'))) return undefined;
  const spacePattern = new RegExp(RESULT_HEADER_SPACE);
  spacePattern.lastIndex = headerEnd + RESULT_HEADER_END.length;
  spacePattern.exec(text);
  return { tool, length: spacePattern.lastIndex };
}
