/** Command lines of PowerShell as steps: its commands and pipes; of its language what such lines usually hold. */

import type { Slice } from '../../slice';
import { programName, Shell, type Redirect, type SimpleCommand, type When, type Word } from './script';

/**
 * Reads a command line of PowerShell into steps.
 * @returns undefined where it is not one.
 */
export function readPowerShell(line: string, folder: Word): Shell['steps'] | undefined {
  const shell = new Shell(folder, (name) => name.toLowerCase());
  const tokens = tokensOf(line);
  return tokens && new PowerShellReader(shell, tokens).read() ? shell.steps : undefined;
}

type Token =
  /** Part of a command; a value that is not known before it runs is undefined. */
  | {
      readonly kind: 'word';
      readonly value: (shell: Shell) => Word;
      readonly raw: string;
      readonly isQuoted: boolean;
      readonly at: Slice | undefined;
    }
  /** The text in parentheses or braces, verbatim. */
  | { readonly kind: 'group'; readonly open: string; readonly inner: string }
  | { readonly kind: 'redirect'; readonly operator: string }
  | { readonly kind: 'pipe' }
  | { readonly kind: 'comma' }
  | { readonly kind: 'end'; readonly operator: ';' | '\n' | '&&' | '||' | '&' };

const CLOSING: Readonly<Record<string, string>> = { '(': ')', '{': '}', '[': ']' };
const REDIRECT = /(?:[1-6*]?>>?(?:&[1-6])?)/y;
const VARIABLE = /\$(?:\{([^}]*)\}|([\w:?]+|\$|\^))/y;
const nameIn = (variable: RegExpExecArray): string => (variable[1] ?? variable[2]) as string;
const BARE = /[^\s;|&(){}<>,"'`$#@]/;

/** Takes a line apart; undefined where quotes or brackets don't close. */
function tokensOf(line: string): Token[] | undefined {
  const tokens: Token[] = [];
  let at = 0;
  while (at < line.length) {
    const letter = line[at] as string;
    if (letter === '\n' || letter === ';') {
      tokens.push({ kind: 'end', operator: letter });
      at++;
    } else if (/\s/.test(letter)) {
      at++;
    } else if (letter === '`' && /[\r\n]/.test(line[at + 1] ?? '')) {
      at += line.startsWith('\r\n', at + 1) ? 3 : 2;
    } else if (letter === '#') {
      const end = line.indexOf('\n', at);
      at = end < 0 ? line.length : end;
    } else if (line.startsWith('<#', at)) {
      const end = line.indexOf('#>', at);
      if (end < 0) return undefined;
      at = end + 2;
    } else if (letter === '|' || letter === '&') {
      const isDouble = line[at + 1] === letter;
      if (isDouble) tokens.push({ kind: 'end', operator: letter === '|' ? '||' : '&&' });
      else tokens.push(letter === '|' ? { kind: 'pipe' } : { kind: 'end', operator: '&' });
      at += isDouble ? 2 : 1;
    } else if (letter === ',') {
      tokens.push({ kind: 'comma' });
      at++;
    } else if (letter in CLOSING && letter !== '[') {
      const end = closingOf(line, at);
      if (end === undefined) return undefined;
      tokens.push({ kind: 'group', open: letter, inner: line.slice(at + 1, end) });
      at = end + 1;
    } else if (
      (letter === '$' || letter === '@') &&
      (line[at + 1] === '(' || line[at + 1] === '{') &&
      !(letter === '$' && line[at + 1] === '{')
    ) {
      const end = closingOf(line, at + 1);
      if (end === undefined) return undefined;
      tokens.push({ kind: 'group', open: line.slice(at, at + 2), inner: line.slice(at + 2, end) });
      at = end + 1;
    } else {
      REDIRECT.lastIndex = at;
      const redirect = REDIRECT.exec(line)?.[0];
      if (redirect !== undefined) {
        tokens.push({ kind: 'redirect', operator: redirect });
        at += redirect.length;
        continue;
      }
      const word = wordAt(line, at);
      if (!word) return undefined;
      tokens.push(word.token);
      at = word.end;
    }
  }
  return tokens;
}

/** Offset of the bracket that closes the one at an offset; what stands in quotes counts for nothing. */
function closingOf(line: string, from: number): number | undefined {
  const open: string[] = [];
  for (let at = from; at < line.length; at++) {
    const letter = line[at] as string;
    if (letter === '`') at++;
    else if (letter === "'" || letter === '"') {
      const end = quoteEnd(line, at);
      if (end === undefined) return undefined;
      at = end - 1;
    } else if (letter in CLOSING) open.push(CLOSING[letter] as string);
    else if (letter === open.at(-1)) {
      open.pop();
      if (open.length === 0) return at;
    }
  }
  return undefined;
}

/** Offset behind the string that begins at an offset. */
function quoteEnd(line: string, at: number): number | undefined {
  const quote = line[at] as string;
  if (line[at - 1] === '@' && /^["'][ \t]*\r?\n/.test(line.slice(at, at + 40))) {
    const end = line.indexOf(`\n${quote}@`, at);
    return end < 0 ? undefined : end + 3;
  }
  for (let next = at + 1; next < line.length; next++) {
    if (quote === '"' && line[next] === '`') next++;
    else if (line[next] === quote) {
      if (line[next + 1] !== quote) return next + 1;
      next++;
    }
  }
  return undefined;
}

type Piece = string | { readonly variable: string } | undefined;

/** The word that begins at an offset: bare letters, strings and variables, one behind the other. */
function wordAt(line: string, start: number): { token: Token; end: number } | undefined {
  const pieces: Piece[] = [];
  let at = start;
  let isQuoted = false;
  let textAt: Slice | undefined;
  while (at < line.length) {
    const letter = line[at] as string;
    if (letter === '@' && (line[at + 1] === "'" || line[at + 1] === '"')) {
      const end = quoteEnd(line, at + 1);
      if (end === undefined) return undefined;
      const from = line.indexOf('\n', at) + 1;
      const to = Math.max(from, end - 3);
      const text = line.slice(from, line[to - 1] === '\r' ? to - 1 : to);
      pieces.push(line[at + 1] === "'" || !/[$`]/.test(text) ? text : undefined);
      textAt = { start: from, end: from + text.length };
      isQuoted = true;
      at = end;
    } else if (letter === "'" || letter === '"') {
      const end = quoteEnd(line, at);
      if (end === undefined) return undefined;
      const inner = line.slice(at + 1, end - 1);
      pieces.push(...(letter === "'" ? [inner.replaceAll("''", "'")] : piecesOf(inner)));
      isQuoted = true;
      at = end;
    } else if (letter === '$') {
      VARIABLE.lastIndex = at;
      const variable = VARIABLE.exec(line);
      pieces.push(variable ? { variable: nameIn(variable) } : '$');
      at = variable ? VARIABLE.lastIndex : at + 1;
      // A property or an element of it is nothing that is known.
      if (/[.[(]/.test(line[at] ?? '') && variable) pieces.push(undefined);
    } else if (letter === '`') {
      pieces.push(line[at + 1] ?? '');
      at += 2;
    } else if (BARE.test(letter) || (at > start && letter === '#') || letter === '@') {
      pieces.push(letter);
      at++;
    } else {
      break;
    }
  }
  if (at === start) return undefined;
  const raw = line.slice(start, at);
  const value = (shell: Shell): Word => {
    let text = '';
    for (const piece of pieces) {
      const part = typeof piece === 'object' ? shell.variable(piece.variable) : piece;
      if (part === undefined) return undefined;
      text += part;
    }
    return text;
  };
  return { token: { kind: 'word', value, raw, isQuoted, at: pieces.length === 1 ? textAt : undefined }, end: at };
}

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', '0': '\0' };

/** A string in double quotes. */
function piecesOf(inner: string): Piece[] {
  const pieces: Piece[] = [];
  let text = '';
  for (let at = 0; at < inner.length; at++) {
    const letter = inner[at] as string;
    if (letter === '`') {
      const escaped = inner[++at] as string;
      text += ESCAPES[escaped] ?? escaped;
    } else if (letter === '"') {
      text += '"';
      at++;
    } else if (letter === '$') {
      VARIABLE.lastIndex = at;
      const variable = VARIABLE.exec(inner);
      if (inner[at + 1] === '(') return [undefined];
      if (!variable) {
        text += '$';
        continue;
      }
      pieces.push(text, { variable: nameIn(variable) });
      text = '';
      at = VARIABLE.lastIndex - 1;
    } else {
      text += letter;
    }
  }
  pieces.push(text);
  return pieces;
}

/** Words with which something begins that is no command. */
const KEYWORD =
  /^(?:if|foreach|for|while|do|switch|function|filter|try|trap|param|class|return|throw|begin|process|end|using|data)$/i;
const GOES_ON = /^(?:else|elseif|catch|finally|while|until)$/i;

class PowerShellReader {
  private at = 0;
  /** `&` calls what stands behind it, also where that is a string. */
  private isCall = false;
  private when: When = 'always';

  constructor(
    private readonly shell: Shell,
    private readonly tokens: readonly Token[],
  ) {}

  read(): boolean {
    while (this.at < this.tokens.length) {
      const token = this.tokens[this.at] as Token;
      if (token.kind === 'end') {
        this.when = token.operator === '&&' ? 'success' : token.operator === '||' ? 'failure' : 'always';
        this.isCall = token.operator === '&';
        this.at++;
        continue;
      }
      if (!this.statement(token)) return false;
    }
    return true;
  }

  private statement(token: Token): boolean {
    if (token.kind === 'word' && !token.isQuoted && KEYWORD.test(token.raw)) return this.skipped();
    if (token.kind === 'word' && token.raw.startsWith('$') && this.isAssignment()) return this.assignment(token);
    const start = this.at;
    const commands = this.pipeline();
    if (!commands) return this.unknown(start);
    const [name = '', ...words] = (commands[0] as SimpleCommand).words;
    if (/^(?:cd|set-location|sl|chdir)$/i.test(name)) this.shell.enter(words);
    if (/^(?:push-location|pop-location|pushd|popd|invoke-expression|iex|\.)$/i.test(name)) return this.unknown(start);
    return this.shell.add(this.when, commands);
  }

  /** A loop, a condition or the like, with all that belongs to it. */
  private skipped(): boolean {
    const start = this.at;
    for (;;) {
      while (this.at < this.tokens.length && this.tokens[this.at]?.kind !== 'end') this.at++;
      let next = this.at;
      while (this.tokens[next]?.kind === 'end') next++;
      const token = this.tokens[next];
      const before = this.tokens[this.at - 1];
      const isOpen = before?.kind !== 'group' && token?.kind === 'group' && token.open === '{';
      if (!isOpen && !(token?.kind === 'word' && GOES_ON.test(token.raw))) break;
      this.at = next + 1;
    }
    return this.unknown(start);
  }

  /** Skips the text from a token up to here without taking it apart. */
  private unknown(start: number): boolean {
    const tokens = this.tokens.slice(start, this.at);
    const texts = tokens.map((token) =>
      token.kind === 'word' ? token.raw : token.kind === 'group' ? token.inner : '|',
    );
    return this.shell.addUnknown(this.when, texts.join(' '));
  }

  private isAssignment(): boolean {
    const next = this.tokens[this.at + 1];
    return next?.kind === 'word' && /^[-+*/]?=$/.test(next.raw);
  }

  /** An assigned value is not printed. */
  private assignment(token: Extract<Token, { kind: 'word' }>): boolean {
    const isSet = (this.tokens[this.at + 1] as Extract<Token, { kind: 'word' }>).raw === '=';
    this.at += 2;
    const value = this.tokens[this.at];
    const behind = this.tokens[this.at + 1];
    const isAlone = behind === undefined || behind.kind === 'end';
    const name = token.raw.replace(/^\$\{?|\}$/g, '');
    const isLiteral =
      value?.kind === 'word' && (value.isQuoted || /^\d+$/.test(value.raw) || value.raw.startsWith('$'));
    const known = isSet && isAlone && isLiteral ? value.value(this.shell) : undefined;
    while (this.at < this.tokens.length && this.tokens[this.at]?.kind !== 'end') this.at++;
    this.shell.assign(name, known);
    return this.shell.add(this.when, [{ words: ['$null'], given: undefined, inputFile: null, redirects: [] }]);
  }

  /** The commands up to the end of the pipe; undefined where one of them is something else. */
  private pipeline(): SimpleCommand[] | undefined {
    const commands: SimpleCommand[] = [];
    let isKnown = true;
    for (;;) {
      const command = this.command();
      if (command) commands.push(...command);
      else isKnown = false;
      if (this.tokens[this.at]?.kind !== 'pipe') break;
      this.at++;
      // A pipe at a line's end goes on in the next one.
      while (isNewline(this.tokens[this.at])) this.at++;
    }
    return isKnown && commands.length > 0 ? commands : undefined;
  }

  private command(): SimpleCommand[] | undefined {
    const words: Word[] = [];
    const redirects: Redirect[] = [];
    let isKnown = true;
    let before: SimpleCommand[] = [];
    let isFirst = true;
    for (; this.at < this.tokens.length; this.at++, isFirst = false) {
      const token = this.tokens[this.at] as Token;
      if (token.kind === 'end' || token.kind === 'pipe') break;
      if (token.kind === 'redirect') {
        if (!this.redirect(token.operator, redirects)) isKnown = false;
      } else if (token.kind === 'comma') {
        words.push(',');
      } else if (token.kind === 'group') {
        if (isFirst && token.open === '(') {
          const inner = this.inner(token.inner);
          if (inner) before = inner;
          else isKnown = false;
        } else {
          words.push(undefined);
        }
      } else if (before.length > 0) {
        if (!/^\[-?\d+(?:\.\.-?\d+)?\]$/.test(token.raw)) isKnown = false;
        else words.push('select-object', '-index', token.raw.slice(1, -1));
      } else if (isFirst && token.isQuoted && !this.isCall) {
        // A string that stands alone is printed.
        const text = token.value(this.shell);
        const next = this.tokens[this.at + 1];
        if (next !== undefined && next.kind !== 'end' && next.kind !== 'pipe') isKnown = false;
        words.push('write-output', text);
      } else if (isFirst && /^[[$\d@-]/.test(token.raw)) {
        isKnown = false;
      } else {
        const value = token.value(this.shell);
        words.push(isFirst && value !== undefined ? programName(value) : value);
      }
    }
    this.isCall = false;
    if (!isKnown) return undefined;
    const own = words.length > 0 ? [{ words, given: undefined, inputFile: null, redirects }] : [];
    return [...before, ...own];
  }

  /** The pipe that stands in parentheses. */
  private inner(text: string): SimpleCommand[] | undefined {
    const tokens = tokensOf(text);
    if (!tokens || tokens.some(({ kind }) => kind === 'end')) return undefined;
    return new PowerShellReader(this.shell, tokens).pipeline();
  }

  /** @returns false where nobody knows what goes where. */
  private redirect(operator: string, redirects: Redirect[]): boolean {
    if (operator.includes('&')) return true;
    const target = this.tokens[this.at + 1];
    if (target?.kind !== 'word') return false;
    this.at++;
    const to = /^\$null$/i.test(target.raw) ? '/dev/null' : target.value(this.shell);
    const stream = operator.startsWith('*') ? 'both' : /^[2-6]/.test(operator) ? 'errors' : 'output';
    redirects.push({ stream, to, appends: operator.includes('>>') });
    return true;
  }
}

const isNewline = (token: Token | undefined): boolean => token?.kind === 'end' && token.operator === '\n';
