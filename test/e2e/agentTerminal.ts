/** Agents behind gateways of VS Code's terminal: opened from the list, looked at in the details, ended at their prompt. */
import { isAlive, running, type RunningGateway } from './gateways';
import { dismiss, pick, quickInput, runCommand, until, type QuickPickItem, type Workbench } from './workbench/index';

const OPEN = 'Context Condenser: Open an Agent, Condensed…';
const GATEWAY = 'Context Condenser: Open a Gateway for Agent Extensions…';
const DETAILS = 'Context Condenser: Show Condensed Chat Conversations';

/** "Open an Agent, Condensed…", with the list of those that are found. */
export async function agentsToOpen(bench: Workbench, label: RegExp): Promise<readonly QuickPickItem[]> {
  await runCommand(bench, OPEN);
  return (await quickInput(bench, ({ items }) => items.some((item) => label.test(item.label)))).items;
}

/** "Open a Gateway for Agent Extensions…", with the addresses that extensions can be given. */
export async function addressesToGive(bench: Workbench): Promise<readonly QuickPickItem[]> {
  await runCommand(bench, GATEWAY);
  return (await quickInput(bench, ({ items }) => items.some(({ label }) => label === 'Anthropic'))).items;
}

/** The one gateway that runs, once it does. */
export const theGateway = (bench: Workbench, timeout?: number): Promise<RunningGateway> =>
  until('the gateway', () => (running(bench).length === 1 ? running(bench)[0] : undefined), timeout);

/** The details of a conversation that is condensed while it runs: they stay open. */
export async function details(bench: Workbench, title: string): Promise<readonly QuickPickItem[]> {
  await runCommand(bench, DETAILS);
  return (await quickInput(bench, (shown) => shown.title.includes(title) && shown.items.length > 3)).items;
}

/** Chooses an action of a conversation's details. */
export async function act(bench: Workbench, title: string, action: RegExp): Promise<void> {
  await details(bench, title);
  await pick(bench, action);
}

/** Until a conversation's details are as they should be; they are closed again. */
export const detailsShow = (
  bench: Workbench,
  title: string,
  what: string,
  isShown: (item: QuickPickItem) => boolean,
): Promise<unknown> =>
  until(what, async () => {
    const items = await details(bench, title);
    await dismiss(bench);
    return items.some(isShown);
  });

/** Pins the first message of a conversation, and sees that it is pinned. */
export async function pinFirst(bench: Workbench, title: string): Promise<void> {
  await act(bench, title, /Pin Messages/);
  await pick(bench, /^1 · user/);
  await bench.page.locator('.quick-input-widget').getByRole('button', { name: 'OK' }).click();
  await detailsShow(bench, title, 'the pin', ({ description }) => description === '1 pinned');
}

/** Keys that go to the terminal. */
export async function press({ page }: Workbench, ...keys: readonly string[]): Promise<void> {
  await page.locator('.terminal-wrapper .xterm-helper-textarea').first().focus();
  for (const key of keys) await page.keyboard.press(key);
}

/** Presses these until the gateway has ended: the terminal waits for Enter when its agent is gone. */
export const pressUntilEnded = (
  bench: Workbench,
  { pid }: RunningGateway,
  keys: readonly string[],
  timeout?: number,
): Promise<unknown> =>
  until(
    'the gateway to end',
    async () => {
      if (!isAlive(pid)) return true;
      await press(bench, ...keys);
      return false;
    },
    timeout,
  );
