/** Checks that the guide's configurations are valid, and change the sample as described. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { readConversation } from '../../src/conversations/read';
import { losslessProvider } from '../../src/core/condense/providers/lossless';
import { createNativeProvider } from '../../src/core/condense/providers/native';
import { createSmartProvider } from '../../src/core/condense/providers/smart';
import { createStrategyProvider } from '../../src/core/condense/providers/strategy';
import { selectSummarizer } from '../../src/core/condense/summarizer';
import { createTestSummarizer } from '../../src/core/condense/summary/testing';
import type { CondensationProvider } from '../../src/core/condense/types';
import type { ApiMessage } from '../../src/core/messages/types';
import { freshCounter } from '../generators/setups';

const root = join(import.meta.dirname, '..', '..');
const page = readFileSync(join(root, 'docs', 'guide', 'passes.md'), 'utf8').replaceAll('\n', ' ');
const examples = [...page.matchAll(/```json ([^`]*)```/g)].map(([, text = '']) => text.trim());
/**
 * Some examples are settings without braces. An example that is a pass is tested as a configuration
 * with only that pass.
 */
const configs = examples
  .map((text) => JSON.parse(text.startsWith('{') ? text : `{${text}}`) as Readonly<Record<string, unknown>>)
  .map(
    (example) =>
      example['contextCondenser.smart'] ?? example['contextCondenser.strategy'] ?? { version: 1, passes: [example] },
  );

/** Estimates use the prices of Claude Sonnet 4. */
const select = () => selectSummarizer({ condensing: createTestSummarizer(['']) });
const smart = createSmartProvider({ select });
const strategy = createStrategyProvider({
  providers: () => [losslessProvider, smart, createNativeProvider({ select })],
});

let messages: readonly ApiMessage[];
beforeAll(() => {
  const path = join(root, 'sample', 'conversation.jsonl');
  ({ messages } = readConversation(readFileSync(path, 'utf8'), { path }));
});

/**
 * Estimates a configuration's effect on the sample, and returns it as text.
 * @throws Error for an invalid configuration
 */
async function reported<Config>(
  provider: CondensationProvider<Config>,
  value: unknown,
  share?: number,
): Promise<string> {
  const checked = provider.validateConfig(value);
  if (!checked.valid) throw new Error(JSON.stringify(checked.problems));
  const context = { messages, edits: [], counter: freshCounter() };
  const options =
    share === undefined ? {} : { targetTokens: Math.round(share * context.counter.countMessages(messages)) };
  const {
    tokensBefore,
    tokensAfter,
    steps,
    cost = Number.NaN,
  } = await provider.estimate(context, checked.config, options);
  const calls = steps.reduce((sum, step) => sum + (step.calls ?? 0), 0);
  const tokens = `${tokensBefore.toLocaleString('en')} → ${tokensAfter.toLocaleString('en')} tokens`;
  if (calls === 0) return `${tokens}, no call to a model`;
  return `${tokens}, ${calls} ${calls === 1 ? 'call' : 'calls'}, about $${cost.toFixed(3)}`;
}

describe('the guide on passes', () => {
  it('states, as the README does, what Lossless removes from the sample', async () => {
    const leaves = (await reported(losslessProvider, {})).replace(/ → (\S+) tokens.*/, ' tokens and $1 after Lossless');
    expect(page.includes(leaves), leaves).toBe(true);
    const [before = 0, after = 0] = leaves.match(/[\d,]+/g)?.map((count) => Number(count.replace(',', ''))) ?? [];
    const removed = `Lossless removes ${Math.round(100 * (1 - after / before))}%`;
    expect(readFileSync(join(root, 'README.md'), 'utf8').includes(removed), removed).toBe(true);
  });

  it('has four examples', () => {
    expect(configs).toHaveLength(4);
  });

  it.each([0, 1, 2])('states what the passes of example %i do to the sample', async (index) => {
    const words = await reported(smart, configs[index]);
    expect(page.includes(words), words).toBe(true);
  });

  it('states what the strategy does to the sample', async () => {
    const words = await reported(strategy, configs[3], 0.5);
    expect(page.includes(words), words).toBe(true);
  });
});
