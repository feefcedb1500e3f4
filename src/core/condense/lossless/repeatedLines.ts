import { getContentPlace } from '../../messages/exchanges';
import type { ToolTable } from '../../messages/tools';
import type { ContentPlace } from '../../messages/types';
import type { CutRequest } from '../draft/cuts';
import type { Draft } from '../draft/draft';
import { makePlaceKey } from '../edits/edits';
import { makeMarker, type ReferenceId } from '../../messages/markers';
import type { MechanicalStep } from '../draft/steps';
import { describeRepeatedRange, describeRangeWithLongestNumbers } from './describe';
import { encodeForJson } from '../lines/lineEnds';
import { CurrentLineSources, type KeptCopy, type LineSource, type LineSourceKind } from './sources';
import { getLineCache, createMemoryPerLineCache, type LineCache } from './knownLines';
import { RepeatedLineIndex } from './lineIndex';
import { RepeatedRangeChooser, type RepeatedLineRange, type RepeatedRangesOfSource } from './runs';

const LINE_OPERATION_ROWS = {
  oneViewPerFile: {
    name: 'Lines of a file shown elsewhere',
    kinds: ['read'],
    reason: 'the lines appear in another view of the file',
  },
  writesReadBack: {
    name: 'Files read back after being written',
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
  readonly createRemovableTest: CreateRemovableSourceTest | undefined;
  readonly linksSingleLines: boolean;
}

/** Decides which sources may be cut. Default: all sources of the operations' kinds. */
type CreateRemovableSourceTest = (draft: Draft, lineCache: LineCache) => (source: LineSource) => boolean;

interface PlannedCutsAtPlace {
  readonly place: ContentPlace;
  readonly source: LineSource;
  readonly text: string;
  readonly requests: CutRequest[];
  readonly runs: RepeatedRangesOfSource[];
}

/**
 * Keeps each repeated run of lines in one place, to which the others refer. The first step plans
 * all cuts.
 */
export function createRepeatedLinesStep(
  tools: ToolTable,
  keep: KeptCopy,
  operations: readonly LineOperation[],
  acrossFiles = false,
  mayGo?: CreateRemovableSourceTest,
): MechanicalStep[] {
  const rules: RepeatedLineRules = {
    keep,
    acrossFiles,
    createRemovableTest: mayGo,
    linksSingleLines: false,
    removableKinds: new Set(operations.flatMap((operation) => LINE_OPERATION_ROWS[operation].kinds)),
  };
  const plans = new WeakMap<Draft, { readonly cuts: PlannedCutsAtPlace[]; hasSaved: boolean }>();
  const planCuts = (draft: Draft): PlannedCutsAtPlace[] =>
    planCutsOfRepeatedLines(draft, rules, getLineIndexMemoryForRules(getLineCache(draft, tools), keep));
  // Split into two steps so that the event loop can run between them.
  const indexingSteps = [updateLineIndex, updateRepeatedRangesOfIndex].map((updateIndex): MechanicalStep => ({
    name: 'Repeated lines',
    isRepeat: true,
    run(draft) {
      updateIndex(draft, rules, getLineIndexMemoryForRules(getLineCache(draft, tools), keep));
    },
  }));
  const steps = operations.map((operation, index): MechanicalStep => ({
    name: LINE_OPERATION_ROWS[operation].name,
    run(draft) {
      const plannedCuts = plans.get(draft) ?? { cuts: planCuts(draft), hasSaved: false };
      plans.set(draft, plannedCuts);
      if (applyPlannedCuts(draft, plannedCuts.cuts, operation)) plannedCuts.hasSaved = true;
      if (index < operations.length - 1) return;
      plans.delete(draft);
      if (!plannedCuts.hasSaved) return;
      // Removes what a second run would still find.
      const memory = createLineIndexMemoryForFurtherRounds(getLineCache(draft, tools), keep);
      for (let round = 1; round < MAX_SEARCH_ROUNDS; round++) {
        const remainingCuts = planCutsOfRepeatedLines(draft, { ...rules, linksSingleLines: true }, memory);
        if (!applyPlannedCuts(draft, remainingCuts)) return;
      }
    },
  }));
  return steps.length === 0 ? [] : [...indexingSteps, ...steps];
}

const MAX_SEARCH_ROUNDS = 4;

function applyPlannedCuts(draft: Draft, plan: readonly PlannedCutsAtPlace[], onlyOperation?: LineOperation): boolean {
  let totalSavedTokens = 0;
  for (const { place, source, text, requests, runs: runsBySource } of plan) {
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
    // Cuts that saved nothing are not tried again; other cuts are, if they are undone.
    if (savedTokens === 0) for (const sourceRanges of runsBySource) sourceRanges.isSettled = true;
    totalSavedTokens += savedTokens;
  }
  return totalSavedTokens > 0;
}

const findLineOperation = (kind: LineSourceKind): LineOperation =>
  LINE_OPERATIONS.find((operation) =>
    (LINE_OPERATION_ROWS[operation].kinds as readonly LineSourceKind[]).includes(kind),
  ) ?? 'repeatedRuns';

function planCutsOfRepeatedLines(
  draft: Draft,
  rules: RepeatedLineRules,
  memory: LineIndexMemory,
): PlannedCutsAtPlace[] {
  const rangeChooser = updateRepeatedRangesOfIndex(draft, rules, memory);
  const plan = new Map<string, PlannedCutsAtPlace>();
  for (const sourceRanges of rangeChooser.listUnprocessedRanges()) {
    const { source } = sourceRanges;
    const requests = sourceRanges.runs.map(createCutRequestForRange);
    const place = getContentPlace(source.content);
    const plannedCuts = plan.get(makePlaceKey(place)) ?? {
      place,
      source,
      text: draft.getText(place),
      requests: [],
      runs: [],
    };
    plannedCuts.requests.push(...requests);
    plannedCuts.runs.push(sourceRanges);
    plan.set(makePlaceKey(place), plannedCuts);
  }
  return [...plan.values()];
}

interface LineIndexWithRepeatedRanges {
  readonly index: RepeatedLineIndex;
  readonly rangeChooser: RepeatedRangeChooser;
  /** Texts that could be cut as new results; after they are sent, they must stay. */
  readonly sourcesCutAsNew: WeakSet<LineSource>;
}

interface LineIndexMemory {
  readonly lineCache: LineCache;
  readonly sources: CurrentLineSources;
  latest: LineIndexWithRepeatedRanges | undefined;
}

const getLineIndexMemory = createMemoryPerLineCache((lineCache): LineIndexMemory => ({
  lineCache,
  sources: new CurrentLineSources(lineCache),
  latest: undefined,
}));

/** New results have an index of their own, so that they do not disturb the index of Lossless. */
const getLineIndexMemoryForRules = (lineCache: LineCache, keep: KeptCopy): LineIndexMemory =>
  getLineIndexMemory(lineCache, keep === 'above' ? 'new results' : '');

/** Not cached, because it is as large as the main index and rarely needed. */
const createLineIndexMemoryForFurtherRounds = (lineCache: LineCache, keep: KeptCopy): LineIndexMemory =>
  keep === 'above'
    ? getLineIndexMemoryForRules(lineCache, keep)
    : { ...getLineIndexMemoryForRules(lineCache, keep), latest: undefined };

function updateRepeatedRangesOfIndex(
  draft: Draft,
  rules: RepeatedLineRules,
  memory: LineIndexMemory,
): RepeatedRangeChooser {
  const latestIndex = updateLineIndex(draft, rules, memory);
  memory.latest = undefined;
  latestIndex.rangeChooser.updateChoices((run) => savesMoreTokensThanMarkerCosts(draft, run));
  memory.latest = latestIndex;
  return latestIndex.rangeChooser;
}

/** Reuses the earlier index up to the first text that has changed. */
function updateLineIndex(draft: Draft, rules: RepeatedLineRules, memory: LineIndexMemory): LineIndexWithRepeatedRanges {
  const { lineCache } = memory;
  const previousIndex = memory.latest;
  memory.latest = undefined;
  const isReusable =
    previousIndex?.index.keep === rules.keep &&
    previousIndex.index.acrossFiles === rules.acrossFiles &&
    areSetsEqual(previousIndex.index.removableKinds, rules.removableKinds);
  const { index, rangeChooser: runs, sourcesCutAsNew } = isReusable ? previousIndex : createLineIndex(lineCache, rules);
  const sources = memory.sources.getCurrentSources(draft.exchanges, draft.task);
  const wasSent = (source: LineSource): boolean =>
    source.content.message < draft.sentCount && sourcesCutAsNew.has(source);
  const firstChangedIndex = sources.findIndex((source, at) => source !== index.sources[at] || wasSent(source));
  const unchangedCount = firstChangedIndex < 0 ? sources.length : firstChangedIndex;
  index.truncateSources(unchangedCount);
  const isSourceRemovable = unchangedCount < sources.length ? rules.createRemovableTest?.(draft, lineCache) : undefined;
  for (const source of sources.slice(unchangedCount)) {
    const isRemovable = isSourceRemovable?.(source);
    if (isRemovable === true) sourcesCutAsNew.add(source);
    else sourcesCutAsNew.delete(source);
    index.addSource(source, isRemovable);
  }
  return (memory.latest = { index, rangeChooser: runs, sourcesCutAsNew });
}

function createLineIndex(
  lineCache: LineCache,
  { keep, removableKinds, acrossFiles, linksSingleLines }: RepeatedLineRules,
): LineIndexWithRepeatedRanges {
  const index = new RepeatedLineIndex(keep, removableKinds, lineCache.ids, acrossFiles, linksSingleLines);
  return {
    index,
    rangeChooser: new RepeatedRangeChooser(index, (id) => lineCache.ids.isBlank(id)),
    sourcesCutAsNew: new WeakSet(),
  };
}

const areSetsEqual = <T>(a: ReadonlySet<T>, b: ReadonlySet<T>): boolean =>
  a.size === b.size && [...a].every((value) => b.has(value));

/** Margin in tokens, because the length of the marker's reference is not known yet. */
const KEPT_MARGIN_LINES = 3;
/** Gaps make a text harder to read, so each must save this many times the cost of its marker. */
const MIN_SAVING_TO_MARKER_COST_RATIO = 1.2;
const PLACEHOLDER_REFERENCE = 'a1b2c3' as ReferenceId;

function savesMoreTokensThanMarkerCosts({ counter }: Draft, run: RepeatedLineRange): boolean {
  const { content, lines, kind } = run.source;
  const longestMarker = makeMarker(describeRangeWithLongestNumbers(run), PLACEHOLDER_REFERENCE);
  if (lines.getEnd(run.last) - lines.getStartOfCut(run.first, run.last) > 6 * longestMarker.length) return true;
  // Leaves out line numbers, because a later step may remove them.
  let removedText = '';
  for (let line = run.first; line <= run.last; line++)
    removedText += `${content.text.slice(lines.getStartAfterPrefix(line), lines.getEnd(line))}\n`;
  const minSavingRatio = kind === 'result' ? MIN_SAVING_TO_MARKER_COST_RATIO : 1;
  return counter.countText(removedText) >= minSavingRatio * counter.countText(longestMarker) + KEPT_MARGIN_LINES;
}

function createCutRequestForRange(run: RepeatedLineRange): CutRequest {
  const { content, lines } = run.source;
  return {
    start: content.start + lines.getStartOfCut(run.first, run.last),
    end: content.start + lines.getEnd(run.last),
    marker: lines.lineEnd === '\n' ? describeRepeatedRange(run) : encodeForJson(describeRepeatedRange(run)),
  };
}
