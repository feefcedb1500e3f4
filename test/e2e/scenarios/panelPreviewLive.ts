import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { Frame } from 'playwright-core';
import { startAnthropicServer } from '../../servers/anthropicServer';
import { callsTool, reply } from '../../servers/behaviour';
import type { RecordedRequest } from '../../servers/modelServer';
import type { SharedScenarios, SharedScenario } from '../bed';
import { chatWindow, KEY, newChat } from '../condensedModel';
import { openPanel, unfold } from '../panelPage';
import { answerText, ask, screenshot, until } from '../workbench/index';

const FILES = ['alpha', 'beta', 'gamma'] as const;
const makeFile = (name: string): string =>
  Array.from({ length: 300 }, (_, line) => `export const ${name}_${line} = '${name} number ${line} of many';`).join(
    '\n',
  );

/** Creates answers that wait until they are released, one at a time. */
function gates(count: number) {
  const openers: (() => void)[] = [];
  const made = Array.from({ length: count }, () => new Promise<void>((resolve) => openers.push(resolve)));
  return {
    behind: (step: number): Promise<void> => made[step] ?? Promise.resolve(),
    open: (step: number): void => openers[step]?.(),
  };
}

const tokensNow = async (frame: Frame): Promise<number> => {
  const text = await frame.locator('#preview .figure', { hasText: 'Tokens now' }).locator('dd').first().innerText();
  return Number(text.replaceAll(',', ''));
};

const PROMPT = 'Read these three files';

/** Checks that the panel updates its preview by itself while the agent reads three files. */
const previewFollowsTheAgent: SharedScenario = async (bench, bed) => {
  assert.ok(bench.folder !== undefined);
  const { folder } = bench;
  const gate = gates(FILES.length + 1);
  let step = 0;
  const isStep = ({ body }: RecordedRequest): boolean => Array.isArray(body['tools']);
  const script = (request: RecordedRequest) => {
    if (!isStep(request)) return reply('A title');
    const mine = step++;
    const name = FILES[mine];
    const firstByte = gate.behind(mine);
    if (name === undefined) return reply('All read.', { firstByte });
    const input = { filePath: join(folder, `${name}.ts`), startLine: 1, endLine: 400 };
    return { ...callsTool({ name: 'read_file', input }), firstByte };
  };
  const server = await startAnthropicServer({ apiKey: KEY, script });
  try {
    await newChat(bench, server, {
      files: Object.fromEntries(FILES.map((name) => [`${name}.ts`, makeFile(name)])),
      settings: {
        'contextCondenser.provider': 'truncation',
        'contextCondenser.truncation': { preserveRecentCount: 2 },
      },
    });
    const { panel } = await openPanel(bench);
    const frame = await panel();
    await unfold(frame, ['preview']);
    const cells = frame.locator('#preview .strip .cell');
    await until('a preview', async () => (await cells.count()) > 0);
    await ask(bench, PROMPT);
    await frame.locator('#preview .preview-title', { hasText: PROMPT }).getByText('follows the chat').waitFor();

    let before = { cells: await cells.count(), tokens: await tokensNow(frame) };
    const times: number[] = [];
    for (let at = 0; at < FILES.length; at++) {
      gate.open(at);
      await until(`request ${at + 2}`, () => step === at + 2);
      const asked = performance.now();
      await until(`the preview after ${at + 1} files`, async () => (await cells.count()) > before.cells);
      await until('its tokens', async () => (await tokensNow(frame)) > before.tokens + 3_000);
      times.push(performance.now() - asked);
      before = { cells: await cells.count(), tokens: await tokensNow(frame) };
    }
    bed.report(
      `${before.cells} messages, ${before.tokens} tokens; from the model's request to the preview ${times.map((ms) => ms.toFixed(0)).join(', ')} ms`,
    );
    assert.match(await frame.locator('#preview .legend').innerText(), /cut: \d/);
    await screenshot(bench, 'panel-preview-live-dark');

    // Selected messages stay selected, and are updated.
    await cells.nth(1).click();
    await until('the pin', async () => (await cells.nth(1).getAttribute('aria-pressed')) === 'true');
    gate.open(FILES.length);
    assert.equal(await answerText(bench, (text) => text.includes('All read.')), 'All read.');
    await ask(bench, 'Thank you');
    await until('the next turn', async () => (await cells.count()) > before.cells);
    assert.equal(await cells.nth(1).getAttribute('aria-pressed'), 'true');
  } finally {
    await server.close();
  }
};

export const panelPreviewLive: SharedScenarios = { open: chatWindow, scenarios: { previewFollowsTheAgent } };
