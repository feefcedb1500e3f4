import type { Provider, ProviderInput } from './api';

/** This provider cuts every result of at least the configured number of tokens. */
export const cutter: Provider = {
  id: 'sample.cutter',
  name: 'Cutter',
  description: 'Cuts long results.',
  version: '1.2.3',
  configSchema: {
    type: 'object',
    properties: { minimum: { type: 'integer', minimum: 0, default: 100 } },
    additionalProperties: false,
  },
  condense({ messages: view, config, countTokens, onProgress }: ProviderInput) {
    const { minimum } = config as { minimum: number };
    onProgress({ step: 'Cutting', done: 0, total: 1 });
    const changes = view.flatMap(({ content }, message) =>
      typeof content === 'string'
        ? []
        : content.flatMap((block, index) => {
            const text = block['content'];
            if (block.type !== 'tool_result' || typeof text !== 'string' || countTokens(text) < minimum) return [];
            const path = ['content', index, 'content'];
            return [
              { kind: 'cut', message, path, start: 0, end: text.length, what: 'a file', reason: 'long' } as const,
            ];
          }),
    );
    return Promise.resolve({ changes, notes: ['Cut.'] });
  },
};
