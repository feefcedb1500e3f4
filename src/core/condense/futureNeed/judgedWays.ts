/** The ways to condense that are compared. */
import { providerNameOf } from '../types';

/** A named provider configuration. */
export interface JudgedWay {
  readonly id: string;
  readonly name: string;
  readonly provider: string;
  readonly config: unknown;
}

/** ID of the user's settings. */
export const CURRENT_WAY = 'current';

/** Ways without a model, compared with the settings. */
export const JUDGED_WAYS: readonly JudgedWay[] = [
  { id: 'lossless', name: 'Lossless', provider: 'lossless', config: {} },
  { id: 'file-aware', name: 'File-Aware', provider: 'smart', config: 'file-aware' },
  { id: 'speed', name: 'Speed', provider: 'smart', config: 'speed' },
  { id: 'multi-zone', name: 'Multi-Zone', provider: 'smart', config: 'multi-zone' },
  { id: 'truncation', name: 'Truncation', provider: 'truncation', config: {} },
];

/** All ways, the user's settings first. */
export function judgedWays({
  provider,
  config = {},
}: {
  readonly provider: string;
  readonly config?: unknown;
}): JudgedWay[] {
  const isSet = (way: JudgedWay): boolean =>
    way.provider === provider && JSON.stringify(way.config) === JSON.stringify(config);
  const name = JUDGED_WAYS.find(isSet)?.name ?? providerNameOf(provider);
  return [{ id: CURRENT_WAY, name, provider, config }, ...JUDGED_WAYS.filter((way) => !isSet(way))];
}
