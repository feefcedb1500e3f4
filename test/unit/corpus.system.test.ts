/** Checks properties on real conversations; skipped if there are none. */
import { describe, expect, it } from 'vitest';
import { restoreMessagesBeforeEdits } from '../../src/core/condense/edits/applyEdits';
import { getOriginalText } from '../../src/core/condense/edits/edits';
import { findNewViolations } from '../../src/core/messages/firewall';
import { loadCorpus } from '../bench/corpus';
import { condense, freshCounter, type Setup } from '../generators/setups';

const { isReal, conversations } = loadCorpus(() => undefined);

const SETUPS: readonly Setup[] = [
  { provider: 'lossless', config: {}, target: undefined },
  { provider: 'lossless', config: { strictOnly: true, keep: 'first' }, target: undefined },
  { provider: 'truncation', config: { preserveUserMessages: false, preserveAssistantText: false }, target: undefined },
];

describe.runIf(isReal)('a condensation of real conversations', () => {
  it.each(conversations.flatMap(({ name, messages }) => SETUPS.map((setup) => ({ name, messages, setup }))))(
    'like $name with $setup.provider is valid, no larger, reversible, and final after one run',
    async ({ messages, setup }) => {
      const { view, edits } = await condense(setup, messages);
      expect(findNewViolations(messages, view)).toEqual([]);
      expect(freshCounter().countMessages(view)).toBeLessThanOrEqual(freshCounter().countMessages(messages));
      const originals = new Map(edits.map((edit) => [edit.before, getOriginalText(messages, edit)]));
      const restored = restoreMessagesBeforeEdits(view, edits, (hash) => originals.get(hash));
      expect(JSON.stringify(restored)).toBe(JSON.stringify(messages));
      expect((await condense(setup, messages, edits)).result.edits).toEqual([]);
      expect((await condense(setup, view)).edits).toEqual([]);
    },
  );
});
