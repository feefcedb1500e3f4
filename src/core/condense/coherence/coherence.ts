import { stripVTControlCharacters } from 'node:util';
import { copyWithoutSpareCapacity } from '../../keptList';
import { memoizeByObject } from '../../memoizeByObject';
import { isRecord } from '../../messages/blocks';
import { listContents } from '../../messages/content';
import { DEFAULT_TOOLS, type ToolTable } from '../../messages/tools';
import { getValueAt } from '../../messages/path';
import { renderTerminalLine } from '../lossless/terminal';
import { maskSecrets } from '../../secrets/maskSecrets';
import { shortenText } from '../../shortened';
import type { ApiMessage } from '../../messages/types';
import type { Slice } from '../../slice';
import { applyEdits } from '../edits/applyEdits';
import { selectLastEditPerPlace, type CutEdit, type Edit } from '../edits/edits';
import { findMarkers, type ReferenceId } from '../../messages/markers';
import { ListedFacts } from '../summary/factSheet';
import { collectFacts, FACT_KINDS, type Fact, type FactKind } from './facts';

export interface FactKindCoherence {
  readonly kept: number;
  /** Number of facts that are not in the view but that a reference in it leads to. */
  readonly recallable: number;
  /** Facts as text, with likely API keys masked. */
  readonly recallableExamples: readonly string[];
  readonly lost: number;
  readonly lostExamples: readonly string[];
}

export type CoherenceReport = Readonly<Record<FactKind, FactKindCoherence>>;

const MAX_EXAMPLES = 10;
const MAX_EXAMPLE_CHARS = 120;

export function measureCoherence(
  original: readonly ApiMessage[],
  edits: readonly Edit[],
  tools: ToolTable = DEFAULT_TOOLS,
): CoherenceReport {
  const facts = collectFacts(original, tools);
  const classifyFact = createFactClassifier(original, edits);
  const tallies = {
    files: makeEmptyTally(),
    errors: makeEmptyTally(),
    instructions: makeEmptyTally(),
    todos: makeEmptyTally(),
  };
  for (const fact of facts) {
    const tally = tallies[fact.kind];
    const outcome = classifyFact(fact);
    tally[outcome]++;
    const examples = outcome === 'lost' ? tally.lostExamples : tally.recallableExamples;
    if (outcome !== 'kept' && examples.length < MAX_EXAMPLES) examples.push(formatExample(fact));
  }
  return tallies;
}

/** Masks keys before truncating: half a key would not be recognized. */
const formatExample = ({ text }: Fact): string =>
  shortenText(
    maskSecrets(text.slice(0, 10 * MAX_EXAMPLE_CHARS)).replace(/\s+/g, ' '),
    MAX_EXAMPLE_CHARS,
  ).toWellFormed();

interface FactTally {
  kept: number;
  recallable: number;
  readonly recallableExamples: string[];
  lost: number;
  readonly lostExamples: string[];
}

const makeEmptyTally = (): FactTally => ({ kept: 0, recallable: 0, recallableExamples: [], lost: 0, lostExamples: [] });

type FactOutcome = 'kept' | 'recallable' | 'lost';

function createFactClassifier(original: readonly ApiMessage[], edits: readonly Edit[]): (fact: Fact) => FactOutcome {
  const { messages: view, origins } = applyEdits(original, edits);
  const viewMessageByIndex = new Map(origins.map((origin, index) => [origin, view[index]]));
  const messageTexts: string[] = [];
  for (const message of view) {
    messageTexts.push(...listMessageTexts(message));
  }
  const factSheets = view
    .filter(({ isSummary }) => isSummary === true)
    .map((message) => new ListedFacts(listMessageTexts(message).join('\n')));
  const recallable = memoizeFirstCall(() => getRecallableTexts(original, edits, view));
  return ({ kind, text, messages }) => {
    const messagePairs = messages.map((index) => ({ before: original[index], now: viewMessageByIndex.get(index) }));
    if (messagePairs.some(({ before, now }) => now !== undefined && now === before)) return 'kept';
    const spellings = listFactSpellings(kind, text);
    if (
      spellings.some((spelling) =>
        messagePairs.some(({ now }) => now !== undefined && occursInAny(listMessageTexts(now), spelling)),
      )
    )
      return 'kept';
    if (spellings.some((spelling) => occursInAny(messageTexts, spelling))) return 'kept';
    if (kind === 'files' && factSheets.some((sheet) => sheet.hasFile(text))) return 'kept';
    if (kind === 'errors' && factSheets.some((sheet) => sheet.hasError(text))) return 'kept';
    return occursInAny(recallable(), text) ? 'recallable' : 'lost';
  };
}

/**
 * Does not join the texts, because one character beyond Latin-1 would double the memory of the
 * whole string.
 */
const occursInAny = (texts: readonly string[], sought: string): boolean => texts.some((text) => text.includes(sought));

/** Summaries shorten paths, and error lines may have lost their colors. */
function listFactSpellings(kind: FactKind, text: string): string[] {
  if (kind === 'files') return [...new Set([text, text.split(/[\\/]/).filter(Boolean).slice(-3).join('/')])];
  return kind === 'errors' ? [...new Set([text, renderTerminalLine(text)])] : [text];
}

function memoizeFirstCall<T>(make: () => T): () => T {
  let cachedResult: { readonly value: T } | undefined;
  return () => (cachedResult ??= { value: make() }).value;
}

const listMessageTexts = (message: ApiMessage): string[] => listContents(message).map(({ text }) => text);

function getRecallableTexts(
  original: readonly ApiMessage[],
  edits: readonly Edit[],
  view: readonly ApiMessage[],
): readonly string[] {
  const viewReferences = new Set(view.flatMap(findReferences));
  return selectLastEditPerPlace(edits).flatMap((edit) => {
    if (edit.kind === 'summary') {
      return viewReferences.has(edit.reference) ? original.slice(edit.start, edit.end).flatMap(listMessageTexts) : [];
    }
    const message = original[edit.place.message];
    if (edit.kind === 'block' || !message) return [];
    const shownCuts = getRemovedLinesOfMarkers(message)(edit).filter(({ reference }) => viewReferences.has(reference));
    return shownCuts.map(({ lines }) => lines).join('\n');
  });
}

const findReferences = memoizeByObject((message: ApiMessage): readonly ReferenceId[] =>
  copyWithoutSpareCapacity(
    listMessageTexts(message).flatMap((text) => findMarkers(text).map(({ reference }) => reference)),
  ),
);

interface RemovedLinesOfReference {
  readonly reference: ReferenceId;
  readonly lines: string;
}

const getRemovedLinesOfMarkers = memoizeByObject((message: ApiMessage) =>
  memoizeByObject(({ place, cuts }: CutEdit): readonly RemovedLinesOfReference[] => {
    const text = getValueAt(message, place.path);
    if (typeof text !== 'string') return [];
    return cuts.flatMap((cut) =>
      cut.reference === undefined ? [] : [{ reference: cut.reference, lines: expandToWholeLines(text, cut) }],
    );
  }),
);

/** Returns whole lines, because a line that is partly cut is lost. */
function expandToWholeLines(text: string, { start, end }: Slice): string {
  const newline = text.indexOf('\n', end);
  return text.slice(text.lastIndexOf('\n', start - 1) + 1, newline < 0 ? text.length : newline);
}

/** Minimum percentage of facts to keep in the view; undefined means no minimum. */
export type MinimumCoherence = Readonly<Partial<Record<FactKind, number | undefined>>>;

export function parseMinimumCoherence(value: unknown): MinimumCoherence {
  if (!isRecord(value)) return {};
  const percents = FACT_KINDS.flatMap((kind) => {
    const percent = value[kind];
    return typeof percent === 'number' && percent >= 0 && percent <= 100 ? [[kind, percent] as const] : [];
  });
  return Object.fromEntries(percents);
}

export function computeKeptPercent({ kept, recallable, lost }: FactKindCoherence): number {
  const factCount = kept + recallable + lost;
  return factCount === 0 ? 100 : (100 * kept) / factCount;
}

const FACT_KIND_LABELS: Readonly<Record<FactKind, string>> = {
  files: 'files',
  errors: 'error lines',
  instructions: 'instructions',
  todos: 'to-dos',
};

export const describeFloorBreaches = (report: CoherenceReport, floor: MinimumCoherence): string[] =>
  FACT_KINDS.flatMap((kind) => {
    const minimum = floor[kind];
    const keptPercent = computeKeptPercent(report[kind]);
    return minimum === undefined || keptPercent >= minimum
      ? []
      : [`only ${Math.floor(keptPercent)}% of the ${FACT_KIND_LABELS[kind]} would remain; the minimum is ${minimum}%`];
  });

export function describeCoherence(report: CoherenceReport): string[] {
  const kinds = FACT_KINDS.map((kind) => ({ ...report[kind], words: FACT_KIND_LABELS[kind] })).map((kind) => ({
    ...kind,
    all: kind.kept + kind.recallable + kind.lost,
  }));
  const presentKinds = kinds.filter(({ all }) => all > 0);
  const formatExamples = (outcome: 'recallable' | 'lost', examples: 'recallableExamples' | 'lostExamples'): string[] =>
    presentKinds
      .filter((kind) => kind[outcome] > 0)
      .map((kind) => `${kind.words} ${formatNamedFacts(kind[examples], kind[outcome])}`);
  const recallableTexts = formatExamples('recallable', 'recallableExamples');
  const lostTexts = formatExamples('lost', 'lostExamples');
  return [
    ...(presentKinds.length > 0
      ? [`The model still sees: ${presentKinds.map(({ kept, all, words }) => `${kept} of ${all} ${words}`).join(', ')}`]
      : []),
    ...(recallableTexts.length > 0 ? [`Only by reference: ${recallableTexts.join('; ')}`] : []),
    ...(lostTexts.length > 0 ? [`Lost: ${lostTexts.join('; ')}`] : []),
  ];
}

const MAX_NAMED_FACTS = 5;

function formatNamedFacts(examples: readonly string[], count: number): string {
  const shownExamples = examples.slice(0, MAX_NAMED_FACTS);
  const hiddenCount = count - shownExamples.length;
  return `${shownExamples.map((text) => `“${removeControlCharacters(text)}”`).join(', ')}${hiddenCount > 0 ? ` and ${hiddenCount} more` : ''}`;
}

const removeControlCharacters = (text: string): string => stripVTControlCharacters(text).replace(/\p{Cc}+/gu, ' ');
