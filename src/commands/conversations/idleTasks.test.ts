import { utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { openTestWindow, stubHome } from '../../../test/support/testWindow';
import { testServices } from '../../../test/support/services';
import { fake } from '../../../test/support/vscode';
import { MIN_TASK_IDLE_MS } from '../../giveBack/idleTask';
import { writeClaudeSession, createConversation, makeFileOld, writeZooTask } from '../../giveBack/testing';
import { getConversationIndex } from '../conversationIndex';
import type { Services } from '../../window/services';
import { watchIdleTasks } from './idleTasks';
import { recordOfferAnswer, readOfferAnswers } from './idleTasks';

let home: string;
let services: Services;
let log: ReturnType<typeof testServices>['log'];

beforeEach(() => {
  ({ home, services, log } = openTestWindow());
  stubHome(home);
  Object.assign(fake.settings, {
    'contextCondenser.conversations.offerIdleTasks': true,
    'contextCondenser.conversations.contextWindow': 10_000,
    'contextCondenser.provider': 'truncation',
  });
});
afterEach(() => {
  for (const each of services.context.subscriptions) void each.dispose();
  vi.restoreAllMocks();
});

const task = (): string => writeZooTask(join(home, '.config', 'Code', 'User'));
const offers = () => fake.shown.filter(({ message }) => message.includes('Condense it before you resume it?'));
const counted = (): Promise<void> =>
  vi.waitFor(() => {
    const { isBusy, conversations } = getConversationIndex(services);
    expect([isBusy, conversations.every(({ details }) => details?.tokens !== undefined)]).toEqual([false, true]);
  });
const waitForOffers = (times: number): Promise<void> => vi.waitFor(() => expect(offers()).toHaveLength(times));
/** Refreshes the list, focuses the window, and waits until pending microtasks are done. */
async function lookAgain(): Promise<void> {
  await getConversationIndex(services).refresh();
  await counted();
  fake.setFocused(true);
  await new Promise((resolve) => setImmediate(resolve));
}

it('an idle task over its threshold is offered for condensing once, and condensed if the user accepts', async () => {
  task();
  fake.answers = ['Condense', undefined];
  watchIdleTasks(services);
  watchIdleTasks(services);
  await waitForOffers(1);
  expect(offers()[0]).toMatchObject({ kind: 'information', choices: ['Condense', 'Not Now', 'Never for This Task'] });
  expect(offers()[0]?.message).toMatch(
    /^“.+” \(Zoo Code\) is idle and has 1\d,\d{3} tokens, ≈ 1\d\d% of the window\. /,
  );
  await vi.waitFor(() => expect(fake.shown.at(-1)?.message).toMatch(/^Condensed “/));
  expect(fake.shown.at(-1)?.choices).toContain('Details');
  // Even without the recorded answer, its ledger shows that the task was condensed.
  const [[path] = ['']] = readOfferAnswers(services.context.globalState);
  await recordOfferAnswer(services.context.globalState, path, undefined);
  await lookAgain();
  await lookAgain();
  expect(offers()).toHaveLength(1);
  expect(log.lines.filter((line) => line.includes('idle tasks'))).toEqual([]);
});

it('an idle task is offered for condensing once per size, and again if it has shrunk', async () => {
  const path = task();
  watchIdleTasks(services);
  await waitForOffers(1);
  await lookAgain();
  expect(offers()).toHaveLength(1);
  await vi.waitFor(() => expect(readOfferAnswers(services.context.globalState).get(path)).toBeGreaterThan(10_000));
  writeZooTask(join(home, '.config', 'Code', 'User'), createConversation().slice(0, 3));
  await lookAgain();
  await vi.waitFor(() => expect(readOfferAnswers(services.context.globalState).size).toBe(0));
});

it('an idle task is never offered for condensing again if the user declined for good', async () => {
  const path = task();
  fake.answers = ['Never for This Task'];
  watchIdleTasks(services);
  await waitForOffers(1);
  await vi.waitFor(() => expect(readOfferAnswers(services.context.globalState).get(path)).toBe('never'));
});

it('an idle task is offered for condensing when the user returns to the window', async () => {
  fake.setFocused(false);
  const path = task();
  const timeouts = vi.spyOn(globalThis, 'setTimeout');
  const now = Date.now() / 1000;
  utimesSync(path, now, now);
  watchIdleTasks(services);
  await counted();
  const waits = () =>
    timeouts.mock.calls.map(([, ms]) => ms ?? 0).filter((ms) => ms > MIN_TASK_IDLE_MS / 2 && ms <= MIN_TASK_IDLE_MS);
  expect(waits()).toEqual([]);
  fake.setFocused(true);
  await vi.waitFor(() => expect(waits()).toHaveLength(1));
  expect(offers()).toEqual([]);
  makeFileOld(path);
  await lookAgain();
  await waitForOffers(1);
});

it('idle tasks are offered for condensing at most three times in a window, one at a time, and only if they can shrink', async () => {
  for (const name of ['Code', 'Cursor', 'VSCodium']) writeZooTask(join(home, '.config', name, 'User'));
  writeClaudeSession(home);
  writeZooTask(join(home, '.config', 'Windsurf', 'User'), createConversation().slice(0, 3));
  watchIdleTasks(services);
  await waitForOffers(3);
  await lookAgain();
  expect(offers()).toHaveLength(3);
});

it('an idle task is offered for condensing by the window of its own model, which the offer names as its row does', async () => {
  writeClaudeSession(home);
  watchIdleTasks(services);
  await lookAgain();
  expect(offers()).toEqual([]);
  fake.settings['contextCondenser.thresholdTokens'] = 5_000;
  await lookAgain();
  await waitForOffers(1);
  expect(offers()[0]?.message).toMatch(/\(Claude Code\) is idle and has 36,758 tokens, 4% of the window\. /);
});

it('idle tasks are not offered for condensing while the setting is off, and are offered once it is turned on', async () => {
  task();
  fake.settings['contextCondenser.conversations.offerIdleTasks'] = false;
  watchIdleTasks(services);
  await counted();
  expect(offers()).toEqual([]);
  fake.settings['contextCondenser.conversations.offerIdleTasks'] = true;
  await lookAgain();
  await waitForOffers(1);
});

it('the offer to condense an idle task shows its title as plain text, and errors are logged', async () => {
  // Text that is not clearly a link stays.
  const link = `See [this](command:evil) and [that](evil) ${'and more '.repeat(20)}`;
  const [, ...rest] = createConversation();
  writeZooTask(join(home, '.config', 'Code', 'User'), [{ role: 'user', content: link }, ...rest]);
  watchIdleTasks(services);
  await waitForOffers(1);
  expect(offers()[0]?.message).toMatch(/^“See this and \[that\] \(evil\) and more .{0,40}…” \(Zoo Code\)/);
  const blocked = testServices(home, join(home, 'storage', 'them'));
  writeFileSync(join(home, 'storage', 'them'), '');
  watchIdleTasks(blocked.services);
  await vi.waitFor(() => expect(blocked.log.lines.join()).toContain('Could not look for idle tasks.'));
  for (const each of blocked.services.context.subscriptions) void each.dispose();
});
