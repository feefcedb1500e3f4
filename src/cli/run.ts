import { isConversationReadError } from '../conversations/readError';
import { UnknownProviderError } from '../core/condense';
import { errorMessage } from '../core/errors';
import { accountCommand } from './account';
import { HELP, parseLine, UsageError, type CommandName } from './args';
import { condense } from './condense';
import { estimate } from './estimate';
import { expand } from './expand';
import { exportCommand } from './export';
import { gatewayCommand } from './gateway/gatewayCommand';
import { runCommand } from './gateway/runCommand';
import { inspect } from './inspect';
import { mcpCommand } from './mcp/mcpCommand';
import { EXIT, type CliIo, type ExitCode } from './io';
import { report } from './report';
import { openSession, type Session } from './session';
import { undo } from './undo';

const RUN: Readonly<Record<CommandName, (session: Session) => ExitCode | Promise<ExitCode>>> = {
  inspect,
  estimate,
  condense,
  expand,
  undo,
  export: exportCommand,
  report,
};

/** Commands that have no conversation's file, with what stands behind their name. */
const OTHERS: Readonly<Partial<Record<string, (argv: readonly string[], io: CliIo) => Promise<number>>>> = {
  account: accountCommand,
  gateway: gatewayCommand,
  mcp: mcpCommand,
  run: runCommand,
};

/** Runs one command line. Every error becomes a line on stderr and an exit code; nothing is thrown. */
export async function run(argv: readonly string[], io: CliIo): Promise<number> {
  try {
    const [first = '', ...rest] = argv;
    const other = OTHERS[first];
    if (other) return await other(rest, io);
    const line = parseLine(argv);
    if (line === 'help' || line === 'version') {
      io.stdout(line === 'help' ? HELP : `${io.version}\n`);
      return EXIT.done;
    }
    return await RUN[line.command](await openSession(line, io));
  } catch (error) {
    if (io.signal.aborted) {
      io.stderr('Cancelled. Nothing was written.\n');
      return EXIT.cancelled;
    }
    return explain(error, io);
  }
}

function explain(error: unknown, io: CliIo): ExitCode {
  const message = errorMessage(error);
  io.stderr(`context-condenser: ${message}\n`);
  if (error instanceof UsageError || error instanceof UnknownProviderError || isConversationReadError(error)) {
    return EXIT.badInput;
  }
  return EXIT.failed;
}
