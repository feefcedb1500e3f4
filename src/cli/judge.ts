import { existsSync } from 'node:fs';
import { formatPercent } from '../core/percent';
import { resolve } from 'node:path';
import { judgeSessions, listSessionFiles, type JudgedSessions } from '../conversations/judgeSessions';
import { CondensationManager, createProviders } from '../core/condense';
import {
  MIN_NEEDED_LINES,
  MIN_JUDGED_SESSIONS,
  type JudgedPoint,
  type JudgmentVerdict,
} from '../core/condense/futureNeed/judge';
import { CURRENT_CHOICE_ID, listJudgedChoices, type JudgedChoice } from '../core/condense/futureNeed/judgedChoices';
import { getErrorMessage } from '../core/errors';
import { formatPlural } from '../core/plural';
import { MessageCounter } from '../core/tokens/messageCounter';
import { loadTokenCounter } from '../storage/assets';
import { parseOptions, readProviderOption, UsageError } from './args';
import { readConfig } from './config';
import { EXIT_CODE, type CliIo, type ExitCode } from './io';

/**
 * Measures how much of the content that agents needed later each provider keeps. Writes nothing.
 */
export async function runJudgeCommand(argv: readonly string[], io: CliIo): Promise<ExitCode> {
  const { values, folders } = parseJudgeArguments(argv);
  const tokens = await loadTokenCounter(io.assets);
  const provider = readProviderOption(values);
  const manager = new CondensationManager(new MessageCounter(tokens), createProviders());
  const { config: text, preset } = values;
  const config = await readConfig({ config: text, preset }, manager.getProvider(provider), (sentence) => {
    io.stderr(`${sentence}\n`);
  });
  if (manager.mayCallModel(provider, config ?? {}))
    io.stderr('The current settings call a model, so what runs without one was judged.\n');
  const choices = listJudgedChoices({ provider, config });
  const files = await listFilesToJudge(folders);
  const judgment = await judgeSessions(files, choices, {
    tokens,
    signal: io.signal,
    onProgress: (done, of) => {
      io.showProgress?.(`${done} of ${of} files`);
    },
  });
  io.stdout(values.json ? `${JSON.stringify({ choices, ...judgment })}\n` : formatJudgment(judgment, choices));
  return judgment.verdict.kind === 'too-little' ? EXIT_CODE.nothingToGain : EXIT_CODE.done;
}

function parseJudgeArguments(argv: readonly string[]) {
  const { values, positionals: folders } = parseOptions(argv, ['judge']);
  if (folders.length === 0) throw new UsageError('Missing folder: context-condenser judge <folder> …');
  return { values, folders };
}

async function listFilesToJudge(folders: readonly string[]): Promise<string[]> {
  const paths = folders.map((folder) => resolve(folder));
  const missingPath = paths.find((path) => !existsSync(path));
  if (missingPath !== undefined) throw new UsageError(`${missingPath}: no such folder or file. Check the path.`);
  try {
    return await listSessionFiles(paths);
  } catch (error) {
    throw new UsageError(`A folder can't be listed: ${getErrorMessage(error)}`);
  }
}

const formatSharePercent = (share: number): string => formatPercent(100 * Math.min(1, Math.max(0, share)), 1);

function formatJudgment(
  { read, others, sessions, lines, points, verdict }: JudgedSessions,
  choices: readonly JudgedChoice[],
): string {
  const getName = (id: string): string =>
    `${choices.find((choice) => choice.id === id)?.name ?? id}${id === CURRENT_CHOICE_ID ? ' (current)' : ''}`;
  const summaryLine = `${formatPlural(read, 'session')} read${others > 0 ? ` (not a session: ${formatPlural(others, 'file')})` : ''}; in ${sessions} of them, later edits used ${formatPlural(lines, 'line')} from the condensed part.`;
  const nameWidth = Math.max(...choices.map(({ id }) => getName(id).length));
  const rows = points.map((point) => formatJudgedRow(point, getName(point.choice).padEnd(nameWidth)));
  const title = `${''.padEnd(nameWidth)}    target    left  needed lines lost [95%]       can't be recalled`;
  return `${[summaryLine, ...(lines === 0 ? [] : ['', title, ...rows]), '', formatVerdict(verdict, getName)].join('\n')}\n`;
}

function formatJudgedRow({ target, left, lost, gone }: JudgedPoint, name: string): string {
  const interval = Number.isNaN(lost.low) ? '–' : `${formatSharePercent(lost.low)} to ${formatSharePercent(lost.high)}`;
  const cells = [
    target === undefined ? '–' : formatSharePercent(target),
    formatSharePercent(left),
    formatSharePercent(lost.share),
    `[${interval}]`,
    formatSharePercent(gone),
  ];
  const columnWidths = [8, 7, 7, 20, 9];
  return `${name}  ${cells.map((cell, at) => cell.padStart(columnWidths[at] ?? 0)).join(' ')}`;
}

function formatVerdict(verdict: JudgmentVerdict, getName: (id: string) => string): string {
  switch (verdict.kind) {
    case 'too-little':
      return `Too little data for a recommendation: it takes ${MIN_JUDGED_SESSIONS} sessions and ${MIN_NEEDED_LINES} needed lines.`;
    case 'keep':
      return 'Keep the current settings: as far as these sessions can tell, nothing else loses less at the same size.';
    case 'change': {
      const { choice, target, difference } = verdict;
      const targetText = target === undefined ? '' : ` with a target of ${formatSharePercent(target)}`;
      return `${getName(choice)}${targetText} leaves no more tokens and loses ${formatSharePercent(-difference.share)} fewer of the needed lines (at least ${formatSharePercent(-difference.high)}, with 95%).`;
    }
  }
}
