import type { Edit } from '../core/condense/edits/edits';
import { upgradeStoredEdit } from '../core/condense/edits/storedEdits';
import type { NewResultsLedgerEntry, Condensation, LedgerEntry } from '../core/condense/ledger/ledger';
import { ZERO_USE_AFTER_CONDENSATION } from '../core/condense/ledger/use';

/** Returns undefined if the line is no entry; `newer` if a later version wrote it. */
export function parseLedgerEntry(json: string): LedgerEntry | 'newer' | undefined {
  let entry: Partial<Record<string, unknown>>;
  try {
    entry = Object(JSON.parse(json)) as Partial<Record<string, unknown>>;
  } catch {
    return undefined;
  }
  switch (entry['type']) {
    case 'condensed':
      return migrateCondensedEntry(entry['condensation']);
    case 'arrived':
      if (!isNewResultsEntry(entry)) return undefined;
      return entry.edits.every(isKnownEditKind)
        ? { ...entry, edits: entry.edits.map((edit) => upgradeStoredEdit(edit) as Edit) }
        : 'newer';
    case 'undone':
      return typeof entry['condensation'] === 'string' && isAbsentOrCount(entry['messages'])
        ? (entry as LedgerEntry)
        : undefined;
    case 'redone':
      return typeof entry['condensation'] === 'string' ? (entry as LedgerEntry) : undefined;
    case 'used':
      return typeof entry['condensation'] === 'string' && isUseAfterCondensation(entry['use'])
        ? (entry as LedgerEntry)
        : undefined;
    case 'excluded':
    case 'included':
      return typeof entry['condensation'] === 'string' && typeof entry['edit'] === 'string'
        ? (entry as LedgerEntry)
        : undefined;
    case 'pinned':
    case 'unpinned':
      return typeof entry['message'] === 'number' && typeof entry['key'] === 'string'
        ? (entry as LedgerEntry)
        : undefined;
    default:
      return typeof entry['type'] === 'string' ? 'newer' : undefined;
  }
}

function migrateCondensedEntry(condensation: unknown): LedgerEntry | 'newer' | undefined {
  if (!isCondensation(condensation)) return undefined;
  if (!condensation.edits.every(isKnownEditKind)) return 'newer';
  const edits = condensation.edits.map((edit) => upgradeStoredEdit(edit) as Edit);
  return { type: 'condensed', condensation: { ...condensation, edits } };
}

/** The kinds of edits that can be displayed; entries with other kinds are from later versions. */
const EDIT_KINDS: Readonly<Record<Edit['kind'], true>> = { cut: true, summary: true, block: true };
const isKnownEditKind = ({ kind }: { readonly kind: string }): boolean => Object.hasOwn(EDIT_KINDS, kind);

const isNewResultsEntry = (
  entry: Partial<Record<string, unknown>>,
): entry is Partial<Record<string, unknown>> & NewResultsLedgerEntry =>
  typeof entry['condensation'] === 'string' && Array.isArray(entry['edits']) && Array.isArray(entry['arrivals']);

const isCondensation = (value: unknown): value is Condensation =>
  typeof value === 'object' && value !== null && 'id' in value && 'edits' in value && Array.isArray(value.edits);

const isAbsentOrCount = (value: unknown): boolean =>
  value === undefined || (Number.isSafeInteger(value) && (value as number) >= 0);

const isUseAfterCondensation = (value: unknown): boolean => {
  const useFields = Object(value) as Partial<Record<string, unknown>>;
  return Object.keys(ZERO_USE_AFTER_CONDENSATION).every((name) => Number.isFinite(useFields[name]));
};
