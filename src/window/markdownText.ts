/** Only this file creates Markdown for VS Code; it escapes untrusted text. */
import * as vscode from 'vscode';
import { escapeLinks } from './notifications';

/**
 * Characters to escape. Dot, colon and at sign are among them because they would start automatic
 * links and lists.
 */
const MARKDOWN_SIGNS = /[!#$&()*+\-.:<>@[\\\]_`{|}~]/g;

/**
 * Escapes Markdown. `MarkdownString.appendText` is not used: its non-breaking spaces would make
 * narrow views cut words.
 */
export const escapeMarkdown = (text: string): string =>
  text
    .replace(/[\s\u0085]+/g, ' ')
    .trim()
    .replace(MARKDOWN_SIGNS, '\\$&');

class SafeMarkdown {
  constructor(readonly source: string) {}
}
export type { SafeMarkdown };

/** Escapes the template's values unless they are Markdown. */
export const makeMarkdown = (
  template: TemplateStringsArray,
  ...values: readonly (string | SafeMarkdown | readonly SafeMarkdown[])[]
): SafeMarkdown =>
  new SafeMarkdown(template.reduce((all, part, at) => `${all}${getMarkdownSource(values[at - 1] ?? '')}${part}`));

const getMarkdownSource = (value: string | SafeMarkdown | readonly SafeMarkdown[]): string =>
  typeof value === 'string'
    ? escapeMarkdown(value)
    : [value]
        .flat()
        .map(({ source }) => source)
        .join('');

export const toMarkdownString = ({ source }: SafeMarkdown): vscode.MarkdownString => new vscode.MarkdownString(source);

export function showMarkdown(stream: vscode.ChatResponseStream, text: SafeMarkdown): void {
  stream.markdown(toMarkdownString(text));
}

/** Creates Markdown in which only a link to the given command is allowed. */
export function makeTextWithCommand(
  text: string,
  { command, title, arguments: values }: vscode.Command,
  textAfter: string,
): vscode.MarkdownString {
  const markdown = new vscode.MarkdownString().appendCodeblock(text, 'plaintext');
  markdown.isTrusted = { enabledCommands: [command] };
  // A parenthesis would end the link.
  const query = encodeURIComponent(JSON.stringify(values)).replaceAll('(', '%28').replaceAll(')', '%29');
  return markdown.appendMarkdown(
    `[${escapeMarkdown(title)}](command:${command}?${query}) ${escapeMarkdown(textAfter)}`,
  );
}

const MAX_TITLE_CHARS = 60;

export function shortenTitle(text: string): string {
  const plain = escapeLinks(text);
  return plain.length > MAX_TITLE_CHARS ? `${plain.slice(0, MAX_TITLE_CHARS)}…` : plain;
}
