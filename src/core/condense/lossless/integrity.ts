import { contentsOf } from '../../messages/content';
import { toolExchanges } from '../../messages/exchanges';
import { DEFAULT_TOOLS, type ToolTable } from '../../messages/tools';
import type { ApiMessage, ContentType, Place } from '../../messages/types';
import type { Draft } from '../draft/draft';
import { placeKey, type Cut, type Edit } from '../edits/edits';
import { Pace } from '../../pace';
import type { DraftStep } from '../report/steps';
import { exchangesOf } from './draftExchanges';
import { giveBackLines, KnownLines, knownLinesOf } from './knownLines';
import { NOTHING } from './lineIds';
import { requiredBy, type PlaceCuts, type Requirement } from './requirements';

/** A strict cut whose text no longer stands elsewhere in the view. */
export interface BrokenCut {
  readonly place: Place;
  readonly cut: Cut;
  readonly contentType: ContentType;
  /** The first line that is missing; empty where only a line's number is. */
  readonly line: string;
}

/**
 * Proves that every line which a strict cut left out stands elsewhere in the view, word for word, and that every line
 * number which was left out follows from the line before.
 * @param shown what was cut, by place.
 * @returns the cuts of which that is not true.
 */
export async function brokenCuts(
  original: readonly ApiMessage[],
  view: readonly ApiMessage[],
  shown: Iterable<PlaceCuts>,
  tools: ToolTable = DEFAULT_TOOLS,
): Promise<BrokenCut[]> {
  const known = new KnownLines(tools);
  known.learn(toolExchanges(original), 'original');
  known.learn(toolExchanges(view), 'view');
  await known.standing.update(view, new Pace());
  return brokenIn(original, shown, known);
}

function brokenIn(original: readonly ApiMessage[], shown: Iterable<PlaceCuts>, known: KnownLines): BrokenCut[] {
  const broken: BrokenCut[] = [];
  for (const at of shown) {
    const message = original[at.place.message];
    if (!message) continue;
    const missed = new Set<Cut>();
    for (const { cut, contentType, lines } of requirementsOf(at, message, known)) {
      const line = missed.has(cut) ? undefined : missedLine(lines, known);
      if (line === undefined) continue;
      missed.add(cut);
      broken.push({ place: at.place, cut, contentType, line });
    }
  }
  return broken;
}

function requirementsOf(at: PlaceCuts, message: ApiMessage, known: KnownLines): readonly Requirement[] {
  const before = known.requirements.get(at.cuts);
  if (before) return before;
  const requirements = requiredBy(at, contentsOf(message), known);
  known.requirements.set(at.cuts, requirements);
  for (const { lines } of requirements) {
    for (let line = lines?.first ?? 0; line <= (lines?.last ?? -1); line++) {
      const id = lines?.of.id(line) ?? NOTHING;
      if (id !== NOTHING && !known.ids.isBlank(id)) known.standing.promise(id);
    }
  }
  return requirements;
}

/** The first line that is missing from the view; undefined where all are there. */
function missedLine(lines: Requirement['lines'], { standing, ids }: KnownLines): string | undefined {
  if (!lines) return '';
  const { content, of, first, last } = lines;
  for (let line = first; line <= last; line++) {
    const id = of.id(line);
    if (!standing.has(id) && !ids.isBlank(id)) return content.text.slice(of.body(line), of.end(line));
  }
  return undefined;
}

/**
 * Restores what strict cuts left out where it stands nowhere else any more, because a later operation took the kept copy.
 * New cuts are looked at, and all of them only where a line has gone that one of them promises.
 * @returns how many cuts were taken back.
 */
export async function restoreBroken(draft: Draft, pace: Pace, tools: ToolTable = DEFAULT_TOOLS): Promise<number> {
  const known = knownLinesOf(draft, tools);
  known.learn(known.originalExchanges.of(draft.original), 'original');
  known.learn(exchangesOf(draft), 'view');
  await known.standing.update(draft.messages, pace);
  const { shown } = draft;
  const doubtful = known.standing.hasLost ? shown : known.proven.open(shown).map((at) => shown[at] ?? []);
  const broken = brokenIn(draft.original, doubtful.flat(), known);
  known.proven.settle(
    shown,
    broken.map(({ place }) => place.message),
  );
  known.standing.hasLost = false;
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

/**
 * What a person should know of the places that were restored; their tokens are in the rows of the steps that took the
 * copies.
 */
export function restoredNotes(edits: readonly Edit[]): string[] {
  const places = edits.filter(({ step }) => step === RESTORED).length;
  if (places === 0) return [];
  const what = places === 1 ? 'One place was' : `${places} places were`;
  return [`${what} given back what stood there: a later step took the copy that a reference pointed at.`];
}

/** The last step: checks once more what stands at the end, whatever the steps before checked. */
export const restoredReferences = (tools: ToolTable): DraftStep => ({
  name: RESTORED,
  async run(draft, pace) {
    if (draft.edits.length === 0) return;
    try {
      await restoreBroken(draft, pace, tools);
    } finally {
      giveBackLines(draft);
    }
  },
});

const MAX_ROUNDS = 2;

/** A step that is followed by the check: what it broke is restored, and it runs once more on that. */
export function keepingReferences(step: DraftStep, tools: ToolTable = DEFAULT_TOOLS): DraftStep {
  return {
    ...step,
    async run(draft, pace) {
      knownLinesOf(draft, tools);
      try {
        for (let round = 0; round < MAX_ROUNDS; round++) {
          const { tokens } = draft;
          await step.run(draft, pace);
          if (draft.tokens === tokens || (await restoreBroken(draft, pace, tools)) === 0) return;
          await pace.yieldIfDue();
        }
      } finally {
        giveBackLines(draft);
      }
    },
  };
}
