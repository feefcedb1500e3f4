/** Gateways that run for the windows of a server, as scenarios look for them. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Workbench } from './workbench/index';

/** The announcements of gateways that run. */
export function running({ server }: Workbench): { readonly pid: number; readonly address: string }[] {
  const folder = join(server.data, 'User', 'globalStorage', 'context-condenser.context-condenser', 'running');
  const names = existsSync(folder) ? readdirSync(folder) : [];
  return names
    .filter((name) => name.endsWith('.json'))
    .map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as { pid: number; address: string });
}

export const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};
