import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../../scripts/vscode.mjs';
import { startAnthropicServer } from '../../servers/anthropicServer';
import { neverAnswer, reply } from '../../servers/behaviour';
import type { ModelServer } from '../../servers/modelServer';
import type { SharedScenarios, SharedScenario } from '../bed';
import { chatProfile, KEY, PROFILE_ID, setKey } from '../condensedModel';
import { homeWith, refreshConversations } from '../home';
import { countCondensations } from '../longTask';
import { plainWindow } from '../windows';
import { runInHelper } from '../workbench/helper';
import type { Workbench } from '../workbench/index';
import {
  clickNotification,
  diffEditor,
  notification,
  pick,
  quickInput,
  runCommand,
  screenshot,
  setTheme,
  until,
  useSettings,
} from '../workbench/index';

const SESSION = '.claude/projects/-home-me-cli/session.jsonl';

const SUMMARY = [
  '## Goal\nFinish what the user asked for, with tests.',
  '## Done\nThe code was read and changed; the tests pass.',
  '## Next steps\nNothing is left to do.',
].join('\n\n');

/** Returns a real transcript if there is one, or else the sample. */
function transcript(): string {
  const real = join(root, '..', 'shared', 'corpus', 'claude-code', 'transcript-04.jsonl');
  return readFileSync(existsSync(real) ? real : join(root, 'sample', 'conversation.jsonl'), 'utf8');
}

/**
 * Configures a window to condense with a server's model, enters its key as a user does, and stores
 * one conversation.
 */
async function onAModel(bench: Workbench, run: (server: ModelServer, path: string) => Promise<void>): Promise<void> {
  const server = await startAnthropicServer({ apiKey: KEY });
  try {
    const home = homeWith(bench, { [SESSION]: transcript() });
    await useSettings(bench, {
      'contextCondenser.profiles': [chatProfile(server, { offerInChat: false })],
      'contextCondenser.condensingProfile': PROFILE_ID,
      'contextCondenser.provider': 'native',
    });
    await setKey(bench);
    // Without this refresh, the list would at first show conversations of earlier scenarios.
    await refreshConversations(bench);
    await run(server, join(home, SESSION));
  } finally {
    await server.close();
  }
}

/** Condenses the conversation with Summary, which the settings select. */
async function condense(bench: Workbench): Promise<void> {
  await runCommand(bench, 'Context Condenser: Condense Context Now');
  await quickInput(bench, ({ items, busy }) => !busy && items.length === 2, 'the conversation');
  // The pattern matches the conversation, because the other row is “Open file…”.
  await pick(bench, /^(?!.*Open file…)/);
}

/**
 * Condenses the conversation with Summary, which is chosen in the list of all ways once its cost is
 * estimated.
 */
async function condenseWithSummary(bench: Workbench, path: string, shot: string): Promise<void> {
  // The command gets the path, because from the palette it would use the conversation that an
  // earlier scenario condensed. It ends only when its notification is answered.
  void runInHelper(bench, { commands: [['contextCondenser.conversations.condenseWith', path]] }).catch(() => undefined);
  const offered = await quickInput(
    bench,
    ({ title, items }) =>
      title.startsWith('Condense “') &&
      items.some(({ label, description }) => label === 'Summary' && description.includes('$')),
    'the ways to condense',
  );
  // Separators have no description, so the first item with a description is the first choice.
  const first = offered.items.find(({ description }) => description !== '');
  assert.equal(first?.label, 'Summary', 'the chosen way comes first');
  assert.match(first.description, /^[\d,]+ tokens \(−\d+%\) · .*≈ \$0\.\d+/);
  await screenshot(bench, shot);
  await pick(bench, 'Summary');
}

const cancelAbortsTheRequestAndAppliesNothing: SharedScenario = (bench, bed) =>
  onAModel(bench, async (server) => {
    const before = countCondensations(bench);
    const logged = bench.server.outputText('Context Condenser').length;
    server.play(neverAnswer());
    await condense(bench);
    const request = await server.request(0);
    await clickNotification(bench, /^Condensing “/, 'Cancel');
    const clicked = Date.now();
    await request.aborted;
    bed.report(`the server saw the connection closed ${Date.now() - clicked} ms after the click`);
    await until('the word that it was cancelled', () =>
      bench.server.outputText('Context Condenser').slice(logged).includes('Canceled. Nothing was condensed.'),
    );
    assert.equal(countCondensations(bench), before);
  });

const summarizesWithTheModelOfAProfile: SharedScenario = (bench) =>
  onAModel(bench, async (server, path) => {
    const before = countCondensations(bench);
    server.play(reply(SUMMARY));
    await condenseWithSummary(bench, path, 'native-pick-dark');
    const done = await notification(bench, /^Condensed “.*” with Summary/);
    assert.match(done.text, /Summary: [\d,]+ → [\d,]+ tokens \(−\d+%\);.* cost \$0\.\d+/);
    await screenshot(bench, 'native-summary-dark');
    assert.deepEqual(
      server.requests.map(({ status }) => status),
      [200],
    );
    assert.equal(countCondensations(bench), before + 1);
    await clickNotification(bench, /^Condensed “.*” with Summary/, 'Show Diff');
    await diffEditor(bench, ({ modified }) => modified.length > 0);
    await setTheme(bench, 'light');
    await screenshot(bench, 'native-diff-light');
    await clickNotification(bench, /^Condensed “.*” with Summary/, 'Undo');
    await notification(bench, /^Undone\./);
    const log = bench.server.outputText('Context Condenser');
    assert.match(log, /claude-sonnet-4/, 'the report names the model that was called');
    assert.ok(!log.includes(KEY), 'no key in the log');
  });

export const native: SharedScenarios = {
  open: plainWindow,
  scenarios: { cancelAbortsTheRequestAndAppliesNothing, summarizesWithTheModelOfAProfile },
};
