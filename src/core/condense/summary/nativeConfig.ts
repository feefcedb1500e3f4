import * as z from 'zod';
import { DEFAULT_FACT_TOKENS } from './factSheet';
import { promptProblems } from './prompt';
import { MASK_POLICIES } from './summarizer';

export const nativeConfigSchema = z
  .object({
    keepFirst: z.int().min(1).max(100).default(1).describe('Units kept at the beginning; the task is always kept.'),
    keepLast: z
      .int()
      .min(0)
      .max(1_000)
      .default(3)
      .describe('Units kept at the end: messages, or calls with their results.'),
    prompt: z
      .string()
      .default('')
      .superRefine((prompt, context) => {
        for (const { message } of promptProblems(prompt)) context.addIssue({ code: 'custom', message });
      })
      .describe('A prompt of your own in place of the built-in sections; empty: the built-in one.'),
    maxSummaryTokens: z.int().min(256).max(64_000).default(8_192).describe('Tokens that a summary has at most.'),
    resultChars: z
      .int()
      .min(100)
      .max(1_000_000)
      .default(8_000)
      .describe('Characters of a tool result that the summarizing model is shown.'),
    parameterChars: z
      .int()
      .min(50)
      .max(1_000_000)
      .default(4_000)
      .describe('Characters of a tool parameter that the summarizing model is shown.'),
    factTokens: z
      .int()
      .min(0)
      .max(50_000)
      .default(DEFAULT_FACT_TOKENS)
      .describe('Tokens for the facts that are recorded without a model; 0: none.'),
    keepUserMessages: z
      .boolean()
      .default(true)
      .describe(
        'What people wrote stands behind the summary word for word, in up to half of the tokens that it takes the place of; false: among the facts, as far as there is room.',
      ),
    vendorCompaction: z
      .boolean()
      .default(false)
      .describe(
        "Lets the model's vendor write the summary with its own compaction, where it has one (Anthropic, Claude 4.6 and later; beta). It is sent the messages themselves, without images and thinking; your prompt and the limits of characters do not apply. Its text takes the place of the messages as any summary does: undo brings them back, and they can be recalled. If the vendor refuses, the built-in prompt is used.",
      ),
    maskSecrets: z
      .enum(MASK_POLICIES)
      .default('otherVendor')
      .describe('When what looks like a key is masked before the conversation goes to the summarizing model.'),
  })
  .strict();

/** Settings of the Native provider, all with defaults. */
export type NativeConfig = z.output<typeof nativeConfigSchema>;
