/**
 * The ledger's rules: a conversation's condensations as an append-only list of entries, and the state that follows from
 * them. Pure; `storage/` keeps the entries on disk.
 */
import type { MessageKey } from '../../messages/messageKey';
import { lastByPlace, type Edit, type EditId } from '../edits/edits';
import type { UseAfter } from './use';
import { NEW_RESULTS, type StepReport } from '../types';
import { hashText, type Hash } from '../../hash';
import type { ApiMessage } from '../../messages/types';

export type CondensationId = string & { readonly __condensation: unique symbol };

/** A provider that took something out. */
export interface RanProvider {
  readonly provider: string;
  /** Name of the preset or strategy that it ran with; absent: the user's own configuration, or not recorded. */
  readonly configName?: string | undefined;
}

/** A request before and after a condensation, in tokens. */
export interface RequestSizes {
  readonly tokensBefore: number;
  readonly tokensAfter: number;
}

/** One condensation that was applied. */
export interface Condensation extends RanProvider {
  readonly id: CondensationId;
  /** ISO 8601 time. */
  readonly at: string;
  /** Providers that took something out before `provider`, in their order; absent: none, or not recorded. */
  readonly before?: readonly RanProvider[];
  /**
   * `original`: made from the conversation as its file has it, in place of what was applied before. `view`: on top of
   * it.
   */
  readonly base: 'original' | 'view';
  readonly edits: readonly Edit[];
  readonly steps: readonly StepReport[];
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  /** Of a live conversation: the whole request, with system prompt and tools, in the model's tokens. */
  readonly request?: RequestSizes;
  /** US dollars; absent where a price is not known. */
  readonly cost?: number | undefined;
  /** Hash of the resulting messages' JSON: a view that was written to a file is recognized by it. */
  readonly viewHash: string;
  /** The messages that it was made of, by their keys: a conversation that goes on elsewhere is followed by them. */
  readonly messages?: readonly MessageKey[];
  /** Of the one that grows as results arrive: the messages that its edits changed, and those counted as `rereads`. */
  readonly newResults?: readonly PlacedMessage[];
  /** Of that one: how often the agent read lines again for which a marker stood. */
  readonly rereads?: number;
}

/** Whether it is the one that grows as results arrive; a conversation has one. */
export const isNewResults = ({ provider }: Pick<Condensation, 'provider'>): boolean => provider === NEW_RESULTS;

/** A message: where it stood when it was pinned or condensed, and its key. */
export interface PlacedMessage {
  readonly message: number;
  readonly key: MessageKey;
}

export type LedgerEntry =
  | { readonly type: 'condensed'; readonly condensation: Condensation }
  | NewResultsEntry
  | { readonly type: 'undone'; readonly condensation: CondensationId }
  | { readonly type: 'redone'; readonly condensation: CondensationId }
  | { readonly type: 'excluded'; readonly condensation: CondensationId; readonly edit: EditId }
  | { readonly type: 'included'; readonly condensation: CondensationId; readonly edit: EditId }
  /** The agent's later requests for removed content; a later entry of the same condensation takes its place. */
  | { readonly type: 'used'; readonly condensation: CondensationId; readonly use: UseAfter }
  | ({ readonly type: 'pinned' } & PlacedMessage)
  | ({ readonly type: 'unpinned' } & PlacedMessage);

/**
 * The part of new messages left out before they were first sent, and how many of them read again what was left out. It says of
 * these messages alone, so that a ledger stays as long as what was left out; all entries of a conversation are one condensation, which is undone as one.
 */
export interface NewResultsEntry {
  readonly type: 'arrived';
  readonly condensation: CondensationId;
  /** ISO 8601 time. */
  readonly at: string;
  readonly arrivals: readonly PlacedMessage[];
  readonly edits: readonly Edit[];
  /** How many of the messages asked for lines which a marker stood for shortly before; absent: none. */
  readonly rereads?: number;
  /** Tokens of the messages that the edits changed. */
  readonly tokensBefore: number;
  readonly tokensAfter: number;
}

export interface Ledger {
  /** All condensations, oldest first. */
  readonly condensations: readonly Condensation[];
  readonly undone: ReadonlySet<CondensationId>;
  /** Edits that the user took out, as `condensation/edit`. */
  readonly excluded: ReadonlySet<string>;
  /**
   * The condensations undone and edits excluded when each one was made, by its id: they determine the view it was made on.
   */
  readonly whenMade: ReadonlyMap<CondensationId, Pick<Ledger, 'undone' | 'excluded'>>;
  readonly pinned: readonly PlacedMessage[];
  /** The agent's later requests for removed content, where they were watched. */
  readonly uses: ReadonlyMap<CondensationId, UseAfter>;
}

export const EMPTY_LEDGER: Ledger = {
  condensations: [],
  undone: new Set(),
  excluded: new Set(),
  whenMade: new Map(),
  pinned: [],
  uses: new Map(),
};

const excludedKey = (condensation: CondensationId, edit: EditId): string => `${condensation}/${edit}`;

/** The state after one more entry. An entry that names what isn't there changes nothing. */
export const applyEntry = (ledger: Ledger, entry: LedgerEntry): Ledger => foldFrom(ledger, [entry]);

/** The state after all entries. */
export const foldEntries = (entries: Iterable<LedgerEntry>): Ledger => foldFrom(EMPTY_LEDGER, entries);

function foldFrom(ledger: Ledger, entries: Iterable<LedgerEntry>): Ledger {
  const byId = new Map(ledger.condensations.map((condensation) => [condensation.id, condensation]));
  const undone = new Set(ledger.undone);
  const excluded = new Set(ledger.excluded);
  const whenMade = new Map(ledger.whenMade);
  const uses = new Map(ledger.uses);
  let { pinned } = ledger;
  const growing = new Map<CondensationId, Growing>();
  for (const entry of entries) {
    if (entry.type === 'arrived') {
      const { condensation: id } = entry;
      const own = growing.get(id) ?? grow(byId.get(id), entry);
      growing.set(id, own);
      byId.set(id, own);
      if (!whenMade.has(id)) whenMade.set(id, { undone: new Set(undone), excluded: new Set(excluded) });
      add(own, entry);
      continue;
    }
    if (entry.type === 'condensed') {
      byId.set(entry.condensation.id, entry.condensation);
      whenMade.set(entry.condensation.id, { undone: new Set(undone), excluded: new Set(excluded) });
      continue;
    }
    if (entry.type === 'pinned' || entry.type === 'unpinned') {
      const { message, key } = entry;
      const others = pinned.filter((other) => other.message !== message || other.key !== key);
      pinned = entry.type === 'pinned' ? [...others, { message, key }] : others;
      continue;
    }
    const condensation = byId.get(entry.condensation);
    if (!condensation) continue;
    switch (entry.type) {
      case 'used':
        uses.set(entry.condensation, entry.use);
        break;
      case 'undone':
        undone.add(entry.condensation);
        break;
      case 'redone':
        undone.delete(entry.condensation);
        break;
      case 'excluded':
        if (hasEdit(condensation, entry.edit)) excluded.add(excludedKey(entry.condensation, entry.edit));
        break;
      case 'included':
        excluded.delete(excludedKey(entry.condensation, entry.edit));
        break;
    }
  }
  // Cuts in new results come first, since later condensations build on them, and are undone last.
  const condensations = [...byId.values()].sort(
    (a, b) => Number(b.newResults !== undefined) - Number(a.newResults !== undefined),
  );
  return { condensations, undone, excluded, whenMade, pinned, uses };
}

/** A condensation whose lists are added to while entries are folded. */
type Growing = Omit<Condensation, 'edits' | 'newResults' | 'rereads' | 'tokensBefore' | 'tokensAfter'> & {
  readonly edits: Edit[];
  readonly newResults: PlacedMessage[];
  rereads: number;
  tokensBefore: number;
  tokensAfter: number;
};

const grow = (known: Condensation | undefined, { condensation: id, at }: NewResultsEntry): Growing => ({
  id,
  at: known?.at ?? at,
  provider: NEW_RESULTS,
  base: 'view',
  steps: [],
  cost: 0,
  // No view was ever its alone.
  viewHash: '',
  edits: [...(known?.edits ?? [])],
  newResults: [...(known?.newResults ?? [])],
  rereads: known?.rereads ?? 0,
  tokensBefore: known?.tokensBefore ?? 0,
  tokensAfter: known?.tokensAfter ?? 0,
});

function add(growing: Growing, { edits, arrivals, rereads = 0, tokensBefore, tokensAfter }: NewResultsEntry): void {
  growing.edits.push(...edits);
  growing.newResults.push(...arrivals);
  growing.rereads += rereads;
  growing.tokensBefore += tokensBefore;
  growing.tokensAfter += tokensAfter;
}

const hasEdit = ({ edits }: Condensation, id: EditId): boolean => edits.some((edit) => edit.id === id);

/**
 * The condensations that the view shows, oldest first. One that was made from the original stands in place of all before
 * it, for good: undoing it gives the original, not what was condensed before.
 */
export function activeCondensations(ledger: Ledger): Condensation[] {
  return sinceBase(ledger).filter(({ id }) => !ledger.undone.has(id));
}

const sinceBase = ({ condensations }: Ledger): readonly Condensation[] =>
  condensations.slice(
    Math.max(
      0,
      condensations.findLastIndex(({ base }) => base === 'original'),
    ),
  );

/**
 * The edits that the view shows: of several for one place the last that is not excluded.
 * @param follow puts a condensation's edits where their messages now stand, and leaves out those whose messages are gone.
 */
export const activeEdits = (
  ledger: Ledger,
  follow: (edits: readonly Edit[], condensation: Condensation) => readonly Edit[] = (edits) => edits,
): Edit[] =>
  lastByPlace(
    activeCondensations(ledger).flatMap((condensation) => follow(includedEdits(ledger, condensation), condensation)),
  );

/**
 * The edits that the view would show, were they not excluded: of several for one place the last, and none below one that it shows.
 * @param follow as of {@link activeEdits}.
 */
export function excludedEdits(
  ledger: Ledger,
  follow: (edits: readonly Edit[], condensation: Condensation) => readonly Edit[] = (edits) => edits,
): Edit[] {
  if (ledger.excluded.size === 0) return [];
  const excluded = new Set<Edit>();
  const all = activeCondensations(ledger).flatMap((condensation) => {
    const own = follow(condensation.edits, condensation);
    for (const edit of own) if (ledger.excluded.has(excludedKey(condensation.id, edit.id))) excluded.add(edit);
    return own;
  });
  return lastByPlace(all).filter((edit) => excluded.has(edit));
}

const includedEdits = ({ excluded }: Pick<Ledger, 'excluded'>, { id, edits }: Condensation): readonly Edit[] =>
  edits.filter((edit) => !excluded.has(excludedKey(id, edit.id)));

/** The entry that undoes the last condensation; undefined where there is none. */
export function undo(ledger: Ledger): LedgerEntry | undefined {
  const last = activeCondensations(ledger).at(-1);
  return last && { type: 'undone', condensation: last.id };
}

/**
 * The entry that takes one edit out of the view, or back in; undefined where the ledger has no such edit. Where several
 * condensations have it (one was undone and made again), the last one that the view shows is meant.
 */
export function toggleEdit(ledger: Ledger, edit: EditId): LedgerEntry | undefined {
  const has = (condensation: Condensation): boolean => hasEdit(condensation, edit);
  const condensation = (activeCondensations(ledger).findLast(has) ?? ledger.condensations.findLast(has))?.id;
  if (condensation === undefined) return undefined;
  const type = ledger.excluded.has(excludedKey(condensation, edit)) ? 'included' : 'excluded';
  return { type, condensation, edit };
}

/**
 * The edits that the view of one condensation showed when it was made: its own and, where it was made on top of others,
 * theirs, but for what was undone or excluded by then.
 */
export function editsShownBy(ledger: Ledger, id: CondensationId): Edit[] {
  const { condensations, whenMade } = ledger;
  const upTo = condensations.slice(0, condensations.findIndex((condensation) => condensation.id === id) + 1);
  const before = whenMade.get(id) ?? ledger;
  const base = upTo.findLastIndex((condensation) => condensation.base === 'original');
  return lastByPlace(
    upTo
      .slice(Math.max(base, 0))
      .filter((condensation) => condensation.id === id || !before.undone.has(condensation.id))
      .flatMap((condensation) => includedEdits(before, condensation)),
  );
}

/** Hash of messages as JSON: a view that was written to a file is recognized by it. */
export const viewHash = (messages: readonly ApiMessage[]): Hash => hashText(JSON.stringify(messages));
