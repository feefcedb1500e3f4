/**
 * This bundle of all commands takes longer to load than Node.js takes to start. `--version` doesn't
 * need it.
 */
import { runAccountCommand } from './account';
import type { SessionCommandName, StandaloneCommandName } from './help';
import { runCondenseCommand } from './condense';
import { runEstimateCommand } from './estimate';
import { runExpandCommand } from './expand';
import { runExportCommand } from './export';
import { runGatewayCommand } from './gateway/gatewayCommand';
import { runAgentCommand } from './gateway/runCommand';
import { runInspectCommand } from './inspect';
import type { CliIo, ExitCode } from './io';
import { runJudgeCommand } from './judge';
import { runMcpCommand } from './mcp/mcpCommand';
import { runReportCommand } from './report';
import type { CliSession } from './session';
import { runUndoCommand } from './undo';

export { openSession } from './session';

export const sessionCommands: Readonly<
  Record<SessionCommandName, (session: CliSession) => ExitCode | Promise<ExitCode>>
> = {
  inspect: runInspectCommand,
  estimate: runEstimateCommand,
  condense: runCondenseCommand,
  expand: runExpandCommand,
  undo: runUndoCommand,
  export: runExportCommand,
  report: runReportCommand,
};

/** Each command receives the arguments that follow its name. */
export const otherCommands: Readonly<
  Record<StandaloneCommandName, (argv: readonly string[], io: CliIo) => Promise<number>>
> = {
  account: runAccountCommand,
  gateway: runGatewayCommand,
  judge: runJudgeCommand,
  mcp: runMcpCommand,
  run: runAgentCommand,
};
