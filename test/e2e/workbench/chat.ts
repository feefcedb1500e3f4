import { closeParts } from './helper';
import type { ServerOptions } from './server';
import { until, WAIT_MS } from './wait';
import type { Workbench, WorkbenchOptions } from './workbench';

/**
 * Options of a window whose built-in agent uses a contributed model, without sign-in or
 * confirmations. `group` is what “Manage Language Models” stores for the vendor.
 */
export function agentOptions(vendor: string, modelId: string, group: object = {}): ServerOptions & WorkbenchOptions {
  return {
    agent: true,
    models: [{ name: 'Test', vendor, ...group }],
    settings: {
      'chat.utilityModel': `${vendor}/${modelId}`,
      'chat.utilitySmallModel': `${vendor}/${modelId}`,
      'chat.permissions.default': 'autoApprove',
      'chat.tools.global.autoApprove': true,
      'chat.tools.terminal.autoApprove': { '/.*/': true },
      'chat.tools.terminal.ignoreDefaultAutoApproveRules': true,
      'workbench.secondarySideBar.defaultVisibility': 'visible',
    },
  };
}

/**
 * The last line that the built-in agent logs while it starts, after it registered its participants.
 */
const AGENT_IS_UP = /activationBlocker from 'conversationFeature' took/g;

/**
 * Waits until the built-in agent is ready in every window. Earlier prompts go to a placeholder that
 * may give up: “Chat took too long to get ready”.
 */
async function waitForAgent({ server }: Workbench): Promise<void> {
  const log = (): string => server.outputText('GitHub Copilot Chat');
  try {
    await until(
      `VS Code's own agent (GitHub.copilot-chat) to be up after ${server.agentLoads} load(s)`,
      () => (log().match(AGENT_IS_UP)?.length ?? 0) >= server.agentLoads,
    );
  } catch (error) {
    throw new Error(`${String(error)}; its log ends:\n${log().slice(-2_000)}`, { cause: error });
  }
}

/** Waits until the chat has selected this model and the built-in agent. */
export async function openChat(bench: Workbench, model: string): Promise<void> {
  const { page } = bench;
  await page.locator('.interactive-input-part').first().waitFor();
  await waitForAgent(bench);
  const picker = page.locator('.interactive-input-part .model-picker-name').first();
  await until(`the chat to offer ${model}`, async () => (await picker.innerText()).includes(model));
}

/** Waits until no request runs, because new ones would be queued. */
async function waitUntilIdle({ page }: Workbench, timeout = WAIT_MS): Promise<void> {
  const running = page.locator('.chat-response-loading, .chat-execute-toolbar a[aria-label^="Cancel"]');
  await until('the chat to be idle', async () => (await running.count()) === 0, timeout);
}

export async function ask(bench: Workbench, prompt: string): Promise<void> {
  const { page } = bench;
  await waitUntilIdle(bench);
  // A notification above the chat's input would block the click until it disappears.
  await closeParts(bench, 'notifications');
  // The chat's input is the first editor; the agent's confirmation (“Run command?”) has an editor,
  // too.
  const editor = page.locator('.interactive-input-part .chat-editor-container .monaco-editor').first();
  await editor.click();
  await page.keyboard.insertText(prompt);
  const promptStart = prompt.split('\n')[0]?.slice(0, 20) ?? '';
  await until('the prompt to stand in the chat', async () =>
    (await editor.locator('.view-lines').innerText()).replaceAll('\u00a0', ' ').includes(promptStart),
  );
  await page.keyboard.press('Enter');
}

export async function cancelAnswer({ page }: Workbench): Promise<void> {
  await page.locator('.chat-execute-toolbar a[aria-label^="Cancel"]').first().click();
}

/**
 * Returns the last answer's text once it satisfies `wanted`, no request runs, and the text is
 * completely displayed.
 */
export async function answerText(
  bench: Workbench,
  wanted: (text: string) => boolean = (text) => text !== '',
  timeout = WAIT_MS,
): Promise<string> {
  const last = bench.page.locator('.interactive-item-container.interactive-response').last();
  const readAnswer = async (): Promise<string> =>
    (await last.locator('.value .rendered-markdown').allInnerTexts()).join('\n').trim();
  let before = '';
  let unchangedCount = 0;
  await until('an answer in the chat', async () => wanted(await readAnswer()), timeout);
  await waitUntilIdle(bench, timeout);
  await until('the answer to stand still', async () => {
    const currentText = await readAnswer();
    unchangedCount = currentText === before ? unchangedCount + 1 : 0;
    before = currentText;
    return unchangedCount >= 6;
  });
  return before;
}

const requestRow = ({ page }: Workbench, prompt: string) =>
  page.locator('.interactive-item-container.interactive-request', { hasText: prompt }).first();

/** Replaces a request that was answered, and drops everything after it. */
export async function editRequest(bench: Workbench, prompt: string, words: string): Promise<void> {
  const { page } = bench;
  await waitUntilIdle(bench);
  await requestRow(bench, prompt).locator('.value .rendered-markdown').first().click();
  const editor = page.locator('.chat-edit-input-container .monaco-editor').first();
  await editor.waitFor();
  await editor.click();
  await page.keyboard.press('ControlOrMeta+A');
  await page.keyboard.insertText(words);
  await until('the new words in the request', async () =>
    (await editor.locator('.view-lines').innerText()).replaceAll('\u00a0', ' ').includes(words),
  );
  await page.keyboard.press('Enter');
  await editor.waitFor({ state: 'detached' });
}

/** Opens a copy of the conversation that ends before a request. */
export async function forkAt(bench: Workbench, prompt: string): Promise<void> {
  await waitUntilIdle(bench);
  const row = requestRow(bench, prompt);
  await row.hover();
  await row.locator('.checkpoint-container a[aria-label*="Fork"]').first().click();
}
