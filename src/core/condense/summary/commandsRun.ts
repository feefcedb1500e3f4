import type { ToolExchange } from '../../messages/exchanges';
import { getCommandOfCall, getToolRule, type ToolTable } from '../../messages/tools';

export interface ExecutedCommand {
  readonly command: string;
  readonly runs: number;
  /**
   * Exit status of the last run; `failed` if the result says only that it failed; undefined if
   * unknown.
   */
  readonly status: number | 'failed' | undefined;
}

export function listExecutedCommands(exchanges: readonly ToolExchange[], tools: ToolTable): ExecutedCommand[] {
  const commands = new Map<string, ExecutedCommand>();
  for (const exchange of exchanges) {
    if (getToolRule(tools, exchange)?.kind !== 'command') continue;
    const command = getCommandLine(exchange);
    if (command === '') continue;
    const runs = (commands.get(command)?.runs ?? 0) + 1;
    commands.delete(command);
    commands.set(command, { command, runs, status: parseExitStatus(exchange) });
  }
  return [...commands.values()];
}

const MAX_COMMAND_CHARS = 160;

/** Returns the first line that is not blank and not a comment, shortened. */
export function getCommandLine(exchange: ToolExchange): string {
  const lines = (getCommandOfCall(exchange) ?? '').split('\n').map((line) => line.trim());
  const line = lines.find((candidate) => candidate !== '' && !candidate.startsWith('#')) ?? '';
  return line.length > MAX_COMMAND_CHARS ? `${line.slice(0, MAX_COMMAND_CHARS).toWellFormed()}…` : line;
}

/** Agents write "Exit code 1", "Exit code: 0", "exited with code 2" or `"exit_code": 0`. */
const EXIT_STATUS = /\bexit(?:ed)?(?:[ _](?:with[ _])?(?:code|status))["']?[:= ]+(-?\d{1,10})\b/i;

/** Agents put the status in the first or last lines; elsewhere it is program output. */
const STATUS_SEARCH_CHARS = 300;

export function parseExitStatus({ resultText, isError, resultMessage }: ToolExchange): ExecutedCommand['status'] {
  if (resultMessage === undefined) return undefined;
  const statusMatch =
    EXIT_STATUS.exec(resultText.slice(0, STATUS_SEARCH_CHARS)) ??
    EXIT_STATUS.exec(resultText.slice(-STATUS_SEARCH_CHARS));
  if (statusMatch) return Number(statusMatch[1]);
  return isError ? 'failed' : undefined;
}
