/**
 * Tool calls written as XML in an assistant's text, and their results as text blocks: the way of Roo Code and Cline before
 * native tool calls. Source: the agents' stored histories (a call is `<tool><param>value</param></tool>`, its result a
 * user text block `[tool for 'x'] Result:` with the output behind it or in the next block).
 */

import { AGENT_LIST } from '../agents';
import type { ToolRule } from '../agents/types';
import type { Slice } from '../slice';
import { getBlocks, isText, isToolResult, isToolUse } from './blocks';
import type { ApiMessage } from './types';

/** A parameter; the slice is its value. */
export interface XmlParameter extends Slice {
  readonly name: string;
}

export interface XmlCall extends Slice {
  readonly tool: string;
  readonly parameters: readonly XmlParameter[];
}

/** Names that those agents gave their tools; other tags in a text are prose or code. */
const XML_TOOLS: ReadonlySet<string> = new Set(
  AGENT_LIST.flatMap(({ tools }) => Object.entries<ToolRule>(tools))
    .filter(([, { xml }]) => xml)
    .map(([name]) => name),
);

/** Parameters whose value is free text, so that the last closing tag ends it and not the first. */
const FREE_TEXT = new Set(['content', 'diff', 'args', 'arguments', 'command']);

const OPENING = /<([a-z][a-z_]*)>/g;
/** `[tool] Result:`, `[tool for 'subject'. A hint.] Result:`, `[tool for 4 files] Result:`; a quoted subject may have lines. */
const HEADER_OPENING = /^\[([a-z][a-z_]*)(?:(?=\] Result:)| for (')?)/;
const HEADER_END = '] Result:';
const HEADER_SPACE = /[ \t]*\n*/y;

/** The XML tool calls in an assistant's text, in order; a call that was cut off ends with the text. */
export function xmlCalls(text: string): XmlCall[] {
  const calls: XmlCall[] = [];
  const opening = new RegExp(OPENING);
  for (let match = opening.exec(text); match; match = opening.exec(text)) {
    const tool = match[1] ?? '';
    if (!XML_TOOLS.has(tool)) continue;
    const bodyStart = opening.lastIndex;
    const bodyEnd = findClosingTag(text, tool, bodyStart);
    const end = Math.min(text.length, bodyEnd + `</${tool}>`.length);
    calls.push({ tool, start: match.index, end, parameters: xmlParameters(text, bodyStart, bodyEnd) });
    opening.lastIndex = end;
  }
  return calls;
}

/** Whether a conversation's calls are written so, and none as the APIs have them. */
export function hasXmlCalls(messages: readonly ApiMessage[]): boolean {
  const isNative = messages.some((message) =>
    getBlocks(message).some((block) => isToolUse(block) || isToolResult(block)),
  );
  return !isNative && messages.some(({ role, content }) => role === 'assistant' && textsIn(content).some(isXmlCall));
}

const textsIn = (content: ApiMessage['content']): readonly string[] =>
  typeof content === 'string' ? [content] : content.filter(isText).map(({ text }) => text);

const isXmlCall = (text: string): boolean => xmlCalls(text).length > 0;

const freeTextTag = new RegExp(`<(?:${[...FREE_TEXT].join('|')})>`);

/**
 * Where a call's body ends. A file's content may itself hold the tool's tags: such a call ends at the closing tag that
 * balances its opening one, or at a later one that nothing opens.
 */
function findClosingTag(text: string, tool: string, bodyStart: number): number {
  const first = text.indexOf(`</${tool}>`, bodyStart);
  if (first < 0) return text.length;
  if (!freeTextTag.test(text.slice(bodyStart, first))) return first;
  const tags = new RegExp(`<(/?)${tool}>`, 'g');
  tags.lastIndex = bodyStart;
  let depth = 1;
  let last = first;
  for (let tag = tags.exec(text); tag; tag = tags.exec(text)) {
    if (tag[1] === '') {
      if (depth <= 0) break;
      depth++;
    } else {
      depth--;
      last = tag.index;
    }
  }
  return last;
}

function xmlParameters(text: string, bodyStart: number, bodyEnd: number): XmlParameter[] {
  const parameters: XmlParameter[] = [];
  const opening = new RegExp(OPENING);
  opening.lastIndex = bodyStart;
  for (let match = opening.exec(text); match && match.index < bodyEnd; match = opening.exec(text)) {
    const name = match[1] ?? '';
    const start = opening.lastIndex;
    const close = `</${name}>`;
    const closing = FREE_TEXT.has(name) ? text.lastIndexOf(close, bodyEnd - close.length) : text.indexOf(close, start);
    const end = closing < start || closing >= bodyEnd ? bodyEnd : closing;
    parameters.push({ name, start, end });
    opening.lastIndex = end;
  }
  return parameters;
}

/** The tool whose result a user's text block announces, and where the output begins in it. */
export function xmlResultHeader(text: string): { tool: string; length: number } | undefined {
  const opening = HEADER_OPENING.exec(text);
  if (!opening) return undefined;
  const [{ length: from }, tool = '', quote] = opening;
  const at = text.indexOf(HEADER_END, from);
  // Searched by hand: one regular expression for all of it would go through a hostile line again and again.
  if (at < 0 || (quote === undefined && text.slice(from, at).includes('\n'))) return undefined;
  const space = new RegExp(HEADER_SPACE);
  space.lastIndex = at + HEADER_END.length;
  space.exec(text);
  return { tool, length: space.lastIndex };
}
