/** The one edge for Markdown: what VS Code reads as such is made here, and words of others stand in it as they are. */
import * as vscode from 'vscode';
import { plainWords } from './notifications';

/** What Markdown reads as more than a sign; with the dot, the colon and the at sign nothing becomes a link or a list by itself. */
const SIGNS = /[!#$&()*+\-.:<>@[\\\]_`{|}~]/g;

/**
 * Markdown that shows a text as it is, on one line that breaks between words. `MarkdownString.appendText` joins the words by spaces at
 * which nothing breaks, so that a narrow chat or tooltip cuts words and numbers.
 */
export const asMarkdown = (text: string): string =>
  text
    .replace(/[\s\u0085]+/g, ' ')
    .trim()
    .replace(SIGNS, '\\$&');

/** A piece of Markdown, made by {@link markdown} only. */
class Markdown {
  constructor(readonly source: string) {}
}
export type { Markdown };

/** Markdown of ours; its values are others' words, shown by {@link asMarkdown}, unless they are Markdown themselves. */
export const markdown = (
  own: TemplateStringsArray,
  ...values: readonly (string | Markdown | readonly Markdown[])[]
): Markdown => new Markdown(own.reduce((all, part, at) => `${all}${sourceOf(values[at - 1] ?? '')}${part}`));

const sourceOf = (value: string | Markdown | readonly Markdown[]): string =>
  typeof value === 'string'
    ? asMarkdown(value)
    : [value]
        .flat()
        .map(({ source }) => source)
        .join('');

export const markdownString = ({ source }: Markdown): vscode.MarkdownString => new vscode.MarkdownString(source);

/** Says something in VS Code's chat, of which it takes strings for Markdown, too. */
export function say(stream: vscode.ChatResponseStream, text: Markdown): void {
  stream.markdown(markdownString(text));
}

/** Text as it is, in a block, and below it a link to a command, the only one that can be run from there, and words beside it. */
export function textAndCommand(
  text: string,
  { command, title, arguments: values }: vscode.Command,
  beside: string,
): vscode.MarkdownString {
  const words = new vscode.MarkdownString().appendCodeblock(text, 'plaintext');
  words.isTrusted = { enabledCommands: [command] };
  // A parenthesis would end the link.
  const query = encodeURIComponent(JSON.stringify(values)).replaceAll('(', '%28').replaceAll(')', '%29');
  return words.appendMarkdown(`[${asMarkdown(title)}](command:${command}?${query}) ${asMarkdown(beside)}`);
}

/** Characters of a title in a notification. */
const TITLE_CHARS = 60;

/** A title for a notification, a dialog or progress. */
export function asTitle(text: string): string {
  const plain = plainWords(text);
  return plain.length > TITLE_CHARS ? `${plain.slice(0, TITLE_CHARS)}…` : plain;
}
