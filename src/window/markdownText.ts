/** The only place that creates Markdown for VS Code; untrusted text in it is escaped. */
import * as vscode from 'vscode';
import { escapeLinks } from './notifications';

/**
 * Characters with a meaning in Markdown; dot, colon and at sign prevent automatic links and lists.
 */
const MARKDOWN_SIGNS = /[!#$&()*+\-.:<>@[\\\]_`{|}~]/g;

/**
 * Markdown that shows a text literally, on one line that can wrap. `MarkdownString.appendText` uses
 * non-breaking spaces, so that narrow views cut words and numbers.
 */
export const escapeMarkdown = (text: string): string =>
  text
    .replace(/[\s\u0085]+/g, ' ')
    .trim()
    .replace(MARKDOWN_SIGNS, '\\$&');

/** A piece of Markdown, created only by {@link markdown}. */
class Markdown {
  constructor(readonly source: string) {}
}
export type { Markdown };

/** Template for Markdown; values are escaped by {@link escapeMarkdown} unless they are Markdown. */
export const makeMarkdown = (
  own: TemplateStringsArray,
  ...values: readonly (string | Markdown | readonly Markdown[])[]
): Markdown => new Markdown(own.reduce((all, part, at) => `${all}${getSource(values[at - 1] ?? '')}${part}`));

const getSource = (value: string | Markdown | readonly Markdown[]): string =>
  typeof value === 'string'
    ? escapeMarkdown(value)
    : [value]
        .flat()
        .map(({ source }) => source)
        .join('');

export const toMarkdownString = ({ source }: Markdown): vscode.MarkdownString => new vscode.MarkdownString(source);

/** Writes to VS Code's chat, which treats strings as Markdown too. */
export function showMarkdown(stream: vscode.ChatResponseStream, text: Markdown): void {
  stream.markdown(toMarkdownString(text));
}

/**
 * Text verbatim in a block, followed by a link to a command (the only one allowed there) and words.
 */
export function makeTextWithCommand(
  text: string,
  { command, title, arguments: values }: vscode.Command,
  beside: string,
): vscode.MarkdownString {
  const words = new vscode.MarkdownString().appendCodeblock(text, 'plaintext');
  words.isTrusted = { enabledCommands: [command] };
  // A parenthesis would end the link.
  const query = encodeURIComponent(JSON.stringify(values)).replaceAll('(', '%28').replaceAll(')', '%29');
  return words.appendMarkdown(`[${escapeMarkdown(title)}](command:${command}?${query}) ${escapeMarkdown(beside)}`);
}

/** Characters of a title in a notification. */
const MAX_TITLE_CHARS = 60;

/** A title for a notification, dialog or progress. */
export function shortenTitle(text: string): string {
  const plain = escapeLinks(text);
  return plain.length > MAX_TITLE_CHARS ? `${plain.slice(0, MAX_TITLE_CHARS)}…` : plain;
}
