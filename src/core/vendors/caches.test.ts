import { expect, it } from 'vitest';
import { getCacheLifespan } from './caches';

const MINUTE = 60_000;

it.each([
  ['Claude, marked for five minutes', { vendor: 'anthropic', model: 'claude-opus-5-5' }, 5, 5],
  ['Claude, marked for an hour', { vendor: 'anthropic', model: 'claude-opus-5-5', lifetime: '1h' }, 60, 60],
  ['Claude behind OpenRouter', { vendor: 'openai', model: 'anthropic/claude-opus-5.5', host: 'openrouter.ai' }, 5, 5],
  // Regression: five minutes were assumed for these too.
  ['GPT from 5.6 on', { vendor: 'openai', model: 'gpt-5.6' }, 30, 24 * 60],
  ['older GPT', { vendor: 'openai', model: 'gpt-5.2' }, 5, 24 * 60],
  [
    'Nova on Bedrock, whatever was asked for',
    { vendor: 'bedrock', model: 'us.amazon.nova-pro-v1:0', lifetime: '1h' },
    5,
    5,
  ],
  ['DeepSeek', { vendor: 'openai', model: 'deepseek-chat', host: 'api.deepseek.com' }, 60, 24 * 60],
  [
    'DeepSeek behind Anthropic’s wire, whose marks it does not read',
    { vendor: 'anthropic', model: 'claude-sonnet-5', host: 'api.deepseek.com', lifetime: '5m' },
    60,
    24 * 60,
  ],
] as const)("the cache's minimum and maximum lifetime is known for %s", (_, model, warm, cold) => {
  expect(getCacheLifespan(model)).toEqual({ warmMs: warm * MINUTE, coldMs: cold * MINUTE });
});

it("a cache's lifetime is unknown for VS Code’s models, and there is no cache if nothing is marked or the model does not cache", () => {
  expect(getCacheLifespan({ vendor: 'anthropic', model: 'claude-opus-5', lifetime: 'none' })).toBe('none');
  expect(getCacheLifespan({ vendor: 'vscode', model: 'gpt-5.6' })).toBeUndefined();
  expect(getCacheLifespan({ vendor: 'bedrock', model: 'mistral.mistral-large-3-675b-instruct' })).toBe('none');
  // This vendor's cache needs no breakpoints, so omitting them disables nothing.
  expect(getCacheLifespan({ vendor: 'openai', model: 'gpt-5.6', lifetime: 'none' })).toBeTypeOf('object');
});
