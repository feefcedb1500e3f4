/**
 * Prepares agents' stored conversations in a window's home folder. All scenarios of a shared window
 * have the same home folder.
 */
import { randomUUID } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { root } from '../../scripts/vscode.mjs';
import { runInHelper } from './workbench/helper';
import type { Workbench } from './workbench/index';
import { openContainer, until } from './workbench/index';

const sample = readFileSync(join(root, 'sample', 'conversation.jsonl'), 'utf8');
const sampleId = (JSON.parse(sample.slice(0, sample.indexOf('\n'))) as { sessionId: string }).sessionId;

export const SESSION = '.claude/projects/-home-me-notes/7b1c9d3e-0f52-4c8a-9a4e-2d6f8b1a5c30.jsonl';

/** Returns the sample as a new session that no ledger knows. */
export const freshSample = (): string => sample.replaceAll(sampleId, randomUUID());

/**
 * Replaces the files (path → content) in a window's home folder. The first is the newest, and each
 * of the others is two hours older.
 * @returns the home folder
 */
export function homeWith({ server: { home } }: Workbench, files: Readonly<Record<string, string>> = {}): string {
  for (const name of readdirSync(home)) rmSync(join(home, name), { recursive: true, force: true });
  Object.entries(files).forEach(([path, content], index) => {
    const file = join(home, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, content);
    const seconds = Date.now() / 1000 - index * 7200;
    utimesSync(file, seconds, seconds);
  });
  return home;
}

const VIEW = 'contextCondenser.conversations';

export const refreshConversations = (bench: Workbench): Promise<unknown> =>
  runInHelper(bench, { commands: [[`${VIEW}.refresh`]] });

/** Opens the view of conversations with all groups collapsed. */
export async function openConversations(bench: Workbench): Promise<void> {
  await openContainer(bench, 'Context Condenser');
  // This is tried again, because VS Code can't collapse a tree while rows are being removed.
  await until('the view to be folded', async () => {
    await runInHelper(bench, { commands: [[`workbench.actions.treeView.${VIEW}.collapseAll`]] });
    return true;
  });
  await refreshConversations(bench);
}
