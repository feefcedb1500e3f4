import { getPlace } from '../../messages/exchanges';
import type { ToolTable } from '../../messages/tools';
import type { Place } from '../../messages/types';
import type { CutRequest } from '../draft/cuts';
import type { Draft } from '../draft/draft';
import { placeKey } from '../edits/edits';
import { marker, type ReferenceId } from '../../messages/markers';
import type { MechanicalStep } from '../draft/steps';
import { describeRun, longestDescription } from './describe';
import { encoded } from '../lines/lineEnds';
import { Sources, type Keep, type Source, type SourceKind } from './sources';
import { takeKnownLines, stepMemory, type KnownLines } from './knownLines';
import { LineIndex } from './lineIndex';
import { RunsOfIndex, type KeptRun, type RunsOfSource } from './runs';

/** The operations that leave out lines which stand elsewhere, and the texts that each works on. */
const OPERATIONS = {
  oneViewPerFile: {
    name: 'One view per file',
    kinds: ['read'],
    reason: 'the lines appear in another view of the file',
  },
  editEchoes: { name: 'Edit echoes', kinds: ['echo'], reason: 'the lines appear in the edit and in what was read' },
  writesReadBack: {
    name: 'Writes read back',
    kinds: ['written', 'new', 'old', 'failed'],
    reason: 'the lines appear in a result or in another call',
  },
  repeatedRuns: { name: 'Repeated runs of lines', kinds: ['result'], reason: 'the lines appear in another result' },
} as const satisfies Record<string, { name: string; kinds: readonly SourceKind[]; reason: string }>;

export type LineOperation = keyof typeof OPERATIONS;

export const LINE_OPERATIONS = Object.keys(OPERATIONS) as LineOperation[];

/** The rules that decide which lines stand for which. */
interface Rules {
  readonly keep: Keep;
  readonly cuttable: ReadonlySet<SourceKind>;
  /** Whether lines of one file may be kept in another's. */
  readonly acrossFiles: boolean;
  readonly mayGo: MayGo | undefined;
  /** Whether the lines are looked for that the plan before left over. */
  readonly takesRest: boolean;
}

/** Which texts of a draft may be cut, as they come; absent: those of the operations' kinds. */
type MayGo = (draft: Draft, known: KnownLines) => (source: Source) => boolean;

/** The cuts of one operation at one place. */
interface PlannedCuts {
  readonly place: Place;
  readonly source: Source;
  /** The whole text that the requests speak of. */
  readonly text: string;
  readonly requests: CutRequest[];
  /** The planned runs. */
  readonly of: RunsOfSource[];
}

/**
 * Steps that let each line stand once: every run of lines, in results and in parameters, is kept in one place and referred
 * to in the others. One plan is made for all of them, on the view that the first of them finds.
 */
export function repeatedLines(
  tools: ToolTable,
  keep: Keep,
  operations: readonly LineOperation[],
  acrossFiles = false,
  mayGo?: MayGo,
): MechanicalStep[] {
  const rules: Rules = {
    keep,
    acrossFiles,
    mayGo,
    takesRest: false,
    cuttable: new Set(operations.flatMap((operation) => OPERATIONS[operation].kinds)),
  };
  const plans = new WeakMap<Draft, { readonly cuts: PlannedCuts[]; saves: boolean }>();
  const plan = (draft: Draft): PlannedCuts[] => makePlan(draft, rules, memoryOf(takeKnownLines(draft, tools), keep));
  // Steps of their own, for they are most of the work, and a turn of the event loop follows on each step.
  const reading = [indexLines, runsFor].map((read): MechanicalStep => ({
    name: 'Repeated lines',
    isRepeat: true,
    run(draft) {
      read(draft, rules, memoryOf(takeKnownLines(draft, tools), keep));
    },
  }));
  const steps = operations.map((operation, at): MechanicalStep => ({
    name: OPERATIONS[operation].name,
    run(draft) {
      const known = plans.get(draft) ?? { cuts: plan(draft), saves: false };
      plans.set(draft, known);
      if (apply(draft, known.cuts, operation)) known.saves = true;
      if (at < operations.length - 1) return;
      plans.delete(draft);
      if (!known.saves) return;
      // Of what stood more often before than behind, and what cuts bring together: a second run over the view must find nothing.
      const memory = memoryOfRest(takeKnownLines(draft, tools), keep);
      for (let round = 1; round < MAX_ROUNDS; round++) {
        const rest = makePlan(draft, { ...rules, takesRest: true }, memory);
        if (!apply(draft, rest)) return;
      }
    },
  }));
  return steps.length === 0 ? [] : [...reading, ...steps];
}

const MAX_ROUNDS = 4;

/** Makes the planned cuts of one operation, or of all. */
function apply(draft: Draft, plan: readonly PlannedCuts[], only?: LineOperation): boolean {
  let saved = 0;
  for (const { place, source, text, requests, of } of plan) {
    const operation = operationOf(source.kind);
    if (only !== undefined && operation !== only) continue;
    // Places that the check has restored since are planned anew.
    if (draft.text(place) !== text) continue;
    const { name, reason } = OPERATIONS[operation];
    const own = draft.cut(name, place, requests, {
      contentType: source.content.type,
      operation: 'reference',
      reason,
      strict: true,
    });
    // If what was done is taken back, it is to be done again.
    if (own === 0) for (const runs of of) runs.isSettled = true;
    saved += own;
  }
  return saved > 0;
}

const operationOf = (kind: SourceKind): LineOperation =>
  LINE_OPERATIONS.find((operation) => (OPERATIONS[operation].kinds as readonly SourceKind[]).includes(kind)) ??
  'repeatedRuns';

function makePlan(draft: Draft, rules: Rules, memory: IndexMemory): PlannedCuts[] {
  const runs = runsFor(draft, rules, memory);
  const plan = new Map<string, PlannedCuts>();
  for (const own of runs.unsettled()) {
    const { source } = own;
    const requests = own.runs.map(requestFor);
    const place = getPlace(source.content);
    const ofPlace = plan.get(placeKey(place)) ?? { place, source, text: draft.text(place), requests: [], of: [] };
    ofPlace.requests.push(...requests);
    ofPlace.of.push(own);
    plan.set(placeKey(place), ofPlace);
  }
  return [...plan.values()];
}

interface IndexWithRuns {
  readonly index: LineIndex;
  readonly runs: RunsOfIndex;
  /** Texts of new results, whose lines could go: once sent, they stay, and the index is to know them so. */
  readonly asNew: WeakSet<Source>;
}

interface IndexMemory {
  readonly known: KnownLines;
  readonly sources: Sources;
  /** The index of the latest plan; taken out while one is made, so that a plan that fails leaves no half of one. */
  latest: IndexWithRuns | undefined;
}

const memories = stepMemory((known): IndexMemory => ({ known, sources: new Sources(known), latest: undefined }));

/** Condensing new results has an index of its own, which the runs of Lossless in between leave as it is. */
const memoryOf = (known: KnownLines, keep: Keep): IndexMemory => memories(known, keep === 'above' ? 'new results' : '');

/**
 * The index of the lines that are left over is gone with its step: it is as large as the other, is only asked for where that
 * one saved, and then most of it would be made anew.
 */
const memoryOfRest = (known: KnownLines, keep: Keep): IndexMemory =>
  keep === 'above' ? memoryOf(known, keep) : { ...memoryOf(known, keep), latest: undefined };

/** The runs of a draft's view. */
function runsFor(draft: Draft, rules: Rules, memory: IndexMemory): RunsOfIndex {
  const latest = indexLines(draft, rules, memory);
  memory.latest = undefined;
  latest.runs.update((run) => isWorth(draft, run));
  memory.latest = latest;
  return latest.runs;
}

/** The index of a draft's view; of the one before, all up to the first text that has changed is kept. */
function indexLines(draft: Draft, rules: Rules, memory: IndexMemory): IndexWithRuns {
  const { known } = memory;
  const before = memory.latest;
  memory.latest = undefined;
  const fits =
    before?.index.keep === rules.keep &&
    before.index.acrossFiles === rules.acrossFiles &&
    isSameSet(before.index.cuttable, rules.cuttable);
  const { index, runs, asNew } = fits ? before : newIndex(known, rules);
  const sources = memory.sources.of(draft.exchanges, draft.task);
  const wasSent = (source: Source): boolean => source.content.message < draft.sentBefore && asNew.has(source);
  const changed = sources.findIndex((source, at) => source !== index.sources[at] || wasSent(source));
  const kept = changed < 0 ? sources.length : changed;
  index.truncate(kept);
  const mayGo = kept < sources.length ? rules.mayGo?.(draft, known) : undefined;
  for (const source of sources.slice(kept)) {
    const may = mayGo?.(source);
    if (may === true) asNew.add(source);
    else asNew.delete(source);
    index.add(source, may);
  }
  return (memory.latest = { index, runs, asNew });
}

function newIndex(known: KnownLines, { keep, cuttable, acrossFiles, takesRest }: Rules): IndexWithRuns {
  const index = new LineIndex(keep, cuttable, known.ids, acrossFiles, takesRest);
  return { index, runs: new RunsOfIndex(index, (id) => known.ids.isBlank(id)), asNew: new WeakSet() };
}

const isSameSet = <T>(a: ReadonlySet<T>, b: ReadonlySet<T>): boolean =>
  a.size === b.size && [...a].every((value) => b.has(value));

/**
 * Tokens that a cut must save beyond its marker: the reference is not known yet, and references differ by a few tokens.
 */
const MARGIN = 3;
/** A log or a listing with gaps is hard to read: a gap must save so many times what its marker costs. */
const MIN_WORTH = 1.2;
const ANY_REFERENCE = 'a1b2c3' as ReferenceId;

function isWorth({ counter }: Draft, run: KeptRun): boolean {
  const { content, lines, kind } = run.source;
  const price = marker(longestDescription(run), ANY_REFERENCE);
  if (lines.end(run.last) - lines.cutStart(run.first, run.last) > 6 * price.length) return true;
  // Counted without line numbers: a later step may cut them, and the marker must still be worth it.
  let body = '';
  for (let line = run.first; line <= run.last; line++)
    body += `${content.text.slice(lines.body(line), lines.end(line))}\n`;
  const worth = kind === 'result' ? MIN_WORTH : 1;
  return counter.text(body) >= worth * counter.text(price) + MARGIN;
}

function requestFor(run: KeptRun): CutRequest {
  const { content, lines } = run.source;
  return {
    start: content.start + lines.cutStart(run.first, run.last),
    end: content.start + lines.end(run.last),
    marker: lines.lineEnd === '\n' ? describeRun(run) : encoded(describeRun(run)),
  };
}
