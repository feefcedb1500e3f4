const pass = (id: string, name: string): object => ({
  id,
  name,
  mode: 'individual',
  selection: { type: 'preserve_recent', count: 10 },
  individualConfig: { defaults: { toolResults: { operation: 'truncate', maxLines: 20 } } },
});

/** Settings with two profiles and three passes, so that the panel has much to show. */
export const panelSettings = {
  'contextCondenser.profiles': [
    { id: 'work', name: 'Work', vendor: 'anthropic', model: 'claude-sonnet-4-20250514', threshold: 60 },
    { id: 'local', name: 'Local', vendor: 'openai', model: 'qwen3-coder', baseUrl: 'http://127.0.0.1:11434/v1' },
  ],
  'contextCondenser.smart': {
    version: 1,
    passes: [pass('a', 'Old results'), pass('b', 'Cold files'), pass('c', 'The rest')],
  },
};
