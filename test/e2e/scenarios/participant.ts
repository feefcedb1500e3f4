/** `@condenser` in the chat: the person picks the conversation, and nothing changes before a button is pressed. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../../scripts/vscode.mjs';
import { startAnthropicServer } from '../../servers/anthropicServer';
import { reply } from '../../servers/behaviour';
import type { Scenario } from '../bed';
import { chatProfile, condensedOptions, KEY, PROFILE_NAME, setKey } from '../condensedModel';
import {
  answerText,
  ask,
  notification,
  openChat,
  pick,
  quickInput,
  screenshot,
  setTheme,
  until,
} from '../workbench/index';

const sample = readFileSync(join(root, 'sample', 'conversation.jsonl'), 'utf8');
const TITLE = /tags/i;

export const answersInTheChat: Scenario = async (bed) => {
  const server = await startAnthropicServer({ apiKey: KEY, script: reply('Hello.') });
  try {
    const bench = await bed.open({
      ...condensedOptions(chatProfile(server)),
      home: bed.folder({ '.claude/projects/-home-me-notes/sample.jsonl': sample }),
    });
    await setKey(bench);
    await openChat(bench, PROFILE_NAME);
    await ask(bench, '@condenser /help');
    await answerText(bench, (text) => text.includes('what condensing a conversation would do'));
    await screenshot(bench, 'participant-help-dark');

    await ask(bench, '@condenser /preview');
    await quickInput(bench, ({ items, busy }) => !busy && items.length > 1, 'the conversations');
    await screenshot(bench, 'participant-pick-dark');
    await pick(bench, TITLE);
    const preview = await answerText(bench, (text) => text.includes('Nothing was changed'));
    assert.match(preview, /Lossless would take it from [\d,]+ → [\d,]+ tokens \(-\d+%\)/);
    await screenshot(bench, 'participant-preview-dark');

    await ask(bench, '@condenser /report');
    await pick(bench, TITLE);
    await answerText(bench, (text) => text.includes('It has not been condensed.'));
    await bench.page
      .locator('.interactive-response .monaco-button', { hasText: 'Condense This Conversation' })
      .last()
      .click();
    await notification(bench, 'Context condensed using');

    await ask(bench, '@condenser /report');
    await pick(bench, TITLE);
    assert.match(await answerText(bench, (text) => text.includes('Lossless,')), /[\d,]+ → [\d,]+ tokens/);
    await setTheme(bench, 'light');
    await screenshot(bench, 'participant-report-light');
    assert.equal(server.requests.filter(({ body }) => JSON.stringify(body).includes('@condenser')).length, 0);

    // The agent learns from the skill how to get condensed content back.
    await ask(bench, 'Say hello');
    await answerText(bench, (text) => text.includes('Hello.'));
    await until('the skill in what the agent is told', () =>
      server.requests.some(({ body }) => JSON.stringify(body).includes('condensed-content')),
    );
  } finally {
    await server.close();
  }
};
