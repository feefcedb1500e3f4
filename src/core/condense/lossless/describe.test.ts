import { expect, it } from 'vitest';
import { assistant, call, makeLines, result, user } from '../../testing';
import { createCounter } from '../../testingCounter';
import { applyEdits } from '../edits/applyEdits';
import { losslessConfigSchema, runLossless } from './run';

it('a marker in a result of several parts does not say “above” about a later part', async () => {
  const text = makeLines('const value =', 12)
    .split('\n')
    .map((line, at) => `${at + 1} | ${line}`);
  const part = { type: 'text', text: text.join('\n') } as const;
  const messages = [
    user('Go on.'),
    assistant(call('a', 'read_file', { file_path: 'src/a.ts' })),
    // The second part has one more line, so that the two differ.
    user({ ...result('a', ''), content: [part, { ...part, text: `${part.text}\n13 | the end of this file` }] }),
    // This tool numbers lines differently, so its lines are not the same.
    assistant(call('b', 'Read', { file_path: 'src/a.ts' })),
    user(result('b', part.text)),
  ];
  const { draft } = await runLossless(
    { messages, edits: [], counter: createCounter() },
    losslessConfigSchema.parse({}),
    {},
  );
  const view = JSON.stringify(applyEdits(messages, draft.edits).messages[2]);
  expect(view).toContain('lines 1-12, shown later');
  expect(view).not.toContain('shown above');
});
