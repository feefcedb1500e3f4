/** Shared by scenarios that edit passes in the panel by mouse and keyboard. */
import assert from 'node:assert/strict';
import type { Frame } from 'playwright-core';
import { freshSample, homeWith, SESSION } from './home';
import { readUserSettings, openPanel, type OpenedPanel } from './panelPage';
import type { Workbench } from './workbench/index';
import { notification, pick, quickInput, runCommand, useSettings } from './workbench/index';

const TITLE = /tags/i;

export interface Hand {
  readonly run: (bench: Workbench, title: string) => Promise<void>;
  /** Selects a row in VS Code's list. */
  readonly choose: (bench: Workbench, label: RegExp) => Promise<void>;
}

const BY_MOUSE: Hand = { run: runCommand, choose: pick };

interface Fresh {
  readonly settings?: object;
  readonly size?: Workbench['size'];
}

/** Gives the user only these settings, a window of this size, and one agent's conversation. */
export async function freshUser(bench: Workbench, { settings = {}, size }: Fresh = {}): Promise<void> {
  homeWith(bench, { [SESSION]: freshSample() });
  await useSettings(bench, { ...settings });
  if (size) await bench.page.setViewportSize(size);
}

export async function freshPanel(bench: Workbench, fresh?: Fresh): Promise<OpenedPanel> {
  await freshUser(bench, fresh);
  return openPanel(bench);
}

export const presetIds = (bench: Workbench): string =>
  ((readUserSettings(bench)['contextCondenser.presets'] ?? []) as readonly { readonly id: string }[])
    .map(({ id }) => id)
    .join(', ');

/** Runs “Condense Context Now” on the only conversation, and waits for the expected message. */
export async function condense(
  bench: Workbench,
  words: RegExp = /Smart/,
  { run, choose }: Hand = BY_MOUSE,
): Promise<void> {
  await run(bench, 'Context Condenser: Condense Context Now');
  await quickInput(bench, ({ items }) => items.some(({ detail }) => / tokens in messages · /.test(detail)));
  await choose(bench, TITLE);
  const notice = await notification(bench, 'Condensed “');
  assert.match(notice.text, words);
}

export async function isInHistory(frame: Frame): Promise<void> {
  const item = frame.locator('#history .item').first();
  await item.waitFor();
  const text = await item.innerText();
  assert.match(text, TITLE);
  assert.match(text, /Smart/);
  assert.match(text, /[\d,]+ → [\d,]+ tokens/);
}
