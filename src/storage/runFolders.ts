/**
 * The folder of a gateway run contains the gateway's address, and possibly the agent's settings
 * with keys. If the run was killed, the folder is removed at our next start.
 */
import { Buffer } from 'node:buffer';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { ignoreMissingFile, readTextIfPresent, readStatusIfPresent, withOpenFile, writeAllBytes } from './fileTools';
import type { Files } from './files';
import { isProcessGone, getOwnerLiveness, parseOwner, formatOwner, getThisProcess } from './owner';
import { makeHeaderLine, OWN_FILE_KINDS, inspectOwnPath } from './ownFiles';
import { claimOwnFolder, OLD_RUN_FOLDER_NAME, inspectOwnFolder } from './ownFolder';
import { StorageError } from './storageError';

export const getRunsFolder = (store: string): string => join(store, 'runs');

export interface RunFolder {
  /**
   * Writes a file that only the user can read.
   * @returns its path
   */
  readonly write: (name: string, text: string) => Promise<string>;
  readonly remove: () => Promise<void>;
}

/** File with our header and the owner, one per line. */
const OWNER_FILE_NAME = 'owner';
/** Milliseconds between heartbeats, which are for programs that can't see the run's process. */
const HEARTBEAT_INTERVAL_MS = 60_000;
const DAY_MS = 24 * 3_600_000;

/** @throws StorageError `not-ours` if the store or its folder of runs isn't ours */
export async function makeRunFolder(files: Files, store: string): Promise<RunFolder> {
  await claimOwnFolder(files, store, 'Nothing was started.');
  const runs = getRunsFolder(store);
  const status = await readStatusIfPresent(files, runs);
  if (status && status.kind !== 'folder') {
    throw new StorageError({
      kind: 'not-ours',
      path: runs,
      happened: 'This is not a folder.',
      notDone: 'Nothing was started.',
      advice: 'Move it away, or name another store.',
    });
  }
  const folder = join(runs, `run-${process.pid}-${randomBytes(4).toString('hex')}`);
  const owner = join(folder, OWNER_FILE_NAME);
  const createFile = (path: string, text: string): Promise<void> =>
    withOpenFile(files, path, 'create', (file) => writeAllBytes(file, Buffer.from(text)));
  let heartbeatTimer: NodeJS.Timeout | undefined;
  return {
    write: async (name, text) => {
      if (heartbeatTimer === undefined) {
        await files.makeFolder(folder);
        await createFile(owner, `${makeHeaderLine('run')}\n${formatOwner(getThisProcess())}\n`);
        heartbeatTimer = setInterval(
          () => void files.touch(owner, Date.now()).catch(() => undefined),
          HEARTBEAT_INTERVAL_MS,
        );
        heartbeatTimer.unref();
      }
      const path = join(folder, name);
      await createFile(path, text);
      return path;
    },
    remove: async () => {
      clearInterval(heartbeatTimer);
      if ((await inspectOwnPath(files, owner, OWN_FILE_KINDS.run)) === 'ours') await files.removeFolder(folder);
    },
  };
}

/** Removes folders of killed runs; failures are retried at the next start. */
export async function removeLeftRunFolders(files: Files, store: string): Promise<void> {
  const state = await inspectOwnFolder(files, store).catch(() => undefined);
  if (state !== 'marked' && state !== 'earlier') return;
  const runs = getRunsFolder(store);
  if ((await readStatusIfPresent(files, runs))?.kind !== 'folder') return;
  for (const name of (await ignoreMissingFile(files.list(runs))) ?? []) {
    const folder = join(runs, name);
    try {
      if (/^run-\d+-[0-9a-f]{8}$/.test(name)) await removeLeftoverFolder(files, folder);
      else await removeEarlierRunFolder(files, folder, Number(OLD_RUN_FOLDER_NAME.exec(name)?.[1]));
    } catch {
      continue;
    }
  }
}

async function removeLeftoverFolder(files: Files, folder: string): Promise<void> {
  if ((await readStatusIfPresent(files, folder))?.kind !== 'folder') return;
  const path = join(folder, OWNER_FILE_NAME);
  if ((await inspectOwnPath(files, path, OWN_FILE_KINDS.run)) !== 'ours') return;
  const owner = parseOwner((await readTextIfPresent(files, path))?.split('\n')[1] ?? '');
  const liveness = owner && getOwnerLiveness(owner);
  if (liveness === 'gone' || (liveness === 'unknown' && (await isWithoutHeartbeat(files, folder))))
    await files.removeFolder(folder);
}

/**
 * True if the run had no heartbeat between two checks a day apart. One check is not enough, since
 * the clock may change.
 */
async function isWithoutHeartbeat(files: Files, folder: string): Promise<boolean> {
  const heartbeat = String((await files.status(join(folder, OWNER_FILE_NAME))).modified);
  const seenFile = join(folder, 'seen');
  const [seenBeat, at] = ((await readTextIfPresent(files, seenFile)) ?? '').split(' ');
  if (seenBeat === heartbeat) return Math.abs(Date.now() - Number(at)) > DAY_MS;
  await ignoreMissingFile(files.removeFile(seenFile));
  await withOpenFile(files, seenFile, 'create', (file) =>
    writeAllBytes(file, Buffer.from(`${heartbeat} ${Date.now()}`)),
  );
  return false;
}

/** Version 1.0 created these files for agents. */
const FILES_OF_EARLIER_RUNS: ReadonlySet<string> = new Set([
  ...['settings.json', 'mcp.json', 'providers.json', 'config.yaml', 'gemini.json', 'qwen.json', 'condenser.mjs'],
]);

/**
 * Removes a folder of version 1.0, which has no owner, if it contains only known files and was
 * unused for a day.
 */
async function removeEarlierRunFolder(files: Files, folder: string, pid: number): Promise<void> {
  const status = await readStatusIfPresent(files, folder);
  if (status?.kind !== 'folder' || !(pid > 0) || !isProcessGone(pid) || Date.now() - status.modified < DAY_MS) return;
  const names = await files.list(folder);
  const fileTexts: string[] = [];
  for (const name of names) {
    const path = join(folder, name);
    if (!FILES_OF_EARLIER_RUNS.has(name) || (await readStatusIfPresent(files, path))?.kind !== 'file') return;
    fileTexts.push((await readTextIfPresent(files, path)) ?? '');
  }
  if (names.length > 0 && !fileTexts.some((text) => text.includes('CONTEXT_CONDENSER_RECALL'))) return;
  for (const name of names) await ignoreMissingFile(files.removeFile(join(folder, name)));
  await files.removeEmptyFolder(folder);
}
