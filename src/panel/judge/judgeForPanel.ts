import type { PanelDependencies } from '../parts';
import type { ReportProgress } from '../requestHandlers';
import type { JudgedSettings } from './methods';

/** @throws the signal's reason if aborted */
export async function judgeForPanel(
  dependencies: PanelDependencies,
  signal: AbortSignal,
  report: ReportProgress,
): Promise<JudgedSettings> {
  const { read, sessions, lines, choices, points, verdict, isOther } = await dependencies
    .commands()
    .judgeStored(dependencies.services, signal, report);
  return {
    read,
    sessions,
    lines,
    isOther,
    verdict,
    choices: choices.map(({ id, name }) => ({ id, name })),
    points: points.map(({ choice, target, left, lost }) => ({
      choice,
      left,
      lostShare: lost.share,
      ...(target !== undefined && { target }),
      // If there is only one session, there is no spread and so no interval.
      ...(!Number.isNaN(lost.low) && { lost }),
    })),
  };
}
