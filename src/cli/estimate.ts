import { formatPercentChange, formatCost, formatDurationMs, formatTokens } from '../core/format';
import { formatMissedTarget } from '../core/condense/report/report';
import { computePercentSaved, computeStepFigures, type OutcomeFigures } from './figures';
import { EXIT_CODE, type ExitCode } from './io';
import { makeCondensationRequest, type CliSession } from './session';

/** Shows what the provider would do, without paid calls. Writes nothing. */
export async function runEstimateCommand(session: CliSession): Promise<ExitCode> {
  const { args, io, manager, calibrate } = session;
  const provider = manager.getProvider(args.provider);
  const startMs = performance.now();
  const request = await makeCondensationRequest(session, provider);
  const result = await manager.estimate(request);
  const timeMs = performance.now() - startMs;
  const tokensBefore = calibrate(result.tokensBefore);
  const tokensAfter = calibrate(result.tokensAfter);
  if (args.json) {
    const figures: OutcomeFigures = {
      outcome: 'estimated',
      provider: provider.id,
      originalTokens: tokensBefore,
      condensedTokens: tokensAfter,
      reductionPercent: computePercentSaved(tokensBefore, tokensAfter),
      cost: result.cost ?? null,
      timeMs: Number(timeMs.toFixed(1)),
      steps: result.steps.map((step) => computeStepFigures(session, step)),
      edits: result.steps.reduce((sum, step) => sum + step.edits, 0),
      violations: 0,
      notes: [],
    };
    io.stdout(`${JSON.stringify(figures)}\n`);
  } else {
    const cost = formatCost(result.cost);
    const { targetTokens } = request;
    io.stdout(
      [
        `With ${provider.name}: ${formatTokens(tokensBefore)} → ${formatTokens(tokensAfter)} tokens (${formatPercentChange(tokensBefore, tokensAfter)})`,
        ...(targetTokens !== undefined && result.tokensAfter > targetTokens
          ? [formatMissedTarget(targetTokens, result.tokensAfter, calibrate)]
          : []),
        ` - Cost: ${cost}`,
        ` - Time to estimate: ${formatDurationMs(timeMs)}`,
        '',
      ].join('\n'),
    );
  }
  return tokensAfter < tokensBefore ? EXIT_CODE.done : EXIT_CODE.nothingToGain;
}
