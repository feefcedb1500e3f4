import { expect, it } from 'vitest';
import { generateConversation } from '../../../../test/generators/conversation';
import { freshCounter } from '../../testingCounter';
import { fatesOf, type Fate } from './outcomes';
import { losslessProvider } from '../providers/lossless';
import { smartProvider } from '../providers/smart';

const messages = generateConversation({ seed: 2, targetTokens: 30_000 });

/** The fates that one operation on tool results brings, by the real provider. */
async function fatesWith(toolResults: object): Promise<Set<Fate>> {
  const smart = smartProvider();
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
  const context = { messages, edits: [], counter: freshCounter() };
  const { edits = [] } = await smart.estimateReduction(context, checked.config, {});
  return new Set(fatesOf(messages, edits));
}

it.each([
  [{ operation: 'suppress' }, 'suppressed'],
  [{ operation: 'truncate', maxLines: 4 }, 'cut'],
  [{ operation: 'outline', coldTurns: 1 }, 'outlined'],
] as const)('an operation tells its own fate: %j', async (operation, fate) => {
  expect(await fatesWith(operation)).toEqual(new Set(['kept', fate]));
});

it('what stands elsewhere is referenced', async () => {
  const checked = losslessProvider.validateConfig({ strictOnly: true });
  if (!checked.valid) throw new Error('no defaults');
  const context = { messages, edits: [], counter: freshCounter() };
  const { edits = [] } = await losslessProvider.estimateReduction(context, checked.config, {});
  expect(new Set(fatesOf(messages, edits))).toEqual(new Set(['kept', 'referenced']));
});

it('without edits all is kept', () => {
  expect(new Set(fatesOf(messages, []))).toEqual(new Set(['kept']));
});
