import { describe, expect, it } from 'vitest';
import {
  type Fields,
  assistant,
  makeToolUse,
  jsonl,
  makeOtherRecord,
  result,
  makeTextBlock,
  user,
} from '../../test/fixtures/conversations/claudeCodeLines';
import { collectConversationFacts, renderFactSheet } from '../core/condense/summary/factSheet';
import { collectInstructions } from '../core/condense/summary/instructions';
import { createTranscript } from '../core/condense/summary/transcript';
import { listToolExchanges } from '../core/messages/exchanges';
import { DEFAULT_TOOLS } from '../core/messages/tools';
import { createCounter } from '../core/testingCounter';
import { exportConversation } from './export';
import { readConversation } from './read';
import { renderClaudeSession } from './write/claudeCode';

const SENTENCE = 'NEVER touch the migrations folder';
const rendered = (words: string): Fields => ({ rendered: [{ content: words }], renderedRole: 'system' });
const session = jsonl(
  user('u1', null, 'Rename the loader.'),
  makeOtherRecord('attachment', 't1', 'u1', { attachment: { type: 'skill_listing' }, ...rendered('LISTING') }),
  assistant('a1', 't1', 'm1', makeToolUse('c1')),
  user('r1', 'a1', [result('c1')]),
  makeOtherRecord('attachment', 'q1', 'r1', {
    attachment: { type: 'queued_command', prompt: SENTENCE, commandMode: 'prompt' },
    ...rendered(`The user sent a new message while you were working:\n${SENTENCE}`),
  }),
  makeOtherRecord('attachment', 't2', 'q1', { attachment: { type: 'nested_memory' }, ...rendered('MEMORY') }),
  assistant('a2', 't2', 'm2', makeTextBlock('done')),
);
const conversation = readConversation(session, { path: '/home/me/session.jsonl' });
const { messages } = conversation;

const givenBack = (): string =>
  renderClaudeSession({
    ...{ sessionId: 's', title: 'T', view: messages, records: [], now: new Date(0) },
    newId: () => crypto.randomUUID(),
  });

describe('a sentence that a person typed while Claude Code worked is contained in this output:', () => {
  const counter = createCounter();
  it.each<[string, () => string]>([
    ['the messages', () => JSON.stringify(messages)],
    [
      'what the person wrote',
      () =>
        collectInstructions(messages, listToolExchanges(messages))
          .map((one) => one.text)
          .join(),
    ],
    ['the fact sheet', () => renderFactSheet(collectConversationFacts(messages, DEFAULT_TOOLS), counter, 1_000)],
    [
      'what a summarizing model is asked',
      () => createTranscript(messages, { start: 0, end: messages.length }, LIMITS).join(),
    ],
    ['the handover', () => exportConversation(conversation, 'handover', counter).text],
    ['Markdown', () => exportConversation(conversation, 'markdown', counter).text],
    ['Anthropic messages', () => exportConversation(conversation, 'anthropic', counter).text],
    ['OpenAI messages', () => exportConversation(conversation, 'openai', counter).text],
    ['the session that is given back', givenBack],
  ])('%s', (_, output) => {
    expect(output()).toContain(SENTENCE);
  });
});

const LIMITS = { resultChars: 100, parameterChars: 100 };

it("words typed in a session given back to Claude Code count as a person's, unlike the agent's additions", () => {
  const records = givenBack()
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { readonly type: string; readonly isMeta?: boolean });
  const withText = (words: string) => records.filter((record) => JSON.stringify(record).includes(words));
  expect(withText(SENTENCE)).toMatchObject([{ type: 'user' }]);
  expect(withText(SENTENCE)[0]?.isMeta).toBeUndefined();
  expect(withText('MEMORY')).toMatchObject([{ type: 'user', isMeta: true }]);
  // Claude Code itself lists its skills again, so the list is left out.
  expect(withText('LISTING')).toEqual([]);
});
