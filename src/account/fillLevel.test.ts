import { expect, it } from 'vitest';
import { readConversation } from '../conversations/read';
import { renderClaudeSession } from '../conversations/write/claudeCode';
import { createCounter } from '../core/testingCounter';
import { loadFillLevelReader } from './fillLevel';

it('the fill level of a session given back to its agent uses the window of the model that answered in it', async () => {
  const view = [
    { role: 'user' as const, content: 'Go.' },
    { role: 'assistant' as const, content: [{ type: 'text', text: 'Done.' }], model: 'claude-opus-5' },
    { role: 'user' as const, content: 'Thanks.' },
    { role: 'assistant' as const, content: [{ type: 'text', text: 'A summary.' }], model: '<synthetic>' },
  ];
  const sessionId = '0f6b1c52-6a1d-4d0e-9f5b-6e1f6d6f0a01';
  const newId = (): string => crypto.randomUUID();
  const text = renderClaudeSession({ sessionId, title: 'A task', view, records: [], now: new Date(), newId });
  const fill = await loadFillLevelReader();
  const made = readConversation(text, { path: `/home/me/.claude/projects/p/${sessionId}.jsonl` });
  expect(fill(made, createCounter())).toMatchObject({ window: 1_000_000, isRecorded: false, model: 'claude-opus-5' });
});
