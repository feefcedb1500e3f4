import type { CondensationSaving } from './saving';

export interface ProfileFigures {
  readonly profile: string;
  /** In US dollars; undefined if the price is unknown. */
  readonly cost: number | undefined;
  readonly tokensSaved: number;
  readonly saving: CondensationSaving | undefined;
}

/**
 * Chooses the profile that pays off after the fewest requests; of equal ones, the cheapest per
 * removed token.
 * @returns undefined if fewer than two profiles have a known cost, or if none pays off
 */
export function recommendProfile(figures: readonly ProfileFigures[]): string | undefined {
  const pricedFigures = figures.filter(
    (each): each is ProfileFigures & { readonly cost: number } => each.cost !== undefined && each.tokensSaved > 0,
  );
  if (pricedFigures.length < 2) return undefined;
  const worthwhileFigures = pricedFigures.filter(
    ({ saving }) => saving === undefined || saving.breakEvenRequests !== undefined,
  );
  const getBreakEvenRequests = ({ saving }: ProfileFigures): number => saving?.breakEvenRequests ?? 0;
  const [bestProfile] = worthwhileFigures.toSorted(
    (a, b) => getBreakEvenRequests(a) - getBreakEvenRequests(b) || a.cost / a.tokensSaved - b.cost / b.tokensSaved,
  );
  return bestProfile?.profile;
}
