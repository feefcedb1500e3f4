import { NoSummarizerError } from '../summary/summarizer';
import type { CondensationProvider } from '../types';
import { losslessProvider } from './lossless';
import { smartProvider } from './smart';
import { strategyProvider } from './strategy';
import { truncationProvider } from './truncation';

/**
 * The providers of a program that has no models; the first, Lossless, is active. Smart and strategies do what needs
 * none.
 */
export function providersWithoutModels(): [CondensationProvider, ...CondensationProvider[]] {
  const providers = [losslessProvider, truncationProvider, smartProvider({ select: noneCalled })] as const;
  return [...providers, strategyProvider({ providers: () => providers })];
}

/** To set one up, as others are told to, would change nothing here. */
const noneCalled = (): never => {
  throw new NoSummarizerError('No model is called here.');
};
