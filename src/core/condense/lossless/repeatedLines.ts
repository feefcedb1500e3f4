import { getContentPlace } from '../../messages/exchanges';
import type { ToolTable } from '../../messages/tools';
import type { ContentPlace } from '../../messages/types';
import type { CutRequest } from '../draft/cuts';
import type { Draft } from '../draft/draft';
import { makePlaceKey } from '../edits/edits';
import { makeMarker, type ReferenceId } from '../../messages/markers';
import type { MechanicalStep } from '../draft/steps';
import { describeSourceRun, describeRunAtMost } from './describe';
import { encodeForJson } from '../lines/lineEnds';
import { CurrentLineSources, type KeptCopy, type LineSource, type LineSourceKind } from './sources';
import { getLineCache, createMemoryPerLineCache, type LineCache } from './knownLines';
import { RepeatedLineIndex } from './lineIndex';
import { RepeatedLineRuns, type RepeatedRun, type RunsOfSource } from './runs';

const LINE_OPERATION_ROWS = {
  oneViewPerFile: {
    name: 'One view per file',
    kinds: ['read'],
    reason: 'the lines appear in another view of the file',
  },
  writesReadBack: {
    name: 'Writes read back',
    kinds: ['written', 'new', 'old', 'failed'],
    reason: 'the lines appear in a result or in another call',
  },
  repeatedRuns: {
    name: 'Repeated runs of lines',
    kinds: ['result', 'echo'],
    reason: 'the lines appear in another result or in a call',
  },
} as const satisfies Record<string, { name: string; kinds: readonly LineSourceKind[]; reason: string }>;

export type LineOperation = keyof typeof LINE_OPERATION_ROWS;

export const LINE_OPERATIONS = Object.keys(LINE_OPERATION_ROWS) as LineOperation[];

interface RepeatedLineRules {
  readonly keep: KeptCopy;
  readonly removableKinds: ReadonlySet<LineSourceKind>;
  /** Whether a line of one file may be kept in another file. */
  readonly acrossFiles: boolean;
  readonly mayGo: CreateRemovableTest | undefined;
  readonly linksSingleLines: boolean;
}

/** Decides which sources may be cut. Default: all of the operations' kinds. */
type CreateRemovableTest = (draft: Draft, lineCache: LineCache) => (source: LineSource) => boolean;

interface PlannedCutsAtPlace {
  readonly place: ContentPlace;
  readonly source: LineSource;
  readonly text: string;
  readonly requests: CutRequest[];
  readonly runs: RunsOfSource[];
}

/**
 * Keeps each run of lines in one place, to which the others refer. The first step plans for all.
 */
export function createRepeatedLinesStep(
  tools: ToolTable,
  keep: KeptCopy,
  operations: readonly LineOperation[],
  acrossFiles = false,
  mayGo?: CreateRemovableTest,
): MechanicalStep[] {
  const rules: RepeatedLineRules = {
    keep,
    acrossFiles,
    mayGo,
    linksSingleLines: false,
    removableKinds: new Set(operations.flatMap((operation) => LINE_OPERATION_ROWS[operation].kinds)),
  };
  const plans = new WeakMap<Draft, { readonly cuts: PlannedCutsAtPlace[]; saves: boolean }>();
  const plan = (draft: Draft): PlannedCutsAtPlace[] =>
    planCuts(draft, rules, getMemoryForRules(getLineCache(draft, tools), keep));
  // Two steps give the event loop a turn in between.
  const reading = [updateLineIndex, updateIndexRuns].map((read): MechanicalStep => ({
    name: 'Repeated lines',
    isRepeat: true,
    run(draft) {
      read(draft, rules, getMemoryForRules(getLineCache(draft, tools), keep));
    },
  }));
  const steps = operations.map((operation, at): MechanicalStep => ({
    name: LINE_OPERATION_ROWS[operation].name,
    run(draft) {
      const planned = plans.get(draft) ?? { cuts: plan(draft), saves: false };
      plans.set(draft, planned);
      if (applyPlannedCuts(draft, planned.cuts, operation)) planned.saves = true;
      if (at < operations.length - 1) return;
      plans.delete(draft);
      if (!planned.saves) return;
      // Removes what a second run would still find.
      const memory = createMemoryForRest(getLineCache(draft, tools), keep);
      for (let round = 1; round < MAX_SEARCH_ROUNDS; round++) {
        const rest = planCuts(draft, { ...rules, linksSingleLines: true }, memory);
        if (!applyPlannedCuts(draft, rest)) return;
      }
    },
  }));
  return steps.length === 0 ? [] : [...reading, ...steps];
}

const MAX_SEARCH_ROUNDS = 4;

function applyPlannedCuts(draft: Draft, plan: readonly PlannedCutsAtPlace[], onlyOperation?: LineOperation): boolean {
  let saved = 0;
  for (const { place, source, text, requests, runs } of plan) {
    const operation = findLineOperation(source.kind);
    if (onlyOperation !== undefined && operation !== onlyOperation) continue;
    // A restored reference has changed this text.
    if (draft.getText(place) !== text) continue;
    const { name, reason } = LINE_OPERATION_ROWS[operation];
    const savedTokens = draft.cutText(name, place, requests, {
      contentType: source.content.type,
      operation: 'reference',
      reason,
      strict: true,
    });
    // Runs that saved something are tried again if the cuts are undone.
    if (savedTokens === 0) for (const sourceRuns of runs) sourceRuns.isSettled = true;
    saved += savedTokens;
  }
  return saved > 0;
}

const findLineOperation = (kind: LineSourceKind): LineOperation =>
  LINE_OPERATIONS.find((operation) =>
    (LINE_OPERATION_ROWS[operation].kinds as readonly LineSourceKind[]).includes(kind),
  ) ?? 'repeatedRuns';

function planCuts(draft: Draft, rules: RepeatedLineRules, memory: LineIndexMemory): PlannedCutsAtPlace[] {
  const runs = updateIndexRuns(draft, rules, memory);
  const plan = new Map<string, PlannedCutsAtPlace>();
  for (const sourceRuns of runs.listUnsettledRuns()) {
    const { source } = sourceRuns;
    const requests = sourceRuns.runs.map(createCutRequest);
    const place = getContentPlace(source.content);
    const ofPlace = plan.get(makePlaceKey(place)) ?? {
      place,
      source,
      text: draft.getText(place),
      requests: [],
      runs: [],
    };
    ofPlace.requests.push(...requests);
    ofPlace.runs.push(sourceRuns);
    plan.set(makePlaceKey(place), ofPlace);
  }
  return [...plan.values()];
}

interface LineIndexWithRuns {
  readonly index: RepeatedLineIndex;
  readonly runs: RepeatedLineRuns;
  /** Texts that could be cut as new results; after they are sent, they must stay. */
  readonly cutAsNew: WeakSet<LineSource>;
}

interface LineIndexMemory {
  readonly lineCache: LineCache;
  readonly sources: CurrentLineSources;
  latest: LineIndexWithRuns | undefined;
}

const getLineIndexMemory = createMemoryPerLineCache((lineCache): LineIndexMemory => ({
  lineCache,
  sources: new CurrentLineSources(lineCache),
  latest: undefined,
}));

/** New results have an index of their own, so that they do not disturb that of Lossless. */
const getMemoryForRules = (lineCache: LineCache, keep: KeptCopy): LineIndexMemory =>
  getLineIndexMemory(lineCache, keep === 'above' ? 'new results' : '');

/** Not kept, because it is as large as the main index and rarely needed. */
const createMemoryForRest = (lineCache: LineCache, keep: KeptCopy): LineIndexMemory =>
  keep === 'above' ? getMemoryForRules(lineCache, keep) : { ...getMemoryForRules(lineCache, keep), latest: undefined };

function updateIndexRuns(draft: Draft, rules: RepeatedLineRules, memory: LineIndexMemory): RepeatedLineRuns {
  const latest = updateLineIndex(draft, rules, memory);
  memory.latest = undefined;
  latest.runs.updateChoices((run) => isWorthMarkerTokens(draft, run));
  memory.latest = latest;
  return latest.runs;
}

/** Reuses the earlier index up to the first text that has changed. */
function updateLineIndex(draft: Draft, rules: RepeatedLineRules, memory: LineIndexMemory): LineIndexWithRuns {
  const { lineCache } = memory;
  const before = memory.latest;
  memory.latest = undefined;
  const fits =
    before?.index.keep === rules.keep &&
    before.index.acrossFiles === rules.acrossFiles &&
    areSetsEqual(before.index.removableKinds, rules.removableKinds);
  const { index, runs, cutAsNew } = fits ? before : createLineIndex(lineCache, rules);
  const sources = memory.sources.getCurrentSources(draft.exchanges, draft.task);
  const wasSent = (source: LineSource): boolean => source.content.message < draft.sentCount && cutAsNew.has(source);
  const changed = sources.findIndex((source, at) => source !== index.sources[at] || wasSent(source));
  const kept = changed < 0 ? sources.length : changed;
  index.truncateSources(kept);
  const mayGo = kept < sources.length ? rules.mayGo?.(draft, lineCache) : undefined;
  for (const source of sources.slice(kept)) {
    const isRemovable = mayGo?.(source);
    if (isRemovable === true) cutAsNew.add(source);
    else cutAsNew.delete(source);
    index.addSource(source, isRemovable);
  }
  return (memory.latest = { index, runs, cutAsNew });
}

function createLineIndex(
  lineCache: LineCache,
  { keep, removableKinds, acrossFiles, linksSingleLines }: RepeatedLineRules,
): LineIndexWithRuns {
  const index = new RepeatedLineIndex(keep, removableKinds, lineCache.ids, acrossFiles, linksSingleLines);
  return { index, runs: new RepeatedLineRuns(index, (id) => lineCache.ids.isBlank(id)), cutAsNew: new WeakSet() };
}

const areSetsEqual = <T>(a: ReadonlySet<T>, b: ReadonlySet<T>): boolean =>
  a.size === b.size && [...a].every((value) => b.has(value));

/** Margin for the reference, whose length is not known yet. */
const KEPT_MARGIN_LINES = 3;
/** Gaps make a text harder to read, so each must save this many times the cost of its marker. */
const MIN_SAVING_FACTOR = 1.2;
const PLACEHOLDER_REFERENCE = 'a1b2c3' as ReferenceId;

function isWorthMarkerTokens({ counter }: Draft, run: RepeatedRun): boolean {
  const { content, lines, kind } = run.source;
  const price = makeMarker(describeRunAtMost(run), PLACEHOLDER_REFERENCE);
  if (lines.getEnd(run.last) - lines.getCutStart(run.first, run.last) > 6 * price.length) return true;
  // Leaves out line numbers, because a later step may remove them.
  let body = '';
  for (let line = run.first; line <= run.last; line++)
    body += `${content.text.slice(lines.getBodyStart(line), lines.getEnd(line))}\n`;
  const worth = kind === 'result' ? MIN_SAVING_FACTOR : 1;
  return counter.countText(body) >= worth * counter.countText(price) + KEPT_MARGIN_LINES;
}

function createCutRequest(run: RepeatedRun): CutRequest {
  const { content, lines } = run.source;
  return {
    start: content.start + lines.getCutStart(run.first, run.last),
    end: content.start + lines.getEnd(run.last),
    marker: lines.lineEnd === '\n' ? describeSourceRun(run) : encodeForJson(describeSourceRun(run)),
  };
}
