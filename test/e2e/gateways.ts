/** Gateways that run for the windows of a server, as scenarios look for them. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { LiveAnswers, LiveQuestion } from '../../src/gateway/liveRoute';
import type { Workbench } from './workbench/index';

/** As a gateway announces itself. */
export interface RunningGateway {
  readonly pid: number;
  readonly address: string;
}

/** The announcements of gateways that run. */
export function running({ server }: Workbench): RunningGateway[] {
  const folder = join(server.data, 'User', 'globalStorage', 'context-condenser.context-condenser', 'running');
  const names = existsSync(folder) ? readdirSync(folder) : [];
  return names
    .filter((name) => name.endsWith('.json'))
    .map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as RunningGateway);
}

/** What a gateway answers to a question of a window. */
export async function asked<K extends keyof LiveAnswers>(
  { address }: RunningGateway,
  question: Extract<LiveQuestion, { do: K }>,
): Promise<LiveAnswers[K]> {
  const answer = await fetch(address, { method: 'POST', body: JSON.stringify(question) });
  return (await answer.json()) as LiveAnswers[K];
}

export const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};
