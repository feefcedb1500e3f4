/** The facts that a user needs to choose a provider. */
import type { ProfileState } from '../../../../src/panel/protocol';
import { formatDollars, formatDuration, formatPercent, t } from '../../l10n';

/**
 * What the providers without a model save of a conversation of 200K tokens, and the seconds of processor time that it takes from
 * the file to the ledger, and the provider alone (`npm run bench -- --only whole`). The README's table says the same; a test
 * compares.
 */
export const MEASURED = {
  lossless: { savedPercent: 25, seconds: 0.25, aloneSeconds: 0.11 },
  truncation: { savedPercent: 49, seconds: 0.13, aloneSeconds: 0.05 },
} as const;

export interface ProviderFacts {
  readonly does: string;
  readonly costs: string;
  readonly loses: string;
  /** Measured. */
  readonly saves: string;
}

/** A conversation that is worth summing up, and a summary's length: tokens. */
const EXAMPLE = { read: 100_000, written: 1_500 } as const;

/** US dollars for summing up the example with a profile's model; undefined where its price is not known. */
const exampleCost = ({ inputPrice, outputPrice }: ProfileState): number | undefined =>
  inputPrice === undefined || outputPrice === undefined
    ? undefined
    : (EXAMPLE.read * inputPrice + EXAMPLE.written * outputPrice) / 1_000_000;

/**
 * @param condensing the profile that would be called, where one is chosen.
 * @param whenNotEnough the setting of that name.
 */
export function factsOf(
  provider: string,
  condensing: ProfileState | undefined,
  whenNotEnough: unknown = 'fileAware',
): ProviderFacts | undefined {
  switch (provider) {
    case 'lossless':
      return {
        does:
          whenNotEnough === 'fileAware'
            ? t(
                'Replaces repeated content with references. In agent tasks, Smart (File-Aware) follows if that is not enough.',
              )
            : t('Replaces repeated content with references.'),
        costs: t('Nothing'),
        loses: t('Nothing: every byte can be restored'),
        saves: savingOf(MEASURED.lossless),
      };
    case 'truncation':
      return {
        does: t('Shortens old tool results to their end, and old parameters to their beginning and end.'),
        costs: t('Nothing'),
        loses: t('The beginning of old results, until it is recalled'),
        saves: savingOf(MEASURED.truncation),
      };
    case 'native':
      return {
        does: t('Has a model summarize everything between the task and the latest messages.'),
        costs: nativeCost(condensing),
        loses: t('Details that the summary leaves out; instructions, files and errors are listed in full'),
        saves: t('Most of the old content, in the time the model takes'),
      };
    case 'smart':
      return {
        does: t('Runs passes of your choice, by content type, until the target is met.'),
        costs: t('Nothing, or what the models of its passes cost'),
        loses: t('Whatever its passes remove'),
        saves: t('As much as its passes allow'),
      };
    case 'strategy':
      return {
        does: t('Runs several providers or presets in order, each if its condition is met.'),
        costs: t('What its steps cost, within your limit'),
        loses: t('What its steps lose'),
        saves: t('As much as the target requires'),
      };
    default:
      return undefined;
  }
}

const savingOf = ({ savedPercent, seconds, aloneSeconds }: (typeof MEASURED)[keyof typeof MEASURED]): string =>
  t(
    '{0} of 200,000 tokens in {1}, of which condensing itself takes {2}; measured',
    formatPercent(savedPercent),
    formatDuration(seconds * 1_000),
    formatDuration(aloneSeconds * 1_000),
  );

function nativeCost(condensing: ProfileState | undefined): string {
  if (!condensing) return t('What the model costs; choose a profile first');
  const cost = exampleCost(condensing);
  return cost === undefined ? t('What the model costs') : t('About {0} for 100,000 tokens', formatDollars(cost));
}
