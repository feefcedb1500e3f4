import type { Stats } from 'node:fs';
import { lstat, readdir, realpath, stat } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { getErrorCode } from '../../core/errors';
import type { StorePathStep } from '../../core/agents/types';
import type { FindConversationsProblem } from './types';

export interface StoreFile {
  readonly path: string;
  readonly stats: Stats;
}

/**
 * The root may be a link, since users move their data; other links are not followed. Unreadable
 * folders are skipped.
 */
export async function findStoreFiles(
  root: string,
  steps: readonly StorePathStep[],
  problems: FindConversationsProblem[],
): Promise<StoreFile[]> {
  const realRoot = await realpath(root).catch(() => undefined);
  return realRoot === undefined ? [] : walkPathSteps({ root: realRoot, problems }, root, steps);
}

interface WalkContext {
  readonly root: string;
  readonly problems: FindConversationsProblem[];
}

async function walkPathSteps(
  context: WalkContext,
  folder: string,
  [step, ...nextSteps]: readonly StorePathStep[],
): Promise<StoreFile[]> {
  if (step === undefined) return [];
  const names =
    typeof step === 'string' ? [step] : (await listFolder(context, folder)).filter((name) => step.test(name));
  const filesByName = await Promise.all(
    names.map(async (name): Promise<StoreFile[]> => {
      const path = join(folder, name);
      const stats = await readStats(context, path, name);
      if (!stats) return [];
      if (nextSteps.length > 0) return stats.isDirectory() ? walkPathSteps(context, path, nextSteps) : [];
      return stats.isFile() && stats.size > 0 ? [{ path, stats }] : [];
    }),
  );
  return filesByName.flat();
}

async function listFolder({ problems }: WalkContext, folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (!isNotFoundError(error))
      problems.push({ path: folder, reason: `the folder can’t be listed (${getErrorCode(error) ?? 'unknown error'})` });
    return [];
  }
}

async function readStats({ root, problems }: WalkContext, path: string, name: string): Promise<Stats | undefined> {
  try {
    const stats = await lstat(path);
    if (!stats.isSymbolicLink()) return stats;
    const realTarget = await realpath(path);
    if (realTarget.startsWith(root + sep)) return await stat(realTarget);
    problems.push({ path, reason: 'a link that leads out of the folder; it was not followed' });
  } catch (error) {
    // A name that isn't UTF-8 can't be passed back to the system.
    if (name.includes('\ufffd')) problems.push({ path, reason: 'a name that is not UTF-8' });
    else if (!isNotFoundError(error))
      problems.push({ path, reason: `it can’t be looked at (${getErrorCode(error) ?? 'unknown error'})` });
  }
  return undefined;
}

const isNotFoundError = (error: unknown): boolean => ['ENOENT', 'ENOTDIR'].includes(getErrorCode(error) ?? '');
