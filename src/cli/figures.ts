import type { CondensationOutcome, StepReport } from '../core/condense';
import type { CliSession } from './session';

/** Figures of a step. Tokens are counted as the selected model counts them. */
export interface StepFigures {
  readonly name: string;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  readonly edits: number;
  readonly timeMs: number;
  readonly cost: number | null;
  readonly outcome: string;
  readonly reason?: string;
}

/** The JSON object that `--json` prints. Costs are in US dollars, times in milliseconds. */
export interface OutcomeFigures {
  readonly outcome: CondensationOutcome['kind'] | 'estimated';
  readonly provider: string;
  readonly originalTokens: number;
  readonly condensedTokens: number;
  readonly reductionPercent: number;
  /** Null if a price is unknown. */
  readonly cost: number | null;
  readonly timeMs: number;
  readonly steps: readonly StepFigures[];
  readonly edits: number;
  /**
   * Number of violations of the API's rules in the view that the conversation itself doesn't have.
   */
  readonly violations: number;
  readonly notes: readonly string[];
  readonly reason?: string;
}

const roundToDigits = (value: number, digits: number): number => Number(value.toFixed(digits));

/**
 * Returns tokens as the selected model counts them, times in milliseconds, and costs in US dollars
 * (null if unknown).
 */
export function computeStepFigures({ calibrate }: CliSession, step: StepReport): StepFigures {
  const { name, tokensBefore, tokensAfter, edits, timeMs, cost, outcome } = step;
  return {
    name,
    tokensBefore: calibrate(tokensBefore),
    tokensAfter: calibrate(tokensAfter),
    edits,
    timeMs: roundToDigits(timeMs, 1),
    cost: cost ?? null,
    outcome: outcome.kind,
    ...(outcome.kind === 'done' ? {} : { reason: outcome.reason }),
  };
}

/** Returns the percentage of tokens saved, with two decimals; 0 for an empty conversation. */
export function computePercentSaved(tokensBefore: number, tokensAfter: number): number {
  return tokensBefore === 0 ? 0 : roundToDigits(((tokensBefore - tokensAfter) / tokensBefore) * 100, 2);
}

export function computeOutcomeFigures(session: CliSession, outcome: CondensationOutcome): OutcomeFigures {
  const originalTokens = session.calibrate(outcome.tokensBefore);
  const condensedTokens = outcome.kind === 'condensed' ? session.calibrate(outcome.tokensAfter) : originalTokens;
  return {
    outcome: outcome.kind,
    provider: outcome.provider,
    originalTokens,
    condensedTokens,
    reductionPercent: computePercentSaved(originalTokens, condensedTokens),
    cost: outcome.cost ?? null,
    timeMs: roundToDigits(outcome.timeMs, 1),
    steps: outcome.steps.map((step) => computeStepFigures(session, step)),
    edits: outcome.kind === 'condensed' ? outcome.edits.length : 0,
    violations: outcome.kind === 'refused' ? outcome.violations.length : 0,
    notes: outcome.notes,
    ...getOutcomeReason(outcome),
  };
}

function getOutcomeReason(outcome: CondensationOutcome): { reason?: string } {
  switch (outcome.kind) {
    case 'unchanged':
      return { reason: outcome.detail };
    case 'failed':
      return { reason: outcome.error.message };
    case 'refused':
      return {
        reason: outcome.violations
          .map(({ rule, message, detail }) => `${rule}, message ${message}: ${detail}`)
          .join('; '),
      };
    default:
      return {};
  }
}
