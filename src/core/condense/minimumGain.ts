import type { MinimumGain } from './condensation';
import { formatTokens } from '../format';

/** Returns undefined if the result is worth applying. */
export function explainTooLittleGain(
  tokensBefore: number,
  tokensAfter: number,
  { percent, tokens }: MinimumGain,
): string | undefined {
  const saved = tokensBefore - tokensAfter;
  if (saved > 0 && (saved >= tokens || saved >= (tokensBefore * percent) / 100)) return undefined;
  return `Only ${formatTokens(saved)} of ${formatTokens(tokensBefore)} tokens would be removed; the minimum is ${percent}% or ${formatTokens(tokens)} tokens.`;
}
