import * as vscode from 'vscode';
import type { ConfigProblem } from '../../core/condense/types';

/** How a condensation in agent mode is told: not at all, in the status bar, or in a notification. */
export type NoticeKind = 'none' | 'statusBar' | 'notification';

/** The settings about agent mode. */
export interface AgentSettings {
  /** Off: messages go to the model as they came. */
  readonly automatic: boolean;
  /** The window that VS Code is told, in tokens; 0: the model's own. */
  readonly declaredWindow: number;
  /** Models of VS Code that are offered a second time, condensed: `vendor/id`. */
  readonly wrappedModels: readonly string[];
  /** Percent of the window from which a summary is prepared in the background; 0: never. */
  readonly backgroundPercent: number;
  /** Percent of the window from which a conversation is condensed once its prompt cache has gone cold; 0: never. */
  readonly coldPercent: number;
  /** How long a request waits for a model's summary, in seconds. */
  readonly summaryWaitSeconds: number;
  readonly notices: NoticeKind;
  /** What is wrong with the settings, by name. */
  readonly problems: readonly ConfigProblem[];
}

const DEFAULT_DECLARED_WINDOW = 1_000_000;
const DEFAULT_BACKGROUND_PERCENT = 60;
const DEFAULT_COLD_PERCENT = 50;
const DEFAULT_SUMMARY_WAIT_SECONDS = 30;

const NOTICES = ['none', 'statusBar', 'notification'] as const;

/** The settings as they are now. What is wrong counts as its default and is named. */
export function agentSettings(): AgentSettings {
  const settings = vscode.workspace.getConfiguration('contextCondenser');
  const problems: ConfigProblem[] = [];
  const valid = <T>(path: string, standard: T, check: (value: unknown) => value is T, allowed: string): T => {
    const value = settings.get<unknown>(path);
    if (value === undefined || check(value)) return value ?? standard;
    problems.push({
      path,
      message: `is ${JSON.stringify(value)}; allowed is ${allowed}. ${JSON.stringify(standard)} is used.`,
    });
    return standard;
  };
  const numberIn = (path: string, least: number, most: number, standard: number): number =>
    valid(path, standard, isNumberIn(least, most), `a number from ${least} to ${most}`);
  return {
    automatic: valid<boolean>('automatic', true, (value) => typeof value === 'boolean', 'true or false'),
    declaredWindow: numberIn('agent.declaredWindow', 0, 100_000_000, DEFAULT_DECLARED_WINDOW),
    wrappedModels: valid<readonly string[]>('agent.wrappedModels', [], isListOfModels, 'a list of "vendor/id"'),
    backgroundPercent: numberIn('agent.backgroundPercent', 0, 100, DEFAULT_BACKGROUND_PERCENT),
    coldPercent: numberIn('agent.coldPercent', 0, 100, DEFAULT_COLD_PERCENT),
    summaryWaitSeconds: numberIn('agent.summaryWaitSeconds', 0, 300, DEFAULT_SUMMARY_WAIT_SECONDS),
    notices: valid<NoticeKind>('notifications', 'statusBar', isNotice, NOTICES.join(', ')),
    problems,
  };
}

const isNumberIn =
  (least: number, most: number) =>
  (value: unknown): value is number =>
    typeof value === 'number' && value >= least && value <= most;

const isNotice = (value: unknown): value is NoticeKind => NOTICES.some((kind) => kind === value);

const isListOfModels = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((entry) => typeof entry === 'string' && /^[^/\s]+\/\S+$/.test(entry));
