/** A misspelling may have one edit per this many letters, but at least one. */
const LETTERS_PER_ALLOWED_EDIT = 3;

/** @returns undefined if no name is close enough */
export function findNearestName(name: string, candidates: readonly string[]): string | undefined {
  const wantedName = normalizeName(name);
  const limit = Math.max(1, Math.floor(wantedName.length / LETTERS_PER_ALLOWED_EDIT));
  const rankedCandidates = candidates
    .map((candidate) => ({ candidate, distance: computeEditDistance(wantedName, normalizeName(candidate)) }))
    .toSorted((a, b) => a.distance - b.distance);
  const [best] = rankedCandidates;
  return best && best.distance <= limit ? best.candidate : undefined;
}

const normalizeName = (name: string): string => name.toLowerCase().replace(/[-_\s]/g, '');

/** Limits the work on hostile input. */
const MAX_NAME_CHARS = 100;

function computeEditDistance(a: string, b: string): number {
  if (a.length > MAX_NAME_CHARS || b.length > MAX_NAME_CHARS) return Infinity;
  let row = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let i = 1; i <= a.length; i++) {
    const nextRow = [i];
    for (let j = 1; j <= b.length; j++) {
      const substitutionCost = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      nextRow.push(Math.min(substitutionCost, (row[j] ?? 0) + 1, (nextRow[j - 1] ?? 0) + 1));
    }
    row = nextRow;
  }
  return row[b.length] ?? 0;
}
