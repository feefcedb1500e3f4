import * as vscode from 'vscode';
import type { PanelParts } from '../parts';
import type { JudgedSettings } from './methods';

export async function judgeForPanel(parts: PanelParts): Promise<{ judged?: JudgedSettings }> {
  try {
    const { read, sessions, lines, choices, points, verdict, isOther } = await parts
      .commands()
      .judgeStored(parts.services);
    return {
      judged: {
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
          // A single session has no spread.
          ...(!Number.isNaN(lost.low) && { lost }),
        })),
      },
    };
  } catch (error) {
    if (error instanceof vscode.CancellationError) return {};
    throw error;
  }
}
