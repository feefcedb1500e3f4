import { contentsOf } from '../../messages/content';
import { toolExchanges, type ToolExchange } from '../../messages/exchanges';
import { DEFAULT_TOOLS, type ToolTable } from '../../messages/tools';
import type { ApiMessage, ContentType, Place } from '../../messages/types';
import type { Draft } from '../draft';
import { placeKey, type Cut } from '../edits';
import type { DraftStep } from '../steps';
import { exchangesOf } from './draftExchanges';
import { requiredBy, type PlaceCuts, type Requirement } from './requirements';
import { hintsOf } from './sources';
import { StandingLines } from './standing';

/** A strict cut whose text no longer stands elsewhere in the view. */
export interface BrokenCut {
  readonly place: Place;
  readonly cut: Cut;
  readonly contentType: ContentType;
  /** The first line that is missed; empty where a line's number is. */
  readonly line: string;
}

/**
 * Proves that every line which a strict cut left out stands elsewhere in the view, word for word, and that every line
 * number which was left out follows from the line before.
 * @param shown what was cut, by place.
 * @returns the cuts of which that is not true.
 */
export function brokenCuts(
  original: readonly ApiMessage[],
  view: readonly ApiMessage[],
  shown: Iterable<PlaceCuts>,
  tools: ToolTable = DEFAULT_TOOLS,
): BrokenCut[] {
  const standing = new StandingLines();
  standing.update(view, hintsOf(toolExchanges(view), tools));
  return brokenIn(original, toolExchanges(original), standing, shown, tools);
}

function brokenIn(
  original: readonly ApiMessage[],
  exchanges: readonly ToolExchange[],
  standing: StandingLines,
  shown: Iterable<PlaceCuts>,
  tools: ToolTable,
): BrokenCut[] {
  const hints = hintsOf(exchanges, tools);
  const broken: BrokenCut[] = [];
  for (const at of shown) {
    const message = original[at.place.message];
    if (!message) continue;
    const missed = new Map<Cut, Requirement>();
    for (const requirement of requiredBy(at, contentsOf(message), hints)) {
      const { cut, hash } = requirement;
      if (!missed.has(cut) && (hash === undefined || !standing.has(hash))) missed.set(cut, requirement);
    }
    for (const [cut, { contentType, line }] of missed) broken.push({ place: at.place, cut, contentType, line });
  }
  return broken;
}

/** What is known of a draft from the check before, so that the next one costs what has changed since. */
interface Checked {
  readonly standing: StandingLines;
  readonly exchanges: readonly ToolExchange[];
}

const checked = new WeakMap<Draft, Checked>();

/**
 * Restores what strict cuts left out where it stands nowhere else any more, because a later operation took the kept copy.
 * @returns how many cuts were taken back.
 */
export function restoreBroken(draft: Draft, tools: ToolTable = DEFAULT_TOOLS): number {
  const known = checked.get(draft) ?? { standing: new StandingLines(), exchanges: toolExchanges(draft.original) };
  checked.set(draft, known);
  known.standing.update(draft.messages, hintsOf(exchangesOf(draft), tools));
  const broken = brokenIn(draft.original, known.exchanges, known.standing, draft.shown, tools);
  const byPlace = new Map<string, Set<Cut>>();
  for (const { place, cut } of broken) {
    const key = placeKey(place);
    byPlace.set(key, (byPlace.get(key) ?? new Set<Cut>()).add(cut));
  }
  for (const { place, contentType } of broken) {
    draft.restore(RESTORED, place, byPlace.get(placeKey(place)) ?? new Set(), {
      contentType,
      reason: 'the copy that a reference pointed at was taken out',
      strict: true,
    });
  }
  return broken.length;
}

/** What reports call it. */
export const RESTORED = 'Restored references';

const MAX_ROUNDS = 2;

/** A step that is followed by the check: what it broke is restored, and it runs once more on that. */
export function keepingReferences(step: DraftStep, tools?: ToolTable): DraftStep {
  return {
    ...step,
    async run(draft, pace) {
      for (let round = 0; round < MAX_ROUNDS; round++) {
        const { tokens } = draft;
        await step.run(draft, pace);
        if (draft.tokens === tokens || restoreBroken(draft, tools) === 0) return;
        await pace.breathe();
      }
    },
  };
}
