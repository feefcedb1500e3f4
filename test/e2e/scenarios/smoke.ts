/**
 * Tests what must never break, in one window. With the recall in `newResults.ts`, this is the smoke
 * test of `npm test`.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SharedScenarios, SharedScenario } from '../bed';
import { chatWindow } from '../condensedModel';
import { freshSample, homeWith, SESSION } from '../home';
import { condense, freshPanel } from '../panelBuilding';
import { dragToTop, passNames, waitForSettings, unfold } from '../panelPage';
import { clickNotification, diffEditor, notification } from '../workbench/index';

const condensesTheSampleShowsTheDiffAndUndoes: SharedScenario = async (bench) => {
  const sample = freshSample();
  const home = homeWith(bench, { [SESSION]: sample });
  await condense(bench, /Lossless: [\d,]+ → [\d,]+ tokens \(−\d+%\)/);
  await clickNotification(bench, 'Condensed “', 'Show Diff');
  assert.match((await diffEditor(bench)).title, /: before ↔ after condensing$/);
  await clickNotification(bench, 'Condensed “', 'Undo');
  await notification(bench, /^Undone\. The conversation is as it was/);
  assert.equal(readFileSync(join(home, SESSION), 'utf8'), sample, 'the agent’s file is only read');
};

const pass = (name: string) => ({
  id: name.toLowerCase(),
  name,
  mode: 'individual',
  selection: { type: 'custom', filter: { contentTypes: ['toolResults'] } },
  individualConfig: { defaults: { toolResults: { operation: 'truncate', maxLines: 20 } } },
});

const movesAPassByDragAndDropAndAppliesIt: SharedScenario = async (bench) => {
  const smart = { version: 1, passes: [pass('First'), pass('Second')] };
  const { panel } = await freshPanel(bench, {
    settings: { 'contextCondenser.provider': 'smart', 'contextCondenser.smart': smart },
  });
  const frame = await panel();
  await unfold(frame, ['smart']);
  await dragToTop(bench, frame, 'Second', 2);
  await waitForSettings(bench, 'the order', () => passNames(bench) === 'Second, First');
  await condense(bench);
};

export const smoke: SharedScenarios = {
  open: chatWindow,
  scenarios: { condensesTheSampleShowsTheDiffAndUndoes, movesAPassByDragAndDropAndAppliesIt },
  isSmoke: true,
};
