import type { MinimumGain } from './condensation';
import { formatTokens } from '../format';

/** Explains why a result is not worth applying; undefined if it is. */
export function explainTooLittleGain(
  tokensBefore: number,
  tokensAfter: number,
  { percent, tokens }: MinimumGain,
): string | undefined {
  const saved = tokensBefore - tokensAfter;
  if (saved > 0 && (saved >= tokens || saved >= (tokensBefore * percent) / 100)) return undefined;
  return `Only ${formatTokens(saved)} of ${formatTokens(tokensBefore)} tokens would be removed; the minimum is ${percent}% or ${formatTokens(tokens)} tokens.`;
}
