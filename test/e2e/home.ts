/** What agents have stored on the machine of a window, as scenarios make it: a window that is shared has one home for all of them. */
import { randomUUID } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { root } from '../../scripts/vscode.mjs';
import { help } from './workbench/helper';
import type { Workbench } from './workbench/index';
import { openContainer, until } from './workbench/index';

const sample = readFileSync(join(root, 'sample', 'conversation.jsonl'), 'utf8');
const sampleId = (JSON.parse(sample.slice(0, sample.indexOf('\n'))) as { sessionId: string }).sessionId;

/** Where Claude Code keeps a session. */
export const SESSION = '.claude/projects/-home-me-notes/sample.jsonl';

/** The sample as a session that no ledger knows: what was condensed before, is another one. */
export const freshSample = (): string => sample.replaceAll(sampleId, randomUUID());

/**
 * Leaves these files (path → content) in the home of a window, and nothing else; the first is the newest, as it is now, and each of the
 * others is two hours older.
 * @returns the home.
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

/** Has the view show what is in the home now. */
export const refreshConversations = (bench: Workbench): Promise<unknown> =>
  help(bench, { commands: [[`${VIEW}.refresh`]] });

/** Opens the view of conversations, folded, with what is in the home now. */
export async function openConversations(bench: Workbench): Promise<void> {
  await openContainer(bench, 'Context Condenser');
  // VS Code can't fold a tree while rows that it holds are going.
  await until('the view to be folded', async () => {
    await help(bench, { commands: [[`workbench.actions.treeView.${VIEW}.collapseAll`]] });
    return true;
  });
  await refreshConversations(bench);
}
