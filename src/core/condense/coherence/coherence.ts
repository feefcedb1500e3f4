import { stripVTControlCharacters } from 'node:util';
import { trimList } from '../../keptList';
import { memoizeByObject } from '../../memoizeByObject';
import { isRecord } from '../../messages/blocks';
import { listContents } from '../../messages/content';
import { DEFAULT_TOOLS, type ToolTable } from '../../messages/tools';
import { getValueAt } from '../../messages/path';
import { renderLine } from '../lossless/terminal';
import { maskSecrets } from '../../secrets/maskSecrets';
import { shortenText } from '../../shortened';
import type { ApiMessage } from '../../messages/types';
import type { Slice } from '../../slice';
import { applyEdits } from '../edits/applyEdits';
import { selectLastByPlace, type CutEdit, type Edit } from '../edits/edits';
import { findMarkers, type ReferenceId } from '../../messages/markers';
import { collectFacts, FACT_KINDS, type Fact, type FactKind } from './facts';

export interface KindCoherence {
  readonly kept: number;
  /** Number of facts that only a reference in the view leads to. */
  readonly recallable: number;
  /** Likely keys are masked. */
  readonly recallableExamples: readonly string[];
  readonly lost: number;
  readonly lostExamples: readonly string[];
}

export type CoherenceReport = Readonly<Record<FactKind, KindCoherence>>;

const MAX_EXAMPLES = 10;
const MAX_EXAMPLE_CHARS = 120;

export function measureCoherence(
  original: readonly ApiMessage[],
  edits: readonly Edit[],
  tools: ToolTable = DEFAULT_TOOLS,
): CoherenceReport {
  const facts = collectFacts(original, tools);
  const look = createFactFinder(original, edits);
  const counts = { files: makeTally(), errors: makeTally(), instructions: makeTally(), todos: makeTally() };
  for (const fact of facts) {
    const count = counts[fact.kind];
    const outcome = look(fact);
    count[outcome]++;
    const examples = outcome === 'lost' ? count.lostExamples : count.recallableExamples;
    if (outcome !== 'kept' && examples.length < MAX_EXAMPLES) examples.push(formatExample(fact));
  }
  return counts;
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

const makeTally = (): FactTally => ({ kept: 0, recallable: 0, recallableExamples: [], lost: 0, lostExamples: [] });

type FactOutcome = 'kept' | 'recallable' | 'lost';

function createFactFinder(original: readonly ApiMessage[], edits: readonly Edit[]): (fact: Fact) => FactOutcome {
  const { messages: view, origins } = applyEdits(original, edits);
  const shown = new Map(origins.map((origin, index) => [origin, view[index]]));
  const texts: string[] = [];
  for (const message of view) {
    texts.push(...getTexts(message));
  }
  const recallable = computeOnce(() => getRecallableTexts(original, edits, view));
  return ({ kind, text, messages }) => {
    const stood = messages.map((index) => ({ before: original[index], now: shown.get(index) }));
    if (stood.some(({ before, now }) => now !== undefined && now === before)) return 'kept';
    const known = getSpellings(kind, text);
    if (known.some((spelling) => stood.some(({ now }) => now !== undefined && occursInAny(getTexts(now), spelling))))
      return 'kept';
    if (known.some((spelling) => occursInAny(texts, spelling))) return 'kept';
    return occursInAny(recallable(), text) ? 'recallable' : 'lost';
  };
}

/** Joining the texts would double the memory if one character is beyond Latin-1. */
const occursInAny = (texts: readonly string[], sought: string): boolean => texts.some((text) => text.includes(sought));

/** Summaries shorten paths, and error lines may have lost their colors. */
function getSpellings(kind: FactKind, text: string): string[] {
  if (kind === 'files') return [...new Set([text, text.split(/[\\/]/).filter(Boolean).slice(-3).join('/')])];
  return kind === 'errors' ? [...new Set([text, renderLine(text)])] : [text];
}

function computeOnce<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}

const getTexts = (message: ApiMessage): string[] => listContents(message).map(({ text }) => text);

function getRecallableTexts(
  original: readonly ApiMessage[],
  edits: readonly Edit[],
  view: readonly ApiMessage[],
): readonly string[] {
  const standing = new Set(view.flatMap(findReferences));
  return selectLastByPlace(edits).flatMap((edit) => {
    if (edit.kind === 'summary') {
      return standing.has(edit.reference) ? original.slice(edit.start, edit.end).flatMap(getTexts) : [];
    }
    const message = original[edit.place.message];
    if (edit.kind === 'block' || !message) return [];
    const led = getCutLines(message)(edit).filter(({ reference }) => standing.has(reference));
    return led.map(({ lines }) => lines).join('\n');
  });
}

const findReferences = memoizeByObject((message: ApiMessage): readonly ReferenceId[] =>
  trimList(getTexts(message).flatMap((text) => findMarkers(text).map(({ reference }) => reference))),
);

interface CutLines {
  readonly reference: ReferenceId;
  readonly lines: string;
}

const getCutLines = memoizeByObject((message: ApiMessage) =>
  memoizeByObject(({ place, cuts }: CutEdit): readonly CutLines[] => {
    const text = getValueAt(message, place.path);
    if (typeof text !== 'string') return [];
    return cuts.flatMap((cut) =>
      cut.reference === undefined ? [] : [{ reference: cut.reference, lines: getWholeLines(text, cut) }],
    );
  }),
);

/** Returns whole lines, because a line that is partly cut is lost. */
function getWholeLines(text: string, { start, end }: Slice): string {
  const newline = text.indexOf('\n', end);
  return text.slice(text.lastIndexOf('\n', start - 1) + 1, newline < 0 ? text.length : newline);
}

/** Minimum percentage of facts to keep in the view; undefined means no minimum. */
export type CoherenceFloor = Readonly<Partial<Record<FactKind, number | undefined>>>;

export function parseCoherenceFloor(value: unknown): CoherenceFloor {
  if (!isRecord(value)) return {};
  const percents = FACT_KINDS.flatMap((kind) => {
    const percent = value[kind];
    return typeof percent === 'number' && percent >= 0 && percent <= 100 ? [[kind, percent] as const] : [];
  });
  return Object.fromEntries(percents);
}

export function getKeptPercent({ kept, recallable, lost }: KindCoherence): number {
  const all = kept + recallable + lost;
  return all === 0 ? 100 : (100 * kept) / all;
}

const FACT_KIND_LABELS: Readonly<Record<FactKind, string>> = {
  files: 'files',
  errors: 'error lines',
  instructions: 'instructions',
  todos: 'to-dos',
};

export const describeBreaches = (report: CoherenceReport, floor: CoherenceFloor): string[] =>
  FACT_KINDS.flatMap((kind) => {
    const least = floor[kind];
    const share = getKeptPercent(report[kind]);
    return least === undefined || share >= least
      ? []
      : [
          `only ${Math.floor(share)}% of the ${FACT_KIND_LABELS[kind]} would remain in the view; the minimum is ${least}%`,
        ];
  });

export function describeCoherence(report: CoherenceReport): string[] {
  const kinds = FACT_KINDS.map((kind) => ({ ...report[kind], words: FACT_KIND_LABELS[kind] })).map((kind) => ({
    ...kind,
    all: kind.kept + kind.recallable + kind.lost,
  }));
  const found = kinds.filter(({ all }) => all > 0);
  const named = (outcome: 'recallable' | 'lost', examples: 'recallableExamples' | 'lostExamples'): string[] =>
    found
      .filter((kind) => kind[outcome] > 0)
      .map((kind) => `${kind.words} ${listExamples(kind[examples], kind[outcome])}`);
  const recallable = named('recallable', 'recallableExamples');
  const lost = named('lost', 'lostExamples');
  return [
    ...(found.length > 0
      ? [`The model still sees: ${found.map(({ kept, all, words }) => `${kept} of ${all} ${words}`).join(', ')}`]
      : []),
    ...(recallable.length > 0 ? [`Only by reference: ${recallable.join('; ')}`] : []),
    ...(lost.length > 0 ? [`Lost: ${lost.join('; ')}`] : []),
  ];
}

const MAX_NAMED_FACTS = 5;

function listExamples(examples: readonly string[], count: number): string {
  const named = examples.slice(0, MAX_NAMED_FACTS);
  const more = count - named.length;
  return `${named.map((text) => `“${toPrintable(text)}”`).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

const toPrintable = (text: string): string => stripVTControlCharacters(text).replace(/\p{Cc}+/gu, ' ');
