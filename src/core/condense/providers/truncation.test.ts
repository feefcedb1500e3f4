import { describe, expect, it } from 'vitest';
import { listContents } from '../../messages/content';
import { checkConversation, findNewViolations } from '../../messages/firewall';
import type { ApiMessage } from '../../messages/types';
import { assistant, call, makeToolExchange, makeLines, result, text, user, shortenMarkers } from '../../testing';
import { createCounter } from '../../testingCounter';
import { applyEdits } from '../edits/applyEdits';
import { CondensationManager } from '../manager';
import type { CondensationOptions } from '../types';
import { truncationProvider } from './truncation';

const counter = createCounter();

/**
 * Returns the view that a configuration gives, after checking that a second run finds nothing to
 * do.
 */
async function condenseToView(
  messages: readonly ApiMessage[],
  config: unknown,
  options: CondensationOptions = {},
): Promise<readonly ApiMessage[]> {
  const checked = truncationProvider.validateConfig(config);
  if (!checked.valid) throw new Error(JSON.stringify(checked.problems));
  const context = { messages, edits: [], counter };
  const { edits } = await truncationProvider.condense(context, checked.config, options);
  const { messages: shown } = applyEdits(messages, edits);
  expect(findNewViolations(messages, shown)).toEqual([]);
  const again = await truncationProvider.condense({ ...context, edits }, checked.config, options);
  expect(again.edits).toEqual([]);
  return shown;
}
const texts = (messages: readonly ApiMessage[]): string[] =>
  messages.flatMap((message) => listContents(message).map((content) => shortenMarkers(content.text)));

const LONG = makeLines('x', 50);
const messages = [
  user('task', LONG),
  assistant(LONG, call('a', 'Write', { file_path: 'a.ts', content: LONG })),
  user(result('a', LONG), LONG),
  ...makeToolExchange('b', 'Read', {}, LONG),
];

describe('Truncation', () => {
  it('shortens old results and parameters, and keeps text and recent messages', async () => {
    const shown = await condenseToView(messages, { preserveRecentCount: 2 });
    const tail = LONG.split('\n').slice(-20).join('\n');
    expect(texts(shown)).toEqual([
      'task',
      LONG,
      LONG,
      'a.ts',
      `${LONG.slice(0, 250)}[35 lines truncated]${LONG.slice(-250)}`,
      `[30 lines truncated]\n${tail}`,
      LONG,
      LONG,
    ]);
    expect(shown[0]).toBe(messages[0]);
  });

  it('suppresses selected content types, including text if allowed', async () => {
    const config = {
      preserveRecentCount: 2,
      toolResults: { mode: 'suppress' },
      toolParameters: { mode: 'keep' },
      messageText: { mode: 'suppress' },
      preserveUserMessages: true,
      preserveAssistantText: false,
    };
    const expected = ['task', LONG, '[text suppressed]', 'a.ts', LONG, '[result suppressed]', LONG, LONG];
    expect(texts(await condenseToView(messages, config))).toEqual(expected);
    expect(texts(await condenseToView(messages, { ...config, preserveUserMessages: false }))).toEqual(
      expected.with(6, '[text suppressed]'),
    );
  });

  it('keeps the configured part of a text, also if it is given in characters', async () => {
    const config = { preserveRecentCount: 0, toolResults: { mode: 'truncate', maxChars: 100, keep: 'tail' } };
    const one = 'word '.repeat(500);
    expect(texts(await condenseToView([user('t'), ...makeToolExchange('a', 'x', {}, one)], config))).toEqual([
      't',
      `[2400 characters truncated]${one.slice(-100)}`,
    ]);
  });

  it('keeps small content, system messages and content within the limits', async () => {
    const small = makeLines('x', 5);
    const conversation: ApiMessage[] = [
      user('t'),
      { role: 'system', content: LONG },
      ...makeToolExchange('a', 'x', {}, small),
    ];
    const suppress = { preserveRecentCount: 0, toolResults: { mode: 'suppress' } };
    expect(texts(await condenseToView(conversation, suppress))).toEqual(['t', LONG, small]);
    expect(texts(await condenseToView(conversation, { ...suppress, minimumTokens: 0 }))).toEqual([
      't',
      LONG,
      '[result suppressed]',
    ]);
  });

  it('starts with the oldest content and stops at the target', async () => {
    const conversation = [user('t'), ...makeToolExchange('a', 'x', {}, LONG), ...makeToolExchange('b', 'x', {}, LONG)];
    const config = { preserveRecentCount: 0, toolResults: { mode: 'suppress' } };
    const target = counter.countMessages(conversation) - 200;
    expect(texts(await condenseToView(conversation, config, { targetTokens: target }))).toEqual([
      't',
      '[result suppressed]',
      LONG,
    ]);
  });

  it('shortens parameters and results of calls written as XML', async () => {
    const conversation = [
      user('t'),
      assistant(
        `Hm. <write_to_file><path>a</path><content>${LONG}</content></write_to_file> Then <execute_command><command>${LONG}</command></execute_command>`,
      ),
      user(
        text("[write_to_file for 'a'] Result:"),
        text('ok'),
        text(`[execute_command for 'x'] Result:\n${LONG}`),
        text('go on'),
      ),
    ];
    const config = { preserveRecentCount: 0, toolResults: { mode: 'suppress' }, toolParameters: { mode: 'suppress' } };
    const shown = await condenseToView(conversation, config);
    expect(shortenMarkers(shown[1]!.content as string)).toBe(
      'Hm. <write_to_file><path>a</path><content>[parameter suppressed]</content></write_to_file> Then <execute_command><command>[parameter suppressed]</command></execute_command>',
    );
    expect(texts([shown[2]!])).toEqual(['ok', '[result suppressed]', 'go on']);
  });

  it('has a schema for the panel, names problems, and estimates from the same plan', async () => {
    expect(truncationProvider.getConfigSchema()).toMatchObject({
      type: 'object',
      properties: { preserveRecentCount: { default: 10, minimum: 0 }, toolResults: { type: 'object' } },
    });
    const checked = truncationProvider.validateConfig({ minimumTokens: 1.5, toolResults: { mode: 'burn' } });
    expect(checked.valid ? [] : checked.problems.map(({ path }) => path)).toEqual([
      'toolResults.mode',
      'minimumTokens',
    ]);
    const valid = truncationProvider.validateConfig({ preserveRecentCount: 2 });
    if (!valid.valid) throw new Error('not valid');
    const context = { messages, edits: [], counter };
    const estimate = await truncationProvider.estimate(context, valid.config, {});
    expect(estimate.tokensAfter).toBe(
      counter.countMessages(await condenseToView(messages, { preserveRecentCount: 2 })),
    );
    expect(estimate.cost).toBe(0);
  });
});

describe('Truncation of 200K tokens', () => {
  it('keeps a valid conversation valid', async () => {
    const large = [user('task')];
    for (let index = 0; index < 250; index++)
      large.push(...makeToolExchange(`i${index}`, 'Read', { path: `p${index}` }, makeLines(`f${index}`, 70)));
    const manager = new CondensationManager(counter, [truncationProvider]);
    expect(counter.countMessages(large)).toBeGreaterThan(180_000);
    const outcome = await manager.condense({ conversation: 'c', messages: large, trigger: 'manual' });
    expect(outcome.kind === 'condensed' && checkConversation(outcome.view)).toEqual([]);
  });
});
