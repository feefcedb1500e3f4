/**
 * The commands in a separate bundle, since it loads slower than Node starts and shells call
 * `--version`.
 */
import { accountCommand } from './account';
import type { CommandName, OtherCommandName } from './help';
import { condense } from './condense';
import { estimate } from './estimate';
import { expand } from './expand';
import { exportCommand } from './export';
import { gatewayCommand } from './gateway/gatewayCommand';
import { runCommand } from './gateway/runCommand';
import { inspect } from './inspect';
import type { CliIo, ExitCode } from './io';
import { judgeCommand } from './judge';
import { mcpCommand } from './mcp/mcpCommand';
import { report } from './report';
import type { Session } from './session';
import { undo } from './undo';

export { openSession } from './session';

export const commands: Readonly<Record<CommandName, (session: Session) => ExitCode | Promise<ExitCode>>> = {
  inspect,
  estimate,
  condense,
  expand,
  undo,
  export: exportCommand,
  report,
};

/** They receive the arguments after their name. */
export const otherCommands: Readonly<
  Record<OtherCommandName, (argv: readonly string[], io: CliIo) => Promise<number>>
> = {
  account: accountCommand,
  gateway: gatewayCommand,
  judge: judgeCommand,
  mcp: mcpCommand,
  run: runCommand,
};
