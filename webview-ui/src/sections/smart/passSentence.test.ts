import { expect, it } from 'vitest';
import { BUILT_IN_PRESETS } from '../../../../src/core/condense/providers/smart/presets';
import { describePass } from './passSentence';
import { readPassEntries } from './smartValue';

const describeOne = (pass: object): string =>
  readPassEntries({ passes: [pass] })
    .map(describePass)
    .join();

const individual = (defaults: object, more: object = {}): object => ({
  id: 'a',
  mode: 'individual',
  selection: { type: 'preserve_recent', count: 10 },
  individualConfig: { defaults },
  ...more,
});
const when = (condition: object): object => ({ execution: { type: 'conditional', condition } });
const removed = { toolResults: { operation: 'suppress' } };

it.each([
  [individual({}), 'Changes nothing.'],
  [individual(removed), 'Removes tool results in all but the newest 10 messages.'],
  [
    individual({ toolResults: { operation: 'truncate' }, toolParameters: { operation: 'truncate' } }),
    'Shortens tool results and tool parameters in all but the newest 10 messages.',
  ],
  [
    individual(
      { toolResults: { operation: 'outline' }, messageText: { operation: 'thin' } },
      { selection: { type: 'preserve_percent', percentage: 30 } },
    ),
    'Keeps only the declarations in tool results and removes the least needed parts of message text in all but the newest 30% of the messages.',
  ],
  [
    individual(removed, { selection: { type: 'preserve_recent', count: 0 }, ...when({ tokenThreshold: 40_000 }) }),
    'Removes tool results in all messages, if more than 40,000 tokens are left.',
  ],
  [
    individual(removed, when({ windowPercent: 75 })),
    'Removes tool results in all but the newest 10 messages, if more than 75% of the window is used.',
  ],
  [
    individual(removed, { selection: { type: 'custom', filter: { isError: false } }, ...when({ overTarget: 1 }) }),
    'Removes tool results of calls that did not fail in all messages, while too much remains.',
  ],
  [
    individual(removed, when({ tokenThreshold: 1, cacheCold: true })),
    'Removes tool results in all but the newest 10 messages, if its conditions hold.',
  ],
  [
    individual(removed, {
      individualConfig: {
        defaults: removed,
        overrides: [{ messageIndex: 3, operations: { toolResults: { operation: 'summarize' } } }],
      },
    }),
    'Removes tool results and may call a model in all but the newest 10 messages.',
  ],
  [
    {
      id: 'b',
      mode: 'batch',
      selection: { type: 'preserve_percent', percentage: 25 },
      batchConfig: { operation: 'summarize' },
      ...when({ tokenThreshold: 35_000 }),
    },
    'Replaces all but the newest 25% of the messages with one summary by a model, if more than 35,000 tokens are left.',
  ],
])('the pass %j is described in one sentence', (pass, sentence) => {
  expect(describeOne(pass)).toBe(sentence);
});

it.each([
  [{ age: { min: 12 } }, 'in all but the newest 12 messages.'],
  [{ age: { max: 4 } }, 'in the newest 5 messages.'],
  [{ age: { min: 1 } }, 'in all but the newest message.'],
  [{ age: { max: 0 } }, 'in the newest message.'],
  [{ age: { min: 1, max: 9 } }, 'in the newest 10 messages, but not the newest one.'],
  [{ age: { min: 2, max: 9 } }, 'in the newest 10 messages, but not the newest 2.'],
  [{ kinds: ['command', 'search'] }, 'of commands and searches in all messages.'],
  [{ tools: ['mcp__*'], files: ['**/*.md'] }, 'of the tools mcp__* of the files **/*.md in all messages.'],
  [{ roles: ['user'] }, 'from the user in all messages.'],
  [{ roles: ['user', 'assistant'] }, 'in all messages.'],
  [{ isError: true, minTokens: 1_000 }, 'of failed calls of at least 1,000 tokens in all messages.'],
  [{ contains: 'Build succeeded' }, 'that contain “Build succeeded” in all messages.'],
  [{ not: { isError: true } }, 'for which its other conditions hold in all messages.'],
])('the filter %j of a pass is described in words', (filter, words) => {
  expect(describeOne(individual(removed, { selection: { type: 'custom', filter } }))).toBe(
    `Removes tool results ${words}`,
  );
});

it('the description of a pass names only content that its filter selects', () => {
  const selection = { type: 'custom', filter: { contentTypes: ['toolParameters'] } };
  const defaults = { ...removed, toolParameters: { operation: 'truncate' } };
  expect(describeOne(individual(defaults, { selection }))).toBe('Shortens tool parameters in all messages.');
});

it.each(BUILT_IN_PRESETS.map(({ id, config }) => [id, config] as const))(
  'the description of every pass of the preset %s says what it does',
  (_id, config) => {
    for (const entry of readPassEntries(config)) expect(describePass(entry)).toMatch(/^[A-Z].{20,180}\.$/);
  },
);
