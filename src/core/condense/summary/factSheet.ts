/**
 * The part of a summary that is made without a model, so that no model can forget it.
 * Deterministic.
 */
import { listToolExchanges, type ToolExchange } from '../../messages/exchanges';
import { DEFAULT_TOOLS, getToolRule, type ToolTable } from '../../messages/tools';
import type { ApiMessage } from '../../messages/types';
import type { MessageCounter } from '../../tokens/messageCounter';
import { listExecutedCommands, type ExecutedCommand } from './commandsRun';
import { fenceInTags } from './prompt';
import { isOneLine, toOneLine, addQuotePrefixToLines } from './quoting';
import { findCommonFolder, listTouchedFiles, type TouchedFile } from '../../messages/filesTouched';
import { fitInstructions, collectInstructions, shortenTextToTokens, type Instruction } from './instructions';
import { findUnresolvedErrors, toErrorTextOnOneLine, type UnresolvedError } from './openErrors';
import { findLatestPlan, type PlanItem, type AgentPlan } from './planState';
import type { Draft } from '../draft/draft';
import type { MessageRange } from '../../messages/messageRange';

export interface ConversationFacts {
  readonly instructions: readonly Instruction[];
  readonly files: readonly TouchedFile[];
  readonly commands: readonly ExecutedCommand[];
  readonly errors: readonly UnresolvedError[];
  readonly plan: AgentPlan | undefined;
}

/**
 * @param start first message that counts; the task before it stays in the view
 * @param end exclusive; later messages can only resolve errors and replace the plan
 */
export function collectConversationFacts(
  messages: readonly ApiMessage[],
  tools: ToolTable,
  start = 0,
  end = messages.length,
): ConversationFacts {
  const allExchanges = listToolExchanges(messages);
  const isInRange = ({ callMessage }: ToolExchange): boolean => callMessage >= start && callMessage < end;
  const exchanges = allExchanges.filter(isInRange);
  const isPlanShownLater = allExchanges.some(
    (exchange) => exchange.callMessage >= end && getToolRule(tools, exchange)?.kind === 'plan',
  );
  return {
    instructions: collectInstructions(messages.slice(0, end), exchanges).filter(
      ({ message }) => message >= start && message < end,
    ),
    files: listTouchedFiles(exchanges, tools),
    commands: listExecutedCommands(exchanges, tools),
    errors: findUnresolvedErrors(allExchanges, tools).filter(({ message }) => message >= start && message < end),
    plan: isPlanShownLater ? undefined : findLatestPlan(allExchanges, tools),
  };
}

export const DEFAULT_FACT_TOKENS = 4_000;

/** Shares of the budget. Instructions get the remaining share, and what the sections do not use. */
const TOKEN_SHARE_BY_SECTION = { changed: 0.2, read: 0.15, commands: 0.15, errors: 0.1, plan: 0.15 } as const;

/**
 * Returns Markdown; empty if there are no facts.
 * @param wordTokens tokens that the user's words may use even beyond the budget
 */
export function renderFactSheet(
  facts: ConversationFacts,
  counter: MessageCounter,
  budget = DEFAULT_FACT_TOKENS,
  wordTokens = 0,
): string {
  const sections = renderFactSections(facts, (lines, share) =>
    selectNewestLines(lines, computeSectionLimit(share, budget), counter),
  );
  if (facts.plan !== undefined) {
    const plan = shortenTextToTokens(formatPlan(facts.plan), computeSectionLimit('plan', budget), counter);
    sections.push(formatSection('Plan or to-do list, last state', [plan]));
  }
  const filledSections = sections.filter((text) => text !== '');
  const remainingTokens = budget - filledSections.reduce((sum, text) => sum + counter.countText(text), 0);
  const instructions = renderInstructions(facts.instructions, Math.max(remainingTokens, wordTokens, 0), counter);
  return [instructions, ...filledSections].filter((text) => text !== '').join('\n\n');
}

type FactSection = keyof typeof TOKEN_SHARE_BY_SECTION;
const computeSectionLimit = (share: FactSection, budget: number): number =>
  Math.floor(budget * TOKEN_SHARE_BY_SECTION[share]);

function renderFactSections(
  facts: ConversationFacts,
  fitLines: (lines: readonly string[], share: FactSection) => string[],
): string[] {
  const files = facts.files.map((file) => ({ ...file, path: toOneLine(file.path) }));
  const commonFolder = findCommonFolder(files.map(({ path }) => path));
  const removeFolder = (text: string): string => (commonFolder === '' ? text : text.replaceAll(commonFolder, ''));
  const folderNote = commonFolder === '' ? '' : formatCommonFolder(commonFolder);
  const changedFiles = files
    .filter(({ changes }) => changes > 0)
    .map(({ path, changes }) => `- ${removeFolder(path)}${changes > 1 ? ` (${changes} times)` : ''}`);
  const readFiles = files.filter(({ changes }) => changes === 0).map(({ path }) => `- ${removeFolder(path)}`);
  const errorLines = facts.errors.map(
    ({ subject, error }) => `- ${removeFolder(`${toOneLine(subject)}: ${toOneLine(error)}`)}`,
  );
  return [
    formatSection(`Files changed${folderNote}`, fitLines(changedFiles, 'changed')),
    formatSection(`Files only read${folderNote}`, fitLines(readFiles, 'read')),
    formatSection('Commands run, with the last result', fitLines(facts.commands.map(describeCommand), 'commands')),
    formatSection('Errors that nothing later settled', fitLines(errorLines, 'errors')),
  ];
}

const formatCommonFolder = (folder: string): string => ` (below ${folder})`;
const COMMON_FOLDER_HEADING = /^### Files (?:changed|only read) \(below (.+)\)$/gm;
const LISTED_FILE = /^- (.+?)(?: \(\d+ times\))?$/;

/** Finds files and errors in a summary's fact sheets, which shorten paths. */
export class ListedFacts {
  private readonly lines: ReadonlySet<string>;
  private readonly folders: readonly string[];

  constructor(private readonly summary: string) {
    this.lines = new Set(summary.split('\n').map((line) => LISTED_FILE.exec(line)?.[1] ?? ''));
    this.folders = ['', ...[...summary.matchAll(COMMON_FOLDER_HEADING)].map(([, folder = '']) => folder)];
  }

  hasFile(path: string): boolean {
    return this.shorten(toOneLine(path)).some((short) => this.lines.has(short));
  }

  hasError(text: string): boolean {
    return this.shorten(toOneLine(toErrorTextOnOneLine(text))).some((short) => this.summary.includes(short));
  }

  private shorten(text: string): readonly string[] {
    return this.folders.map((folder) => (folder === '' ? text : text.replaceAll(folder, ''))).filter(Boolean);
  }
}

function renderInstructions(
  instructions: ConversationFacts['instructions'],
  budget: number,
  counter: MessageCounter,
): string {
  const { texts, leftOut: omittedCount } = fitInstructions(instructions, budget, counter);
  return formatSection('What the user wrote, word for word, oldest first', [
    ...(omittedCount > 0 ? [`(${omittedCount} older ones are left out.)`] : []),
    // Tags delimit texts of several lines.
    ...texts.map((text, index) => `${index + 1}. ${isOneLine(text) ? text : fenceInTags('user', text)}`),
  ]);
}

const formatSection = (title: string, lines: readonly string[]): string =>
  lines.length === 0 ? '' : `### ${title}\n${lines.join('\n')}`;

function selectNewestLines(lines: readonly string[], budget: number, counter: MessageCounter): string[] {
  let tokens = 0;
  let firstShownIndex = lines.length;
  while (firstShownIndex > 0) {
    tokens += counter.countText(lines[firstShownIndex - 1] ?? '') + 1;
    if (tokens > budget) break;
    firstShownIndex--;
  }
  return firstShownIndex === 0
    ? [...lines]
    : [`(${firstShownIndex} older ones are left out.)`, ...lines.slice(firstShownIndex)];
}

function describeCommand({ command, runs, status }: ExecutedCommand): string {
  const resultText = status === undefined ? '' : status === 'failed' ? ' → failed' : ` → exit ${status}`;
  return `- \`${toOneLine(command).replaceAll('`', "'")}\`${runs > 1 ? ` (${runs} times)` : ''}${resultText}`;
}

const CHECKBOX_BY_STATUS: ReadonlyMap<string, string> = new Map([
  ['completed', '[x]'],
  ['done', '[x]'],
  ['in_progress', '[~]'],
  ['in-progress', '[~]'],
]);

const formatPlan = (plan: AgentPlan): string =>
  'text' in plan
    ? addQuotePrefixToLines(plan.text)
    : plan
        .map(({ text, status }: PlanItem) => `- ${CHECKBOX_BY_STATUS.get(status) ?? '[ ]'} ${toOneLine(text)}`)
        .join('\n');

/** Of the tokens that the summary replaces, the user's words may take this share. */
const MAX_INSTRUCTION_SHARE = 0.5;

export function renderRangeFacts(
  { original, messages, counter }: Draft,
  { start, end }: MessageRange,
  { factTokens, keepUserMessages }: { readonly factTokens: number; readonly keepUserMessages: boolean },
): string {
  if (factTokens === 0 && !keepUserMessages) return '';
  const facts = collectConversationFacts(original, DEFAULT_TOOLS, start, end);
  // Messages that an earlier summary replaced are empty.
  const replacedTokens = counter.countMessages(messages.slice(start, end).filter(({ content }) => content.length > 0));
  const wordTokens = keepUserMessages ? Math.floor(replacedTokens * MAX_INSTRUCTION_SHARE) : 0;
  return renderFactSheet(factTokens === 0 ? dropAllButInstructions(facts) : facts, counter, factTokens, wordTokens);
}

const dropAllButInstructions = ({ instructions }: ConversationFacts): ConversationFacts => ({
  instructions,
  files: [],
  commands: [],
  errors: [],
  plan: undefined,
});
