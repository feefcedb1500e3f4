import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../../scripts/vscode.mjs';
import { startAnthropicServer } from '../../servers/anthropicServer';
import { never, reply } from '../../servers/behaviour';
import type { ModelServer } from '../../servers/modelServer';
import type { Bed, Shared, SharedScenario } from '../bed';
import type { Workbench } from '../workbench/index';
import {
  answer,
  clickNotification,
  diffEditor,
  notification,
  pick,
  quickInput,
  runCommand,
  screenshot,
  setTheme,
  until,
} from '../workbench/index';

const KEY = 'sk-test-a-key-that-must-not-be-seen';
const SUMMARY = [
  '## Goal\nFinish what the user asked for, with tests.',
  '## Done\nThe code was read and changed; the tests pass.',
  '## Next steps\nNothing is left to do.',
].join('\n\n');

/** A real transcript where there is one beside the project, else the sample. */
function transcript(): string {
  const real = join(root, '..', 'shared', 'corpus', 'claude-code', 'transcript-04.jsonl');
  return readFileSync(existsSync(real) ? real : join(root, 'sample', 'conversation.jsonl'), 'utf8');
}

let server: ModelServer;

/** A VS Code with one profile on the server, its key set as a user sets it. */
async function openWithProfile(bed: Bed): Promise<Workbench> {
  const vendor = await startAnthropicServer({ apiKey: KEY });
  bed.atEnd(() => vendor.close());
  server = vendor;
  const profile = { id: 'scripted', name: 'Scripted', vendor: 'anthropic', model: 'claude-sonnet-4-20250514' };
  const bench = await bed.open({
    home: bed.folder({ '.claude/projects/-home-me-cli/session.jsonl': transcript() }),
    settings: {
      // An endpoint that isn't the vendor's own has no price in the table.
      'contextCondenser.profiles': [{ ...profile, baseUrl: server.url, prices: { input: 3, output: 15 } }],
      'contextCondenser.condensingProfile': 'scripted',
      'contextCondenser.provider': 'native',
    },
  });
  await runCommand(bench, 'Context Condenser: Manage API Profiles');
  await pick(bench, 'Scripted');
  await pick(bench, /Set Key…/);
  await answer(bench, KEY);
  return bench;
}

/** Picks the conversation, then Native once its cost is estimated. */
async function condense(bench: Workbench, shot?: string): Promise<void> {
  await runCommand(bench, 'Context Condenser: Condense Context Now');
  await quickInput(bench, ({ items, busy }) => !busy && items.length === 2, 'the conversation');
  // The first row, whatever its title; "Open file…" is the other.
  await pick(bench, /^(?!.*Open file…)/);
  const offered = await quickInput(
    bench,
    ({ title, items }) => title === 'Condense with' && (items[0]?.description ?? '').includes('$'),
    'the providers',
  );
  assert.match(offered.items[0]?.label ?? '', /^Native$/);
  assert.match(offered.items[0]?.description ?? '', /≈ \$0\.\d+ · [\d,]+ → [\d,]+ tokens \(-\d+%\)/);
  if (shot !== undefined) await screenshot(bench, shot);
  await pick(bench, 'Native');
}

/** Comes first: nothing was condensed in the window yet. */
const cancelAbortsTheRequestAndAppliesNothing: SharedScenario = async (bench, bed) => {
  server.play(never());
  await condense(bench);
  const request = await server.request(0);
  await clickNotification(bench, 'Condensing session.jsonl', 'Cancel');
  const clicked = Date.now();
  await request.aborted;
  bed.report(`the server saw the connection closed ${Date.now() - clicked} ms after the click`);
  await until('the word that it was cancelled', () =>
    bench.server.outputText('Context Condenser').includes('Cancelled. Nothing was condensed.'),
  );
  await runCommand(bench, 'Context Condenser: Undo the Last Condensation');
  await notification(bench, 'Nothing was condensed in this window yet');
};

const summarizesWithTheModelOfAProfile: SharedScenario = async (bench) => {
  server.play(reply(SUMMARY));
  const before = server.requests.length;
  await condense(bench, 'native-pick-dark');
  const done = await notification(bench, 'Context condensed using Native');
  assert.match(done.text, /Native: [\d,]+ → [\d,]+ tokens \(-\d+%\)\. Cost: \$0\.\d+/);
  await screenshot(bench, 'native-summary-dark');
  assert.deepEqual(
    server.requests.slice(before).map(({ status }) => status),
    [200],
  );
  await clickNotification(bench, 'Context condensed using Native', 'Show Diff');
  await diffEditor(bench, ({ modified }) => modified.length > 0);
  await setTheme(bench, 'light');
  await screenshot(bench, 'native-diff-light');
  await clickNotification(bench, 'Context condensed using Native', 'Undo');
  await notification(bench, /^Undone\./);
  const log = bench.server.outputText('Context Condenser');
  assert.match(log, /claude-sonnet-4/, 'the report names the model that was called');
  assert.ok(!log.includes(KEY), 'no key in the log');
};

export const native: Shared = {
  open: openWithProfile,
  scenarios: { cancelAbortsTheRequestAndAppliesNothing, summarizesWithTheModelOfAProfile },
};
