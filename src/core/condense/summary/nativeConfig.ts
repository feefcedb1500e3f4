import * as z from 'zod';
import { DEFAULT_FACT_TOKENS } from './factSheet';
import { customPromptSchema } from './promptText';
import { MASK_POLICIES } from '../summarizer';

export const nativeConfigSchema = z
  .object({
    keepFirst: z
      .int()
      .min(1)
      .max(100)
      .default(1)
      .describe('Units (messages, or calls with their results) kept at the beginning; the task is always kept.'),
    keepLast: z.int().min(0).max(1_000).default(3).describe('Units kept at the end.'),
    prompt: customPromptSchema
      .default('')
      .describe('Your own prompt in place of the built-in sections. If empty, the built-in one.'),
    maxSummaryTokens: z.int().min(256).max(64_000).default(8_192).describe('Maximum number of tokens in a summary.'),
    resultChars: z
      .int()
      .min(100)
      .max(1_000_000)
      .default(8_000)
      .describe('Number of characters of a tool result that are shown to the summarizing model.'),
    parameterChars: z
      .int()
      .min(50)
      .max(1_000_000)
      .default(4_000)
      .describe('Number of characters of a tool parameter that are shown to the summarizing model.'),
    factTokens: z
      .int()
      .min(0)
      .max(50_000)
      .default(DEFAULT_FACT_TOKENS)
      .describe('Maximum tokens for the facts that are recorded without a model; 0: no facts.'),
    keepUserMessages: z
      .boolean()
      .default(true)
      .describe(
        'Puts what people wrote after the summary word for word, in up to half of the tokens that the summary replaces. Otherwise, it is among the facts, as far as there is room.',
      ),
    vendorCompaction: z
      .boolean()
      .default(false)
      .describe(
        'Lets the model’s vendor write the summary with its own compaction, if it has one (Anthropic, Claude 4.6 and later; beta). The vendor is sent the messages themselves, without images and thinking; your prompt and the character limits do not apply. Its text replaces the messages like any summary: undo brings them back, and they can be recalled. If the vendor refuses, the built-in prompt is used.',
      ),
    maskSecrets: z
      .enum(MASK_POLICIES)
      .default('otherVendor')
      .describe('When to mask what looks like a key before the conversation is sent to the summarizing model.'),
  })
  .strict();

export type NativeConfig = z.output<typeof nativeConfigSchema>;
