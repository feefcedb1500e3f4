import { join } from 'node:path';
import { parseArgs, type ParseArgsConfig } from 'node:util';
import { optionError } from '../args';
import { EXIT, type CliIo, type ExitCode } from '../io';
import { fromGateway, fromStores, RECALL_VARIABLE } from './recall';
import type * as server from './server';

/** Bundle of the server and its SDK. */
const SERVER = 'mcpServer.cjs';

export const OPTIONS = { store: { type: 'string', multiple: true } } as const satisfies ParseArgsConfig['options'];

/** `mcp`: recall and search for an agent over stdio. */
export async function mcpCommand(argv: readonly string[], io: CliIo): Promise<ExitCode> {
  const stores = storesIn(argv);
  const address = io.env[RECALL_VARIABLE];
  const recall = address === undefined ? await fromStores(stores, io) : fromGateway(address, io.version);
  // A bundle of its own beside this one.
  // oxlint-disable-next-line typescript/no-require-imports -- as the extension loads its own
  const { serveMcp } = require(join(io.assets, SERVER)) as typeof server;
  await serveMcp(recall, io.version, io.signal);
  return EXIT.done;
}

function storesIn(argv: readonly string[]): readonly string[] {
  try {
    return parseArgs({ args: [...argv], options: OPTIONS, strict: true }).values.store ?? [];
  } catch (error) {
    throw optionError(error);
  }
}
