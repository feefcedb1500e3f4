/** Shared by the scenarios that build passes in the settings panel, by mouse and by keyboard. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Frame } from 'playwright-core';
import { root } from '../../scripts/vscode.mjs';
import type { Bed } from './bed';
import { onDisk, openPanel, type OpenedPanel } from './panelPage';
import type { ServerOptions, Workbench, WorkbenchOptions } from './workbench/index';
import { notification, pick, quickInput, runCommand } from './workbench/index';

const sample = readFileSync(join(root, 'sample', 'conversation.jsonl'), 'utf8');
const SESSION = '.claude/projects/-home-me-notes/sample.jsonl';
const TITLE = /tags/i;

/** How VS Code's own lists are used. */
export interface Hand {
  /** Runs a command by its full title. */
  readonly run: (bench: Workbench, title: string) => Promise<void>;
  /** Takes a row of a quick pick. */
  readonly choose: (bench: Workbench, label: RegExp) => Promise<void>;
}

const BY_MOUSE: Hand = { run: runCommand, choose: pick };

/** A VS Code whose user has set nothing but the options, with one conversation of an agent on the machine. */
export async function freshPanel(
  bed: Bed,
  options: ServerOptions & WorkbenchOptions = {},
): Promise<OpenedPanel & { readonly folder: string }> {
  const folder = bed.folder({ 'readme.txt': 'A workspace.' });
  const bench = await bed.open({ folder, home: bed.folder({ [SESSION]: sample }), ...options });
  return { ...(await openPanel(bench)), folder };
}

export const presetIds = (bench: Workbench): string =>
  ((onDisk(bench)['contextCondenser.presets'] ?? []) as readonly { readonly id: string }[])
    .map(({ id }) => id)
    .join(', ');

/** Runs "Condense Context Now" on the one conversation, and waits for what it says. */
export async function condense(bench: Workbench, { run, choose }: Hand = BY_MOUSE): Promise<void> {
  await run(bench, 'Context Condenser: Condense Context Now');
  await quickInput(bench, ({ items }) => items.some(({ detail }) => / tokens · /.test(detail)));
  await choose(bench, TITLE);
  const notice = await notification(bench, 'Context condensed using');
  assert.match(notice.text, /Smart/);
}

/** The condensation in History, with its provider and preset. */
export async function isInHistory(frame: Frame): Promise<void> {
  const item = frame.locator('#history .item').first();
  await item.waitFor();
  const text = await item.innerText();
  assert.match(text, TITLE);
  assert.match(text, /Smart/);
  assert.match(text, /[\d,]+ → [\d,]+ tokens/);
}
