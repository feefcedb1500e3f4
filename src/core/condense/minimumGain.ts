import type { MinimumGain } from './condensation';
import { formatTokens } from '../format';

/** Returns undefined if the result is worth applying. */
export function explainTooLittleGain(
  tokensBefore: number,
  tokensAfter: number,
  { percent, tokens }: MinimumGain,
): string | undefined {
  const savedTokens = tokensBefore - tokensAfter;
  if (savedTokens > 0 && (savedTokens >= tokens || savedTokens >= (tokensBefore * percent) / 100)) return undefined;
  return `Only ${formatTokens(savedTokens)} of ${formatTokens(tokensBefore)} tokens would be removed; the minimum is ${percent}% or ${formatTokens(tokens)} tokens.`;
}
