import type { MinimumGain } from './condensation';
import { formatTokens } from '../format';

/** Why a result that frees so little is not worth applying, in words; undefined where it is worth it. */
export function tooLittleGain(
  tokensBefore: number,
  tokensAfter: number,
  { percent, tokens }: MinimumGain,
): string | undefined {
  const saved = tokensBefore - tokensAfter;
  if (saved > 0 && (saved >= tokens || saved >= (tokensBefore * percent) / 100)) return undefined;
  return `Only ${formatTokens(saved)} of ${formatTokens(tokensBefore)} tokens would be removed; the minimum is ${percent}% or ${formatTokens(tokens)} tokens.`;
}
