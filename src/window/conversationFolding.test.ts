import { readFileSync } from 'node:fs';
import type * as vscode from 'vscode';
import { expect, it } from 'vitest';
import { MESSAGE_HEADING } from '../core/messages/heading';
import { renderConversation } from '../core/messages/render';
import { assistant, makeToolExchange, user } from '../core/testing';
import { MARKER_START } from '../core/messages/markers';
import { ConversationFolding } from './conversationFolding';

const TEXT = renderConversation([
  user('Do it\nwell'),
  ...makeToolExchange('1', 'Read', { path: 'a' }, 'x\ny'),
  assistant('Done'),
]);

function documentOf(text: string): vscode.TextDocument {
  const lines = text.split('\n');
  return {
    lineCount: lines.length,
    lineAt: (line: number) => ({ text: lines[line] ?? '', isEmptyOrWhitespace: (lines[line] ?? '').trim() === '' }),
    // The provider reads nothing else of a document.
  } as unknown as vscode.TextDocument;
}

it('the diff view folds each message to its heading and keeps the blank line after it', () => {
  const lines = TEXT.split('\n');
  const folds = new ConversationFolding().provideFoldingRanges(documentOf(TEXT));
  expect(folds.map(({ start }) => lines[start])).toEqual([
    '━━━ 1 · user ━━━',
    '━━━ 2 · assistant ━━━',
    '━━━ 3 · tool result ━━━',
    '━━━ 4 · assistant ━━━',
  ]);
  for (const { end } of folds) expect(lines[end]).not.toBe('');
});

it('the diff view colors speakers, calls, results, folds and markers', () => {
  const { patterns } = JSON.parse(readFileSync('syntaxes/conversation.tmLanguage.json', 'utf8')) as {
    patterns: { match: string; name: string; captures?: Record<string, { name: string }> }[];
  };
  const scopeOf = (line: string): string | undefined =>
    patterns.find(({ match }) => new RegExp(match, 'u').test(line))?.name;
  const headings = TEXT.split('\n').filter((line) => MESSAGE_HEADING.test(line));
  expect(new Set(headings.map(scopeOf)).size).toBe(3);
  for (const line of [
    '▶ Read',
    '◀ result of Read a',
    '◀ error of Read a',
    '▹ thinking',
    '⋯ 12 lines unchanged ⋯',
    `${MARKER_START} 12 lines · ref ab12cd⟧`,
    '━━━ summary · user ━━━',
  ])
    expect(scopeOf(line), line).toBeDefined();
  expect(scopeOf('plain words')).toBeUndefined();
});
