import { getErrorMessage } from '../core/errors';
import { isHelpOption, isStandaloneCommand, parseCommandLine } from './args';
import { formatHelp } from './help';
import { EXIT_CODE, type CliIo, type ExitCode } from './io';
import { withProgressLine } from './progressLine';
import { escapeOutput } from './terminal';

/**
 * Names of errors that mean bad input. Errors are compared by name, because each bundle has its own
 * classes.
 */
const BAD_INPUT_ERROR_NAMES = ['UsageError', 'UnknownProviderError', 'ConversationReadError'];

/** Reports errors as a line on stderr and an exit code, and never throws. */
export async function runCommandLine(argv: readonly string[], plainIo: CliIo): Promise<number> {
  const escapedIo = withProgressLine(escapeOutput(plainIo));
  try {
    const [firstArgument = '', ...otherArguments] = argv;
    if (isStandaloneCommand(firstArgument)) {
      // Arguments after the agent of `run` belong to the agent.
      const wantsHelp = firstArgument === 'run' ? isHelpOption(otherArguments[0]) : otherArguments.some(isHelpOption);
      if (!wantsHelp) return await (await import('./commands')).otherCommands[firstArgument](otherArguments, escapedIo);
      escapedIo.stdout(formatHelp(firstArgument));
      return EXIT_CODE.done;
    }
    const line = parseCommandLine(argv);
    if (line === 'version' || 'help' in line) {
      escapedIo.stdout(line === 'version' ? `${escapedIo.version}\n` : formatHelp(line.help));
      return EXIT_CODE.done;
    }
    const { sessionCommands, openSession } = await import('./commands');
    return await sessionCommands[line.command](await openSession(line, escapedIo));
  } catch (error) {
    if (escapedIo.signal.aborted) {
      escapedIo.stderr('Canceled. Nothing was written.\n');
      return EXIT_CODE.cancelled;
    }
    return printErrorAndGetExitCode(error, escapedIo);
  }
}

function printErrorAndGetExitCode(error: unknown, io: CliIo): ExitCode {
  io.stderr(`context-condenser: ${getErrorMessage(error)}\n`);
  return error instanceof Error && BAD_INPUT_ERROR_NAMES.includes(error.name) ? EXIT_CODE.badInput : EXIT_CODE.failed;
}
