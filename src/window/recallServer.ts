import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { version } from '../../package.json';
import { getDefaultStore } from '../storage/home';
import { getLiveLedgerFolder, getLedgerFolder } from './background';
import type { Services } from './services';

/**
 * The server resolves the markers of conversations that were given back or condensed behind the
 * gateway. None is created until something was condensed, so that an unused extension starts no
 * process.
 */
export function createRecallServers(services: Services): vscode.McpStdioServerDefinition[] {
  const { context } = services;
  const ownStore = getDefaultStore({ platform: process.platform, env: process.env, homedir: homedir() });
  if (![getLedgerFolder(services), ownStore].some((store) => existsSync(store))) return [];
  const stores = [getLedgerFolder(services), getLiveLedgerFolder(services), ownStore];
  const command = [
    join(context.extensionPath, 'dist', 'cli.cjs'),
    'mcp',
    ...stores.flatMap((store) => ['--store', store]),
  ];
  // VS Code's executable runs as Node.
  return [new vscode.McpStdioServerDefinition('Context Condenser', process.execPath, command, {}, version)];
}
