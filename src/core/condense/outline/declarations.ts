/** Uses indentation, keywords and braces, so that one set of rules works for all languages. */

/** A line of a file without a tool's prefix. */
export interface OutlineLine {
  readonly text: string;
  /** True if the line contains a marker, which may have replaced more deeply indented text. */
  readonly isMarker: boolean;
}

/** A declaration is recognizable at the beginning of its line. */
const MAX_SEARCHED_CHARS = 200;
const TAB_WIDTH = 4;

const DECLARATION_MODIFIERS =
  /^(?:(?:export|default|declare|public|private|protected|internal|static|async|abstract|final|override|open|sealed|data|suspend|partial|inline|virtual|extern|unsafe|readonly|const|pub(?:\([^)]{0,40}\))?)\s+){0,6}/;

const CONTAINER_KEYWORD =
  /^(?:class|interface|trait|impl|enum|object|namespace|module|defmodule|protocol|extension|record|struct|mod|describe|context|suite)\b/;
const DECLARATION_KEYWORD =
  /^(?:class|interface|trait|impl|enum|object|namespace|module|defmodule|protocol|extension|record|struct|mod|describe|context|suite|function\b\*?|func|fun|fn|def|defp|type|union|package|sub|procedure|macro_rules!|it|test|constructor|create\s+(?:table|view|index|function|or))(?![\w$])/i;

/** Statements that open blocks but declare nothing. */
const STATEMENT_KEYWORD =
  /^(?:if|for|while|switch|catch|else|elif|do|try|return|select|case|with|except|finally|match|loop|when|unless|foreach|using|lock|synchronized|await|throw|go|defer|until|begin|end|then|fi|done|esac|goto|yield|raise|assert|break|continue|import|from|require|include|use)\b/;

const COMMENT_OR_CLOSER = /^(?:\/\/|\/?\*|#|--|<!--|["'`]{3}|[)\]}>,;]|<\/)/;
const MARKDOWN_HEADING = /^#{1,6}\s+\S/;
/** A method or function without a keyword, for example `name(…) {`. */
const METHOD_WITHOUT_KEYWORD = /^[\w$~][\w$<>,.[\]*&?:\s]{0,80}\((?:[^;]*[{:])?\s*$/;

const MAX_HEAD_LINES = 8;

interface IndentedBlock {
  readonly indent: number;
  readonly isContainer: boolean;
}

/**
 * Takes linear time.
 * @param isMarkdown in Markdown, `#` begins a heading and not a comment
 */
export function findDeclarations(lines: readonly OutlineLine[], isMarkdown: boolean): boolean[] {
  if (isMarkdown) return lines.map(({ text }) => MARKDOWN_HEADING.test(text));
  const isDeclarationByLine = new Array<boolean>(lines.length).fill(false);
  const opensBlock = findLinesOpeningBlocks(lines);
  const blocks: IndentedBlock[] = [];
  let headEnd = -1;
  for (const [index, line] of lines.entries()) {
    const text = line.text.slice(0, MAX_SEARCHED_CHARS).trim();
    if (index <= headEnd) isDeclarationByLine[index] = true;
    if (line.isMarker || text === '') continue;
    const indent = getIndentColumns(line.text);
    while ((blocks.at(-1)?.indent ?? -1) >= indent) blocks.pop();
    const textWithoutModifiers = text.replace(DECLARATION_MODIFIERS, '');
    if (isDeclaration(text, textWithoutModifiers, blocks, opensBlock[index] === true)) {
      isDeclarationByLine[index] = true;
      headEnd = Math.max(headEnd, findEndOfDeclarationHead(lines, index));
    }
    if (opensBlock[index] === true) blocks.push({ indent, isContainer: CONTAINER_KEYWORD.test(textWithoutModifiers) });
  }
  return isDeclarationByLine;
}

function isDeclaration(
  text: string,
  textWithoutModifiers: string,
  blocks: readonly IndentedBlock[],
  opensBlock: boolean,
): boolean {
  if (COMMENT_OR_CLOSER.test(text) || STATEMENT_KEYWORD.test(text)) return false;
  // Declarations inside a function cannot be named from outside.
  if (!blocks.every(({ isContainer }) => isContainer)) return false;
  return (
    DECLARATION_KEYWORD.test(textWithoutModifiers) ||
    (blocks.length === 0 ? opensBlock : METHOD_WITHOUT_KEYWORD.test(text))
  );
}

/**
 * A line opens a block if the next one is indented deeper, or may have been before a marker
 * replaced it.
 */
function findLinesOpeningBlocks(lines: readonly OutlineLine[]): boolean[] {
  const opensBlockByLine = new Array<boolean>(lines.length).fill(false);
  let nextIndent = -1;
  for (let index = lines.length - 1; index >= 0; index--) {
    const line = lines[index];
    if (!line || (!line.isMarker && line.text.trim() === '')) continue;
    const indent = line.isMarker ? Number.POSITIVE_INFINITY : getIndentColumns(line.text);
    opensBlockByLine[index] = nextIndent > indent;
    nextIndent = indent;
  }
  return opensBlockByLine;
}

function findEndOfDeclarationHead(lines: readonly OutlineLine[], start: number): number {
  let openParentheses = 0;
  for (let index = start; index < Math.min(lines.length, start + MAX_HEAD_LINES); index++) {
    const line = lines[index];
    if (!line || line.isMarker) return start;
    for (const character of line.text.slice(0, MAX_SEARCHED_CHARS)) {
      if (character === '(') openParentheses++;
      else if (character === ')') openParentheses--;
    }
    if (openParentheses <= 0) return index;
  }
  return start;
}

function getIndentColumns(text: string): number {
  let columns = 0;
  for (let index = 0; index < text.length; index++) {
    const character = text[index];
    if (character === ' ') columns++;
    else if (character === '\t') columns += TAB_WIDTH;
    else return columns;
  }
  return columns;
}

const NAME_PATTERN = String.raw`[\p{L}_$~][\p{L}\p{N}_$]*(?:(?:\.|::)[\p{L}_$~][\p{L}\p{N}_$]*)*`;
/** What may precede the name: other keywords, type parameters, Go's receiver. */
const LEADING_KEYWORDS =
  /^(?:(?:class|interface|trait|impl|enum|object|namespace|module|defmodule|protocol|extension|record|struct|mod|function|func|fun|fn|def|defp|type|union|sub|procedure|macro_rules!|(?:create|or|replace|table|view|index|if|not|exists)(?=\s+\w))(?=[\s<(*]|$)\*?\s*(?:<[^<>]{0,80}>\s*)?(?:\([^()]{0,80}\)\s*)?){1,6}/i;
/** Statements with a sentence instead of a name, or with a useless name. */
const NAMELESS_STATEMENT = /^(?:it|test|describe|context|suite|package)(?![\w$])/;
/** In style sheets and markup a sign precedes the name. */
const FIRST_NAME = new RegExp(`^[.#@&*<]?(${NAME_PATTERN})`, 'u');
const ASSIGNED_NAME = new RegExp(String.raw`^(${NAME_PATTERN})\s*(?::(?!:)|=(?![=>]))`, 'u');
const CALLED_NAME = new RegExp(String.raw`(${NAME_PATTERN})\s*(?:<[^<>]{0,80}>)?\(`, 'u');
const HEADING_TEXT = /[\p{L}\p{N}][\p{L}\p{N}_$./ -]*/u;
const MAX_NAME_CHARS = 40;

export function getDeclaredName(line: string, isMarkdown: boolean): string | undefined {
  const text = line.slice(0, MAX_SEARCHED_CHARS).trim();
  const foundName = isMarkdown
    ? HEADING_TEXT.exec(text)?.[0]
    : findDeclaredName(text.replace(DECLARATION_MODIFIERS, ''));
  const name = foundName?.slice(0, MAX_NAME_CHARS).trimEnd().toWellFormed();
  return name !== undefined && name.length > 1 ? name : undefined;
}

function findDeclaredName(textWithoutModifiers: string): string | undefined {
  if (NAMELESS_STATEMENT.test(textWithoutModifiers)) return undefined;
  const keywords = LEADING_KEYWORDS.exec(textWithoutModifiers)?.[0];
  if (keywords !== undefined) return FIRST_NAME.exec(textWithoutModifiers.slice(keywords.length))?.[1];
  return (
    ASSIGNED_NAME.exec(textWithoutModifiers)?.[1] ??
    CALLED_NAME.exec(textWithoutModifiers)?.[1] ??
    FIRST_NAME.exec(textWithoutModifiers)?.[1]
  );
}
