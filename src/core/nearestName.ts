/** Edits that separate a misspelling from what was meant: one per three letters, at least one. */
const LETTERS_PER_EDIT = 3;

/**
 * Finds the known name that a misspelled one most likely stands for, ignoring case, hyphens and underscores.
 * @returns undefined if none is close enough
 */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  const wanted = plain(name);
  const limit = Math.max(1, Math.floor(wanted.length / LETTERS_PER_EDIT));
  const ranked = known
    .map((candidate) => ({ candidate, distance: editDistance(wanted, plain(candidate)) }))
    .toSorted((a, b) => a.distance - b.distance);
  const [best] = ranked;
  return best && best.distance <= limit ? best.candidate : undefined;
}

const plain = (name: string): string => name.toLowerCase().replace(/[-_\s]/g, '');

/** Longer names are never misspellings of settings; this bounds the work on hostile input. */
const MAX_LENGTH = 100;

/** The Levenshtein distance. */
function editDistance(a: string, b: string): number {
  if (a.length > MAX_LENGTH || b.length > MAX_LENGTH) return Infinity;
  let row = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const substituted = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(substituted, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
