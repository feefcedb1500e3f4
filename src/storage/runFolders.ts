/**
 * The folders of agents' runs below a store. What lies in one leads an agent to its gateway, and may hold a copy of the agent's settings,
 * keys and all: so it goes with the run, and that of a run that was killed with the next start of any of our programs.
 */
import { Buffer } from 'node:buffer';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { ifThere, readText, statusIfThere, withFile, writeAll } from './fileTools';
import type { Files } from './files';
import { isGone, checkLiveness, ownerIn, ownerWord, thisProcess } from './owner';
import { headerLine, OWN, standingAt } from './ownFiles';
import { claimFolder, EARLIER_RUN, folderState } from './ownFolder';
import { StorageError } from './storageError';

/** Folder of the runs below a store. */
export const getRunsFolder = (store: string): string => join(store, 'runs');

/** The folder of a run; it is made with its first file. */
export interface RunFolder {
  /** Writes a file of this run, which only its user can read, and gives its path. */
  readonly write: (name: string, text: string) => Promise<string>;
  /** Removes it with all that is in it. */
  readonly remove: () => Promise<void>;
}

/** Its first line is our header, its second the owner. */
const OWNER = 'owner';
/** How often a run shows a sign of life, for those who can't see its process. */
const BEAT_MS = 60_000;
const DAY_MS = 24 * 3_600_000;

/** @throws StorageError `not-ours` where the store, or its folder of runs, is somebody else's */
export async function makeRunFolder(files: Files, store: string): Promise<RunFolder> {
  await claimFolder(files, store, 'Nothing was started.');
  const runs = getRunsFolder(store);
  const status = await statusIfThere(files, runs);
  if (status && status.kind !== 'folder') {
    throw new StorageError({
      trouble: 'not-ours',
      path: runs,
      happened: 'This is not a folder.',
      notDone: 'Nothing was started.',
      advice: 'Move it away, or name another store.',
    });
  }
  const folder = join(runs, `run-${process.pid}-${randomBytes(4).toString('hex')}`);
  const owner = join(folder, OWNER);
  const create = (path: string, text: string): Promise<void> =>
    withFile(files, path, 'create', (file) => writeAll(file, Buffer.from(text)));
  let beat: NodeJS.Timeout | undefined;
  return {
    write: async (name, text) => {
      if (beat === undefined) {
        await files.makeFolder(folder);
        await create(owner, `${headerLine('run')}\n${ownerWord(thisProcess())}\n`);
        beat = setInterval(() => void files.touch(owner, Date.now()).catch(() => undefined), BEAT_MS);
        beat.unref();
      }
      const path = join(folder, name);
      await create(path, text);
      return path;
    },
    remove: async () => {
      clearInterval(beat);
      if ((await standingAt(files, owner, OWN.run)) === 'ours') await files.removeFolder(folder);
    },
  };
}

/** Removes the folders of runs that were killed. What can't be removed now is tried at the next start. */
export async function removeLeftRuns(files: Files, store: string): Promise<void> {
  const state = await folderState(files, store).catch(() => undefined);
  if (state !== 'marked' && state !== 'earlier') return;
  const runs = getRunsFolder(store);
  if ((await statusIfThere(files, runs))?.kind !== 'folder') return;
  for (const name of (await ifThere(files.list(runs))) ?? []) {
    const folder = join(runs, name);
    try {
      if (/^run-\d+-[0-9a-f]{8}$/.test(name)) await removeIfLeft(files, folder);
      else await removeEarlier(files, folder, Number(EARLIER_RUN.exec(name)?.[1]));
    } catch {
      continue;
    }
  }
}

async function removeIfLeft(files: Files, folder: string): Promise<void> {
  if ((await statusIfThere(files, folder))?.kind !== 'folder') return;
  const path = join(folder, OWNER);
  if ((await standingAt(files, path, OWN.run)) !== 'ours') return;
  const owner = ownerIn((await readText(files, path))?.split('\n')[1] ?? '');
  const liveness = owner && checkLiveness(owner);
  if (liveness === 'gone' || (liveness === 'unknown' && (await isSilent(files, folder))))
    await files.removeFolder(folder);
}

/**
 * Whether a run whose process can't be seen from here showed no sign of life between two looks a day apart. One look would not say it:
 * the clock may have jumped.
 */
async function isSilent(files: Files, folder: string): Promise<boolean> {
  const beat = String((await files.status(join(folder, OWNER))).modified);
  const seen = join(folder, 'seen');
  const [seenBeat, at] = ((await readText(files, seen)) ?? '').split(' ');
  if (seenBeat === beat) return Math.abs(Date.now() - Number(at)) > DAY_MS;
  await ifThere(files.removeFile(seen));
  await withFile(files, seen, 'create', (file) => writeAll(file, Buffer.from(`${beat} ${Date.now()}`)));
  return false;
}

/** The names of the files that version 1.0 made for agents. */
const EARLIER_FILES: ReadonlySet<string> = new Set([
  ...['settings.json', 'mcp.json', 'providers.json', 'config.yaml', 'gemini.json', 'qwen.json', 'condenser.mjs'],
]);

/** A folder of version 1.0 has no owner: its files must be the ones that it wrote, and nobody may have used it for a day. */
async function removeEarlier(files: Files, folder: string, pid: number): Promise<void> {
  const status = await statusIfThere(files, folder);
  if (status?.kind !== 'folder' || !(pid > 0) || !isGone(pid) || Date.now() - status.modified < DAY_MS) return;
  const names = await files.list(folder);
  const texts: string[] = [];
  for (const name of names) {
    const path = join(folder, name);
    if (!EARLIER_FILES.has(name) || (await statusIfThere(files, path))?.kind !== 'file') return;
    texts.push((await readText(files, path)) ?? '');
  }
  if (names.length > 0 && !texts.some((text) => text.includes('CONTEXT_CONDENSER_RECALL'))) return;
  for (const name of names) await ifThere(files.removeFile(join(folder, name)));
  await files.removeEmptyFolder(folder);
}
