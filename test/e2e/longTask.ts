import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { MAX_OUTPUT, WINDOW_TOKENS, type LongTask } from '../servers/longTask';
import type { ModelServer } from '../servers/modelServer';
import type { Bed } from './bed';
import { chatProfile, openCondensedModel, PROFILE_NAME } from './condensedModel';
import { openChat, until } from './workbench/index';
import type { Workbench } from './workbench/index';

/** Without this, VS Code would ask for confirmation after 50 requests. */
export const MANY_REQUESTS = { 'chat.agent.maxRequests': 1_000 };

/**
 * Opens a VS Code on the task's project, whose chat uses our model with a window of 100,000 tokens.
 */
export async function openLongTask(
  bed: Bed,
  server: ModelServer,
  folder: string,
  task: LongTask,
  { profiles = [], settings = {} }: { readonly profiles?: readonly object[]; readonly settings?: object } = {},
): Promise<Workbench> {
  writeProject(folder, task.files);
  const profile = { contextWindow: WINDOW_TOKENS, maxOutputTokens: MAX_OUTPUT };
  const all = [chatProfile(server, profile), ...profiles];
  const more = { ...MANY_REQUESTS, 'contextCondenser.profiles': all, ...settings };
  const bench = await openCondensedModel(bed, server, { folder, profile, settings: more });
  await openChat(bench, PROFILE_NAME);
  return bench;
}

export function writeProject(folder: string, files: ReadonlyMap<string, string>): void {
  for (const [path, text] of files) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
}

/**
 * Waits until VS Code has stored the turn that ends with this answer, because unsaved data is lost
 * with the window. The answer's text may be stored earlier than the turn's result, which contains
 * the calls that are sent again after a reload.
 */
export const waitUntilStored = ({ server }: Workbench, answer: string): Promise<unknown> =>
  until('the turn to be stored', () =>
    globSync('User/workspaceStorage/*/chatSessions/*.jsonl', { cwd: server.data }).some((file) =>
      readFileSync(join(server.data, file), 'utf8')
        .split('\n')
        .some((line) => line.includes(answer) && readResults(line).includes(answer)),
    ),
  );

/**
 * Returns the results of turns in a line of a stored session.
 * `{"kind":1,"k":["requests",0,"result"],"v":…}` contains one turn, and
 * `{"kind":0,"v":{"requests":[{"result":…}]}}` contains all (seen in 1.139).
 */
function readResults(line: string): string {
  try {
    const { k: path = [], v: value } = JSON.parse(line) as { readonly k?: readonly unknown[]; readonly v?: unknown };
    if (path.length > 0) return path[0] === 'requests' && path[2] === 'result' ? JSON.stringify(value) : '';
    const { requests = [] } = value as { readonly requests?: readonly { readonly result?: unknown }[] };
    return JSON.stringify(requests.map(({ result }) => result));
  } catch {
    return ''; // The line is incomplete.
  }
}

/** Counts the condensations in the ledgers of the server's windows. */
export const countCondensations = ({ server }: Workbench): number =>
  globSync('User/**/ledger.jsonl', { cwd: server.data })
    .flatMap((file) => readFileSync(join(server.data, file), 'utf8').split('\n'))
    .filter((line) => line.includes('"type":"condensed"')).length;
