/** The functions are pure; `storage/` keeps the entries on disk. */
import type { MessageKey } from '../../messages/messageKey';
import { selectLastEditPerPlace, type Edit, type EditId } from '../edits/edits';
import type { UseAfterCondensation } from './use';
import { NEW_RESULTS_PROVIDER_ID, type StepReport } from '../types';
import { hashText, type Hash } from '../../hash';
import type { ApiMessage } from '../../messages/types';

export type CondensationId = string & { readonly __condensation: unique symbol };

export interface RecordedProviderRun {
  readonly provider: string;
  /** Preset or strategy; absent for the user's own configuration, or if not recorded. */
  readonly configName?: string | undefined;
}

export interface RequestTokensBeforeAndAfter {
  readonly tokensBefore: number;
  readonly tokensAfter: number;
}

export interface Condensation extends RecordedProviderRun {
  readonly id: CondensationId;
  /** ISO 8601 time. */
  readonly at: string;
  /** Providers that removed something earlier; absent if none are known. */
  readonly before?: readonly RecordedProviderRun[];
  /** `original`: the condensation replaces all earlier ones; `view`: it builds on them. */
  readonly base: 'original' | 'view';
  readonly edits: readonly Edit[];
  readonly steps: readonly StepReport[];
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  /** Tokens of the whole request of a live conversation, in the model's tokens. */
  readonly request?: RequestTokensBeforeAndAfter;
  /** In US dollars; absent if a price is unknown. */
  readonly cost?: number | undefined;
  /** Used to recognize the view if it was written to a file. */
  readonly viewHash: string;
  /** Keys of the condensed messages, to find the messages again if their indexes change. */
  readonly messages?: readonly MessageKey[];
  /** Only for new results: the messages that the edits changed or that `rereads` counts. */
  readonly newResults?: readonly MessageWithKey[];
  /** Only for new results: how often the agent read lines again that a marker had replaced. */
  readonly rereads?: number;
}

/** True for the one condensation that holds the edits of all new results. */
export const isNewResultsCondensation = ({ provider }: Pick<Condensation, 'provider'>): boolean =>
  provider === NEW_RESULTS_PROVIDER_ID;

/** `message` is the index at the time of pinning or condensing. */
export interface MessageWithKey {
  readonly message: number;
  readonly key: MessageKey;
}

export type LedgerEntry =
  | { readonly type: 'condensed'; readonly condensation: Condensation }
  | NewResultsLedgerEntry
  | {
      readonly type: 'undone';
      readonly condensation: CondensationId;
      /**
       * Number of messages when it was undone, if automatic condensing waits for more messages;
       * absent in old files.
       */
      readonly messages?: number;
    }
  | { readonly type: 'redone'; readonly condensation: CondensationId }
  | { readonly type: 'excluded'; readonly condensation: CondensationId; readonly edit: EditId }
  | { readonly type: 'included'; readonly condensation: CondensationId; readonly edit: EditId }
  /** Replaces any earlier `used` entry of the same condensation. */
  | { readonly type: 'used'; readonly condensation: CondensationId; readonly use: UseAfterCondensation }
  | ({ readonly type: 'pinned' } & MessageWithKey)
  | ({ readonly type: 'unpinned' } & MessageWithKey);

/**
 * Text removed from messages before they were first sent. All such entries form one condensation,
 * which is undone as a whole.
 */
export interface NewResultsLedgerEntry {
  readonly type: 'arrived';
  readonly condensation: CondensationId;
  /** ISO 8601 time. */
  readonly at: string;
  readonly arrivals: readonly MessageWithKey[];
  readonly edits: readonly Edit[];
  /**
   * Number of messages in which the agent read lines again that a marker had replaced; absent if
   * none.
   */
  readonly rereads?: number;
  /** Counts only the messages that the edits changed. */
  readonly tokensBefore: number;
  readonly tokensAfter: number;
}

export interface Ledger {
  /** Oldest first. */
  readonly condensations: readonly Condensation[];
  readonly undone: ReadonlySet<CondensationId>;
  /** By condensation: the number of messages when it was undone, if recorded. */
  readonly messagesWhenUndone: ReadonlyMap<CondensationId, number>;
  /** Edits that the user excluded, in the form `condensation/edit`. */
  readonly excluded: ReadonlySet<string>;
  /** By condensation: what was undone and excluded when it was made. */
  readonly whenMade: ReadonlyMap<CondensationId, Pick<Ledger, 'undone' | 'excluded'>>;
  readonly pinned: readonly MessageWithKey[];
  readonly uses: ReadonlyMap<CondensationId, UseAfterCondensation>;
}

export const EMPTY_LEDGER: Ledger = {
  condensations: [],
  undone: new Set(),
  messagesWhenUndone: new Map(),
  excluded: new Set(),
  whenMade: new Map(),
  pinned: [],
  uses: new Map(),
};

const makeExcludedKey = (condensation: CondensationId, edit: EditId): string => `${condensation}/${edit}`;

/** Entries with unknown IDs change nothing. */
export const applyEntry = (ledger: Ledger, entry: LedgerEntry): Ledger => applyEntries(ledger, [entry]);

export const buildLedger = (entries: Iterable<LedgerEntry>): Ledger => applyEntries(EMPTY_LEDGER, entries);

function applyEntries(ledger: Ledger, entries: Iterable<LedgerEntry>): Ledger {
  const condensationById = new Map(ledger.condensations.map((condensation) => [condensation.id, condensation]));
  const undoneIds = new Set(ledger.undone);
  const messagesWhenUndone = new Map(ledger.messagesWhenUndone);
  const excludedKeys = new Set(ledger.excluded);
  const stateWhenMade = new Map(ledger.whenMade);
  const useByCondensation = new Map(ledger.uses);
  let { pinned } = ledger;
  const growingCondensationById = new Map<CondensationId, MutableCondensation>();
  for (const entry of entries) {
    if (entry.type === 'arrived') {
      const { condensation: id } = entry;
      const latestCondensation = growingCondensationById.get(id) ?? addNewResults(condensationById.get(id), entry);
      growingCondensationById.set(id, latestCondensation);
      condensationById.set(id, latestCondensation);
      if (!stateWhenMade.has(id))
        stateWhenMade.set(id, { undone: new Set(undoneIds), excluded: new Set(excludedKeys) });
      addNewResultsEdits(latestCondensation, entry);
      continue;
    }
    if (entry.type === 'condensed') {
      condensationById.set(entry.condensation.id, entry.condensation);
      stateWhenMade.set(entry.condensation.id, { undone: new Set(undoneIds), excluded: new Set(excludedKeys) });
      continue;
    }
    if (entry.type === 'pinned' || entry.type === 'unpinned') {
      const { message, key } = entry;
      const otherPins = pinned.filter((other) => other.message !== message || other.key !== key);
      pinned = entry.type === 'pinned' ? [...otherPins, { message, key }] : otherPins;
      continue;
    }
    const condensation = condensationById.get(entry.condensation);
    if (!condensation) continue;
    switch (entry.type) {
      case 'used':
        useByCondensation.set(entry.condensation, entry.use);
        break;
      case 'undone':
        undoneIds.add(entry.condensation);
        messagesWhenUndone.delete(entry.condensation);
        if (entry.messages !== undefined) messagesWhenUndone.set(entry.condensation, entry.messages);
        break;
      case 'redone':
        undoneIds.delete(entry.condensation);
        messagesWhenUndone.delete(entry.condensation);
        break;
      case 'excluded':
        if (hasEdit(condensation, entry.edit)) excludedKeys.add(makeExcludedKey(entry.condensation, entry.edit));
        break;
      case 'included':
        excludedKeys.delete(makeExcludedKey(entry.condensation, entry.edit));
        break;
    }
  }
  // Edits of new results come first, because later condensations build on them.
  const condensations = [...condensationById.values()].sort(
    (a, b) => Number(b.newResults !== undefined) - Number(a.newResults !== undefined),
  );
  return {
    condensations,
    undone: undoneIds,
    messagesWhenUndone,
    excluded: excludedKeys,
    whenMade: stateWhenMade,
    pinned,
    uses: useByCondensation,
  };
}

type MutableCondensation = Omit<Condensation, 'edits' | 'newResults' | 'rereads' | 'tokensBefore' | 'tokensAfter'> & {
  readonly edits: Edit[];
  readonly newResults: MessageWithKey[];
  rereads: number;
  tokensBefore: number;
  tokensAfter: number;
};

const addNewResults = (
  existing: Condensation | undefined,
  { condensation: id, at: timeMs }: NewResultsLedgerEntry,
): MutableCondensation => ({
  id,
  at: existing?.at ?? timeMs,
  provider: NEW_RESULTS_PROVIDER_ID,
  base: 'view',
  steps: [],
  cost: 0,
  // Empty, because no view consists of this condensation alone.
  viewHash: '',
  edits: [...(existing?.edits ?? [])],
  newResults: [...(existing?.newResults ?? [])],
  rereads: existing?.rereads ?? 0,
  tokensBefore: existing?.tokensBefore ?? 0,
  tokensAfter: existing?.tokensAfter ?? 0,
});

function addNewResultsEdits(
  condensation: MutableCondensation,
  { edits, arrivals, rereads = 0, tokensBefore, tokensAfter }: NewResultsLedgerEntry,
): void {
  condensation.edits.push(...edits);
  condensation.newResults.push(...arrivals);
  condensation.rereads += rereads;
  condensation.tokensBefore += tokensBefore;
  condensation.tokensAfter += tokensAfter;
}

const hasEdit = ({ edits }: Condensation, id: EditId): boolean => edits.some((edit) => edit.id === id);

/** Oldest first. Undoing a condensation made from the original shows the original. */
export function getActiveCondensations(ledger: Ledger): Condensation[] {
  return listCondensationsSinceBase(ledger).filter(({ id }) => !ledger.undone.has(id));
}

const listCondensationsSinceBase = ({ condensations }: Ledger): readonly Condensation[] =>
  condensations.slice(
    Math.max(
      0,
      condensations.findLastIndex(({ base }) => base === 'original'),
    ),
  );

/**
 * Of several edits at one place, returns the last that is not excluded.
 * @param followEdits moves edits to the current indexes of their messages and drops those of
 *   removed messages
 */
export const getActiveEdits = (
  ledger: Ledger,
  followEdits: (edits: readonly Edit[], condensation: Condensation) => readonly Edit[] = (edits) => edits,
): Edit[] =>
  selectLastEditPerPlace(
    getActiveCondensations(ledger).flatMap((condensation) =>
      followEdits(selectIncludedEdits(ledger, condensation), condensation),
    ),
  );

/**
 * The last excluded edit for each place, unless the view shows a later one.
 * @param followEdits see {@link getActiveEdits}
 */
export function getExcludedEdits(
  ledger: Ledger,
  followEdits: (edits: readonly Edit[], condensation: Condensation) => readonly Edit[] = (edits) => edits,
): Edit[] {
  if (ledger.excluded.size === 0) return [];
  const excludedEdits = new Set<Edit>();
  const activeEdits = getActiveCondensations(ledger).flatMap((condensation) => {
    const followedEdits = followEdits(condensation.edits, condensation);
    for (const edit of followedEdits)
      if (ledger.excluded.has(makeExcludedKey(condensation.id, edit.id))) excludedEdits.add(edit);
    return followedEdits;
  });
  return selectLastEditPerPlace(activeEdits).filter((edit) => excludedEdits.has(edit));
}

const selectIncludedEdits = ({ excluded }: Pick<Ledger, 'excluded'>, { id, edits }: Condensation): readonly Edit[] =>
  edits.filter((edit) => !excluded.has(makeExcludedKey(id, edit.id)));

export function createUndoEntry(ledger: Ledger): LedgerEntry | undefined {
  const lastCondensation = getActiveCondensations(ledger).at(-1);
  return lastCondensation && { type: 'undone', condensation: lastCondensation.id };
}

/**
 * Undefined if the ledger has no such edit. Of several condensations that contain it, the last
 * active one counts.
 */
export function createToggleEditEntry(ledger: Ledger, edit: EditId): LedgerEntry | undefined {
  const includesEdit = (condensation: Condensation): boolean => hasEdit(condensation, edit);
  const condensation = (
    getActiveCondensations(ledger).findLast(includesEdit) ?? ledger.condensations.findLast(includesEdit)
  )?.id;
  if (condensation === undefined) return undefined;
  const type = ledger.excluded.has(makeExcludedKey(condensation, edit)) ? 'included' : 'excluded';
  return { type, condensation, edit };
}

/** Includes the edits of earlier condensations that this one built on. */
export function getEditsAfterCondensation(ledger: Ledger, id: CondensationId): Edit[] {
  const { condensations, whenMade } = ledger;
  const condensationsUpToThis = condensations.slice(
    0,
    condensations.findIndex((condensation) => condensation.id === id) + 1,
  );
  const ledgerWhenMade = whenMade.get(id) ?? ledger;
  const baseIndex = condensationsUpToThis.findLastIndex((condensation) => condensation.base === 'original');
  return selectLastEditPerPlace(
    condensationsUpToThis
      .slice(Math.max(baseIndex, 0))
      .filter((condensation) => condensation.id === id || !ledgerWhenMade.undone.has(condensation.id))
      .flatMap((condensation) => selectIncludedEdits(ledgerWhenMade, condensation)),
  );
}

export const hashView = (messages: readonly ApiMessage[]): Hash => hashText(JSON.stringify(messages));
