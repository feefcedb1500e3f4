import { join } from 'node:path';
import { parseOptions } from '../args';
import { EXIT_CODE, type CliIo, type ExitCode } from '../io';
import { recallFromGateway, recallFromStores, RECALL_ADDRESS_VARIABLE } from './recall';
import type * as server from './server';

const SERVER_BUNDLE = 'mcpServer.cjs';

/** Serves recall and search to an agent over stdio. */
export async function runMcpCommand(argv: readonly string[], io: CliIo): Promise<ExitCode> {
  const stores = parseOptions(argv, ['mcp'], { positionals: false }).values.store;
  const address = io.env[RECALL_ADDRESS_VARIABLE];
  const recall = address === undefined ? await recallFromStores(stores, io) : recallFromGateway(address, io.version);
  // oxlint-disable-next-line typescript/no-require-imports -- as the extension loads its own
  const { serveMcp } = require(join(io.assets, SERVER_BUNDLE)) as typeof server;
  await serveMcp(recall, io.version, io.signal);
  return EXIT_CODE.done;
}
