import { expect, it } from 'vitest';
import { convertChatUsage } from './openaiChat';

it.each([
  ['what a request cost', { cost: 0.5 }, 0.5],
  [
    'what a provider bills for a key of the user, and the fee',
    { cost: 0.5, is_byok: true, cost_details: { upstream_inference_cost: 2 } },
    2.5,
  ],
  ['what a provider bills without a fee', { cost: 0, is_byok: true, cost_details: { upstream_inference_cost: 2 } }, 2],
  ['nothing if the provider’s bill is not stated', { cost: 0, is_byok: true, cost_details: null }, undefined],
  [
    'one bill if the key is not the user’s',
    { cost: 2, is_byok: false, cost_details: { upstream_inference_cost: 2 } },
    2,
  ],
])("OpenRouter's reported usage includes %s", (_, costs, expected) => {
  expect(convertChatUsage({ prompt_tokens: 10, completion_tokens: 1, ...costs })?.costUsd).toBe(expected);
});
