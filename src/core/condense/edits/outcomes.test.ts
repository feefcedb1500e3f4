import { expect, it } from 'vitest';
import { generateConversation } from '../../../../test/generators/conversation';
import { createCounter } from '../../testingCounter';
import type { EditOutcome } from './operations';
import { getMessageOutcomes } from './outcomes';
import { listContents } from '../../messages/content';
import { Draft } from '../draft/draft';
import { losslessProvider } from '../providers/lossless';
import { createSmartProvider } from '../providers/smart';

const messages = generateConversation({ seed: 2, targetTokens: 30_000 });

/** Returns the outcomes of one operation on tool results, made by the real provider. */
async function collectOutcomes(toolResults: object): Promise<Set<EditOutcome>> {
  const smart = createSmartProvider();
  const checked = smart.validateConfig({
    version: 1,
    losslessPrelude: { enabled: false },
    passes: [
      {
        id: 'p',
        name: 'P',
        mode: 'individual',
        selection: { type: 'preserve_recent', count: 2 },
        individualConfig: { defaults: { toolResults } },
      },
    ],
  });
  if (!checked.valid) throw new Error(JSON.stringify(checked.problems));
  const context = { messages, edits: [], counter: createCounter() };
  const { edits = [] } = await smart.estimate(context, checked.config, {});
  return new Set(getMessageOutcomes(messages, edits));
}

it.each([
  [{ operation: 'suppress' }, 'suppressed'],
  [{ operation: 'truncate', maxLines: 4 }, 'cut'],
  [{ operation: 'outline', coldTurns: 1 }, 'outlined'],
] as const)('the operation %j determines the outcome of its edit', async (operation, outcome) => {
  expect(await collectOutcomes(operation)).toEqual(new Set(['kept', outcome]));
});

it('an edit that replaces text which is still elsewhere in the conversation has the outcome “referenced”', async () => {
  const checked = losslessProvider.validateConfig({ strictOnly: true });
  if (!checked.valid) throw new Error('no defaults');
  const context = { messages, edits: [], counter: createCounter() };
  const { edits = [] } = await losslessProvider.estimate(context, checked.config, {});
  expect(new Set(getMessageOutcomes(messages, edits))).toEqual(new Set(['kept', 'referenced']));
});

it('messages without edits have the outcome “kept”', () => {
  expect(new Set(getMessageOutcomes(messages, []))).toEqual(new Set(['kept']));
});

it("the wording of an edit's reason does not affect its outcome", () => {
  const counter = createCounter();
  const draft = new Draft(messages, counter);
  const message = messages.findIndex(({ role, content }) => role === 'user' && typeof content !== 'string') + 2;
  const [content] = listContents(messages[message]!).filter(({ text }) => text.length > 400);
  const place = { message, path: content!.path };
  draft.cutText('A pass', place, [{ start: 0, end: 300, marker: 'a part' }], {
    contentType: content!.type,
    operation: 'cut',
    reason: 'keeps what another pass suppressed',
    strict: false,
  });
  expect(getMessageOutcomes(messages, draft.edits)[message]).toBe('cut');
});
