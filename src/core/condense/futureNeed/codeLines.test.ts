import { expect, it } from 'vitest';
import { generateConversation } from '../../../../test/generators/conversation';
import { createCounter } from '../../testingCounter';
import { applyEdits } from '../edits/applyEdits';
import { createUneditedView } from '../edits/view';
import { losslessProvider } from '../providers/lossless';
import { measureCodeLineRetention } from './codeLines';
import { chooseSessionCuts } from './cuts';

const messages = generateConversation({ seed: 4, targetTokens: 60_000 });

it('a conversation that is not condensed keeps all lines that are needed later', async () => {
  const retention = await measureCodeLineRetention(messages, (prefix) => Promise.resolve(createUneditedView(prefix)));
  expect(retention.needed).toBeGreaterThan(0);
  expect(retention.verbatim).toBe(retention.needed);
});

it('an empty conversation keeps no line that is needed later', async () => {
  const retention = await measureCodeLineRetention(messages, (prefix) =>
    Promise.resolve({ original: prefix, messages: prefix.slice(0, 1), origins: [0], edits: [] }),
  );
  expect(retention).toEqual({ needed: retention.needed, verbatim: 0, recallable: 0 });
});

it('Lossless keeps all lines that are needed later', async () => {
  const checked = losslessProvider.validateConfig(undefined);
  if (!checked.valid) throw new Error('no defaults');
  const { config } = checked;
  const counter = createCounter();
  const retention = await measureCodeLineRetention(messages, async (prefix) => {
    const { edits } = await losslessProvider.condense({ messages: prefix, edits: [], counter }, config, {});
    return applyEdits(prefix, edits);
  });
  expect(retention.verbatim + retention.recallable).toBe(retention.needed);
});

it('a conversation without turns offers no point at which to measure a condensation', () => {
  expect(chooseSessionCuts(messages.slice(0, 1))).toEqual([]);
});
