/**
 * Measures losses other than lost lines, at the sizes that other tools' rules reach: error texts
 * that recur, and users' messages. It also measures what File-Aware's markers say of lost lines
 * (those below a declaration that the marker names), and what the names cost.
 */
import { makePlaceKey, type Cut, type Edit } from '../../src/core/condense/edits/edits';
import { applyEdits } from '../../src/core/condense/edits/applyEdits';
import { chooseSessionCuts } from '../../src/core/condense/futureNeed/cuts';
import { NeededLineChecker } from '../../src/core/condense/futureNeed/kept';
import { findNeededLines, type NeededLine } from '../../src/core/condense/futureNeed/neededLater';
import { getDeclaredName, findDeclarations } from '../../src/core/condense/outline/declarations';
import { isMarkdown, splitReadIntoLines } from '../../src/core/condense/outline/fileLines';
import { createSmartProvider } from '../../src/core/condense/providers/smart';
import { collectFacts } from '../../src/core/condense/coherence/facts';
import { DEFAULT_TOOLS } from '../../src/core/messages/tools';
import { listContents } from '../../src/core/messages/content';
import { findMarkers } from '../../src/core/messages/markers';
import { getValueAt } from '../../src/core/messages/path';
import { isMachineMessage, extractPersonText } from '../../src/core/messages/personText';
import type { ApiMessage } from '../../src/core/messages/types';
import type { BenchConversation } from './corpus';
import { makeCandidate, condense, freshCounter } from './measure';
import { RULES, withoutThinking } from './needBench';
import { percent, table } from './table';

export interface LossRow {
  readonly rule: string;
  /**
   * Number of o200k tokens of the prefixes, of removed content, of markers, and of names in
   * markers.
   */
  readonly before: number;
  readonly removed: number;
  readonly markers: number;
  readonly names: number;
  /** Number of needed lines that were lost. */
  readonly lost: number;
  /**
   * Number of lost lines whose marker has names, and of those whose marker names their declaration.
   */
  readonly withNames: number;
  readonly namingDeclaration: number;
  /**
   * Number of error lines from before the cut that recur after it, and how many of them the rule
   * and File-Aware lose.
   */
  readonly errors: number;
  readonly errorsByRule: number;
  readonly errorsByUs: number;
  /**
   * Number of users' messages other than the task, and how many are incomplete with the rule and
   * with File-Aware.
   */
  readonly words: number;
  readonly wordsByRule: number;
  readonly wordsByUs: number;
}

const NO_LOSSES = {
  ...{ before: 0, removed: 0, markers: 0, names: 0, lost: 0, withNames: 0, namingDeclaration: 0 },
  ...{ errors: 0, errorsByRule: 0, errorsByUs: 0, words: 0, wordsByRule: 0, wordsByUs: 0 },
};

const CUTS = [0.3, 0.6, 0.9];

export async function measureLosses(conversations: readonly BenchConversation[]): Promise<LossRow[]> {
  const rows = new Map<string, { -readonly [Key in keyof LossRow]: LossRow[Key] }>();
  const fileAware = makeCandidate('file-aware', createSmartProvider(), 'file-aware');
  for (const conversation of conversations) {
    const messages = withoutThinking(conversation.messages);
    const counter = freshCounter();
    for (const { cut, end } of chooseSessionCuts(messages, { cuts: CUTS })) {
      const needed = findNeededLines(messages, cut, end);
      if (needed.length === 0) continue;
      const prefix = messages.slice(0, cut);
      const laterErrorLines = new Set(listErrorLines(messages.slice(cut, end)));
      const recurringErrorLines = listErrorLines(prefix).filter((line) => laterErrorLines.has(line));
      const userTexts = listUserTexts(prefix);
      const tokensBefore = counter.countMessages(prefix);
      for (const [rule, policy] of Object.entries(RULES)) {
        const ruleMessages = (await policy(prefix)).messages;
        const targetTokens = counter.countMessages(ruleMessages);
        const { edits } = await condense(prefix, fileAware, counter, { targetTokens });
        const fileAwareView = applyEdits(prefix, edits);
        const { messages: view } = fileAwareView;
        const lineChecker = new NeededLineChecker(fileAwareView);
        const row = rows.get(rule) ?? { rule, ...NO_LOSSES };
        rows.set(rule, row);
        row.before += tokensBefore;
        row.errors += recurringErrorLines.length;
        row.words += userTexts.length;
        const [ruleHas, weHave] = [joinTexts(ruleMessages), joinTexts(view)];
        row.errorsByRule += recurringErrorLines.filter((line) => !ruleHas.includes(line)).length;
        row.errorsByUs += recurringErrorLines.filter((line) => !weHave.includes(line)).length;
        row.wordsByRule += userTexts.filter((text) => !ruleHas.includes(text)).length;
        row.wordsByUs += userTexts.filter((text) => !weHave.includes(text)).length;
        row.removed += tokensBefore - counter.countMessages(view);
        for (const { text } of edits.flatMap((edit) => (edit.kind === 'cut' ? edit.cuts : []))) {
          row.markers += counter.countText(text);
          row.names += counter.countText(text) - counter.countText(text.replace(readNames(text), ''));
        }
        for (const line of needed) {
          if (lineChecker.checkLine(line) === 'verbatim') continue;
          const nameCounts = line.shown.map((shown) => countNames(prefix, edits, line, shown));
          row.lost++;
          if (nameCounts.some(({ isTold }) => isTold)) row.withNames++;
          if (nameCounts.some(({ isNamed }) => isNamed)) row.namingDeclaration++;
        }
      }
    }
  }
  return [...rows.values()];
}

/** Minimum length in characters; shorter error lines recur by chance. */
const MIN_ERROR = 20;

/** Lists the distinct error lines of commands and failed calls. */
export const listErrorLines = (messages: readonly ApiMessage[]): string[] =>
  collectFacts(messages, DEFAULT_TOOLS)
    .flatMap(({ kind, text }) => (kind === 'errors' ? [text] : []))
    .filter((line) => line.length >= MIN_ERROR);

const listUserTexts = (prefix: readonly ApiMessage[]): string[] =>
  prefix
    .slice(1)
    .filter((message) => message.role === 'user' && !isMachineMessage(message))
    .flatMap(listContents)
    .flatMap(({ type, text }) => (type === 'messageText' ? [extractPersonText(text).trim()] : []))
    .filter((text) => text !== '');

export const joinTexts = (view: readonly ApiMessage[]): string =>
  view
    .flatMap(listContents)
    .map(({ text }) => text)
    .join('\n');

/** Returns the text after the line count in a cut's marker; markers of references have no names. */
const readNames = (text: string): string => {
  const markerText = findMarkers(text)[0]?.what ?? '';
  return /^(?:lines \d+-\d+|\d+ \w+ left out)(: .*?)(?:; never|$)/.exec(markerText)?.[1] ?? '';
};

function countNames(
  prefix: readonly ApiMessage[],
  edits: readonly Edit[],
  { file }: NeededLine,
  shown: NeededLine['shown'][number],
): { readonly isTold: boolean; readonly isNamed: boolean } {
  const cuts = edits.flatMap((edit): readonly Cut[] =>
    edit.kind === 'cut' && makePlaceKey(edit.place) === makePlaceKey(shown) ? edit.cuts : [],
  );
  const cut = cuts.find(({ start, end }) => start < shown.end && end > shown.start);
  const names = cut ? readNames(cut.text) : '';
  const declarationAbove = findDeclarationAbove(
    String(getValueAt(prefix[shown.message], shown.path)),
    shown.start,
    isMarkdown(file),
  );
  const namesInMarker = names
    .slice(2)
    .replace(/ and \d+ more$/, '')
    .split(', ');
  return {
    isTold: names !== '',
    isNamed: namesInMarker.some((name) => name.replace(/ \d+$/, '') === declarationAbove),
  };
}

/** Finds the name of the last declaration before a position. */
function findDeclarationAbove(text: string, place: number, markdown: boolean): string | undefined {
  const lines = splitReadIntoLines(text);
  const declarationLines = findDeclarations(lines, markdown);
  return lines
    .flatMap(({ start, text: own }, at) =>
      declarationLines[at] && start <= place ? (getDeclaredName(own, markdown) ?? []) : [],
    )
    .at(-1);
}

export const lossTable = (rows: readonly LossRow[]): string =>
  `${table(
    [
      'at the size of',
      'removed',
      'markers',
      'names',
      'lines lost',
      'their marker names anything',
      'what they stand below',
    ],
    rows.map(({ rule, before, removed, markers, names, lost, withNames, namingDeclaration }) => [
      rule,
      percent(removed / before),
      percent(markers / before),
      percent(names / before),
      lost,
      percent(withNames / lost),
      percent(namingDeclaration / lost),
    ]),
  )}\n\n${table(
    [
      'at the size of',
      'errors that come up again',
      'lost by the rule',
      'by File-Aware',
      'people’s texts',
      'lost by the rule',
      'by File-Aware',
    ],
    rows.map(({ rule, errors, errorsByRule, errorsByUs, words, wordsByRule, wordsByUs }) => [
      rule,
      errors,
      percent(errorsByRule / errors),
      percent(errorsByUs / errors),
      words,
      percent(wordsByRule / words),
      percent(wordsByUs / words),
    ]),
  )}`;
