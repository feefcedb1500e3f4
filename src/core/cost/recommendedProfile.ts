import type { Saving } from './saving';

/** The figures of condensing a conversation with a profile's model. */
export interface ProfileFigures {
  readonly profile: string;
  /** US dollars; undefined where the price is not known. */
  readonly cost: number | undefined;
  /** Tokens that would go. */
  readonly tokensSaved: number;
  /** The saving in later requests of the conversation's own model; undefined if its prices are not known. */
  readonly saving: Saving | undefined;
}

/**
 * The profile that pays for itself first, else costs the least for a token that it takes out.
 * @returns undefined where there is nothing to choose between, no cost is known, or none ever pays for itself.
 */
export function recommendedProfile(figures: readonly ProfileFigures[]): string | undefined {
  const priced = figures.filter(
    (each): each is ProfileFigures & { readonly cost: number } => each.cost !== undefined && each.tokensSaved > 0,
  );
  if (priced.length < 2) return undefined;
  const worthwhile = priced.filter(({ saving }) => saving === undefined || saving.breakEvenRequests !== undefined);
  const requests = ({ saving }: ProfileFigures): number => saving?.breakEvenRequests ?? 0;
  const [best] = worthwhile.toSorted(
    (a, b) => requests(a) - requests(b) || a.cost / a.tokensSaved - b.cost / b.tokensSaved,
  );
  return best?.profile;
}
