/** Finds the gateways that run for a server's windows. */
import assert from 'node:assert/strict';
import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { LiveAnswerByQuestion, LiveQuestion } from '../../src/gateway/liveRoute';
import { listLeakingFiles } from '../agents/agentRun';
import { until, type Workbench } from './workbench/index';

/** What a gateway announces of itself. */
export interface RunningGateway {
  readonly pid: number;
  readonly address: string;
}

/** Reads the announcements of running gateways. */
export function listRunningGateways({ server }: Workbench): RunningGateway[] {
  const folder = join(server.data, 'User', 'globalStorage', 'context-condenser.context-condenser', 'running');
  const names = existsSync(folder) ? readdirSync(folder) : [];
  return names
    .filter((name) => name.endsWith('.json'))
    .map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as RunningGateway);
}

/** Asks a gateway as a window does. */
export async function askGateway<K extends keyof LiveAnswerByQuestion>(
  { address }: RunningGateway,
  question: Extract<LiveQuestion, { do: K }>,
): Promise<LiveAnswerByQuestion[K]> {
  const answer = await fetch(address, { method: 'POST', body: JSON.stringify(question) });
  return (await answer.json()) as LiveAnswerByQuestion[K];
}

/** Reads state and parent of a process from /proc. */
function readStat(pid: number): { readonly state: string; readonly parent: number } | undefined {
  try {
    // The command's name, in parentheses, may contain any character.
    const [, state = '', parent] = readFileSync(`/proc/${pid}/stat`, 'latin1').replace(/^.*\)/s, ')').split(' ');
    return { state, parent: Number(parent) };
  } catch {
    return undefined;
  }
}

/** True if the process runs; false for a zombie. */
export const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  return readStat(pid)?.state !== 'Z';
};

/** True if this machine has /proc. */
export const canListProcesses = (): boolean => existsSync('/proc/self/stat');

/** Lists a process and its descendants, or only the process itself if there is no /proc. */
export function listProcesses(pid: number): number[] {
  const all = canListProcesses()
    ? readdirSync('/proc')
        .filter((name) => /^\d+$/.test(name))
        .map(Number)
    : [];
  const parents = new Map(all.map((one) => [one, readStat(one)?.parent]));
  const found = [pid];
  for (const one of found) found.push(...all.filter((child) => parents.get(child) === one));
  return found;
}

/** Lists running gateways with all their processes, to check {@link checkGone} later. */
export const listGatewayProcesses = (bench: Workbench) =>
  listRunningGateways(bench).map((gateway) => ({ ...gateway, processes: listProcesses(gateway.pid) }));

/**
 * Checks that the gateways have ended: nothing listens, no process is left, no file of a run is
 * left in our folder, and no file in the home folder contains a gateway's address.
 * @param logs the agent's own logs, in which the gateway's address may remain.
 */
export async function checkGone(
  bench: Workbench,
  gateways: ReturnType<typeof listGatewayProcesses>,
  logs?: RegExp,
): Promise<void> {
  const { data, home } = bench.server;
  await until('all processes to end', () => gateways.every(({ processes }) => !processes.some(isAlive)));
  for (const { address } of gateways)
    await assert.rejects(fetch(address, { method: 'POST', body: '{"do":"list"}' }), TypeError);
  assert.deepEqual(listRunningGateways(bench), []);
  assert.deepEqual(globSync('User/workspaceStorage/*/*/live/runs/*', { cwd: data }), []);
  assert.deepEqual(
    listLeakingFiles(home).filter((name) => logs?.test(name) !== true),
    [],
  );
}
