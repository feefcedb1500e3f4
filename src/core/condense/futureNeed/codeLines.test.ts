import { expect, it } from 'vitest';
import { generateConversation } from '../../../../test/generators/conversation';
import { freshCounter } from '../../testingCounter';
import { applyEdits } from '../edits/applyEdits';
import { losslessProvider } from '../providers/lossless';
import { codeLineRecall } from './codeLines';
import { cutsOf } from './cuts';

const messages = generateConversation({ seed: 4, targetTokens: 60_000 });

it('all of what is needed later stands in an uncondensed conversation', async () => {
  const recall = await codeLineRecall(messages, (view) => Promise.resolve({ view, edits: [] }));
  expect(recall.needed).toBeGreaterThan(0);
  expect(recall.verbatim).toBe(recall.needed);
});

it('nothing of it stands in an empty one', async () => {
  const recall = await codeLineRecall(messages, (prefix) =>
    Promise.resolve({ view: prefix.slice(0, 1), edits: [], origins: [0] }),
  );
  expect(recall).toEqual({ needed: recall.needed, verbatim: 0, recallable: 0 });
});

it('Lossless loses no line that is needed later', async () => {
  const checked = losslessProvider.validateConfig(undefined);
  if (!checked.valid) throw new Error('no defaults');
  const { config } = checked;
  const counter = freshCounter();
  const recall = await codeLineRecall(messages, async (prefix) => {
    const { edits } = await losslessProvider.condense({ messages: prefix, edits: [], counter }, config, {});
    const { messages: view, origins } = applyEdits(prefix, edits);
    return { view, edits, origins };
  });
  expect(recall.verbatim + recall.recallable).toBe(recall.needed);
});

it('a conversation without turns has no cuts', () => {
  expect(cutsOf(messages.slice(0, 1))).toEqual([]);
});
