/**
 * Tests `@condenser` in the chat: the user selects the conversation, and nothing changes before a
 * button is pressed.
 */
import assert from 'node:assert/strict';
import { startAnthropicServer } from '../../servers/anthropicServer';
import { reply } from '../../servers/behaviour';
import type { SharedScenarios, SharedScenario } from '../bed';
import { chatWindow, KEY, newChat } from '../condensedModel';
import { freshSample, homeWith, SESSION } from '../home';
import type { Workbench } from '../workbench/index';
import {
  answerText,
  ask,
  filter,
  notification,
  pick,
  quickInput,
  screenshot,
  setTheme,
  until,
} from '../workbench/index';

const TITLE = /tags/i;

/**
 * Selects the sample by filtering, because the chat's conversations come first, and only visible
 * rows are in the page.
 */
async function pickSample(bench: Workbench): Promise<void> {
  await quickInput(bench, ({ items, busy }) => !busy && items.length > 1, 'the conversations');
  await filter(bench, 'tags');
  await quickInput(bench, ({ items }) => items.length <= 2, 'the conversation and "Open file…"');
  await pick(bench, TITLE);
}

const answersInTheChat: SharedScenario = async (bench) => {
  const server = await startAnthropicServer({ apiKey: KEY, script: reply('Hello.') });
  try {
    homeWith(bench, { [SESSION]: freshSample() });
    await newChat(bench, server);
    await ask(bench, '@condenser /help');
    await answerText(bench, (text) => text.includes('what condensing a conversation would do'));
    await screenshot(bench, 'participant-help-dark');

    await ask(bench, '@condenser /preview');
    await quickInput(bench, ({ items, busy }) => !busy && items.length > 1, 'the conversations');
    await screenshot(bench, 'participant-pick-dark');
    await pickSample(bench);
    const preview = await answerText(bench, (text) => text.includes('Nothing was changed'));
    assert.match(preview, /Lossless would condense it: [\d,]+ → [\d,]+ tokens \(−\d+%\)/);
    await screenshot(bench, 'participant-preview-dark');

    await ask(bench, '@condenser /report');
    await pickSample(bench);
    await answerText(bench, (text) => text.includes('It has not been condensed.'));
    await bench.page
      .locator('.interactive-response .monaco-button', { hasText: 'Condense This Conversation' })
      .last()
      .click();
    await notification(bench, 'Condensed “');

    await ask(bench, '@condenser /report');
    await pickSample(bench);
    assert.match(await answerText(bench, (text) => text.includes('Lossless,')), /[\d,]+ → [\d,]+ tokens/);
    await setTheme(bench, 'light');
    await screenshot(bench, 'participant-report-light');
    assert.equal(server.requests.filter(({ body }) => JSON.stringify(body).includes('@condenser')).length, 0);

    // The skill tells the agent how to recall.
    await ask(bench, 'Say hello');
    await answerText(bench, (text) => text.includes('Hello.'));
    await until('the skill in what the agent is told', () =>
      server.requests.some(({ body }) => JSON.stringify(body).includes('condensed-content')),
    );
  } finally {
    await server.close();
  }
};

export const participant: SharedScenarios = { open: chatWindow, scenarios: { answersInTheChat } };
