/**
 * Tool calls written as XML in an assistant's text, and their results as text blocks: the way of Roo Code and Cline before
 * native tool calls. Source: the agents' stored histories (a call is `<tool><param>value</param></tool>`, its result a
 * user text block `[tool for 'x'] Result:` with the output behind it or in the next block).
 */

export interface XmlParameter {
  readonly name: string;
  /** Offsets of the value inside the text. */
  readonly start: number;
  readonly end: number;
}

export interface XmlCall {
  readonly tool: string;
  readonly start: number;
  readonly end: number;
  readonly parameters: readonly XmlParameter[];
}

/** Names that those agents gave their tools; other tags in a text are prose or code. */
const XML_TOOLS = new Set([
  'access_mcp_resource',
  'apply_diff',
  'browser_action',
  'codebase_search',
  'execute_command',
  'fetch_instructions',
  'insert_content',
  'list_code_definition_names',
  'list_files',
  'new_task',
  'read_file',
  'replace_in_file',
  'search_and_replace',
  'search_files',
  'update_todo_list',
  'use_mcp_tool',
  'write_to_file',
]);

/** Parameters whose value is free text, so that the last closing tag ends it and not the first. */
const FREE_TEXT = new Set(['content', 'diff', 'args', 'arguments', 'command']);

const OPENING = /<([a-z][a-z_]*)>/g;
const RESULT_HEADER = /^\[([a-z][a-z_]*)(?: for '((?:[^'\n]|'(?!\]))*)'[^\]\n]*)?\] Result:[ \t]*\n*/;

/** The XML tool calls in an assistant's text, in order; a call that was cut off ends with the text. */
export function xmlCalls(text: string): XmlCall[] {
  const calls: XmlCall[] = [];
  const opening = new RegExp(OPENING);
  for (let match = opening.exec(text); match; match = opening.exec(text)) {
    const tool = match[1] ?? '';
    if (!XML_TOOLS.has(tool)) continue;
    const bodyStart = opening.lastIndex;
    const close = `</${tool}>`;
    const closing = text.indexOf(close, bodyStart);
    const bodyEnd = closing < 0 ? text.length : closingOf(text, tool, bodyStart, closing);
    const end = closing < 0 ? text.length : bodyEnd + close.length;
    calls.push({ tool, start: match.index, end, parameters: xmlParameters(text, bodyStart, bodyEnd) });
    opening.lastIndex = end;
  }
  return calls;
}

/** A file's content may itself hold the closing tag: the call ends at the last one before the next call of a tool. */
function closingOf(text: string, tool: string, bodyStart: number, firstClosing: number): number {
  const inner = text.slice(bodyStart, firstClosing);
  const unclosed = [...FREE_TEXT].some((name) => inner.includes(`<${name}>`) && !inner.includes(`</${name}>`));
  return unclosed ? text.lastIndexOf(`</${tool}>`) : firstClosing;
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
export function xmlResultHeader(
  text: string,
): { tool: string; subject: string | undefined; length: number } | undefined {
  const match = RESULT_HEADER.exec(text);
  return match ? { tool: match[1] ?? '', subject: match[2], length: match[0].length } : undefined;
}
