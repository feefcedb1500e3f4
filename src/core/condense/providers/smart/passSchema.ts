/** A pass: which content, what happens to it, and when. */
import * as z from 'zod';
import { conditionSchema } from '../../trigger/condition';
import { promptProblems } from '../../summary/prompt';
import { keep, operation, operations, resultOperation } from './operationSchema';
import { selection } from './selectionSchema';

const names = z.array(z.string().min(1));

const customPrompt = z.string().superRefine((prompt, context) => {
  for (const { message } of promptProblems(prompt)) context.addIssue({ code: 'custom', message });
});

/** What no lossy operation touches. */
export const protection = z.looseObject({
  tools: names.default([]).describe('Calls and results of these tools: names, or globs such as mcp__*.'),
  files: names.default([]).describe('Calls and results that are of these files: globs such as **/*.md.'),
});

const execution = z
  .discriminatedUnion('type', [
    z.looseObject({ type: z.literal('always') }).describe('Runs unless the target is met already.'),
    z
      .looseObject({ type: z.literal('conditional'), condition: conditionSchema })
      .describe('Runs where the condition holds, too.'),
  ])
  .default({ type: 'always' });

const batchConfig = z.discriminatedUnion('operation', [
  keep,
  z.looseObject({
    operation: z.literal('summarize'),
    apiProfile: z.string().min(1).optional().describe('API profile to summarize with; absent: the one for condensing.'),
    customPrompt: customPrompt.default('').describe('A prompt of your own; empty: the built-in one.'),
    maxTokens: z.int().min(256).max(64_000).default(8_192).describe('Tokens that the summary has at most.'),
    keepFirst: z
      .int()
      .min(1)
      .max(100)
      .default(1)
      .describe('Units of the selection kept at its beginning, the task among them.'),
    keepLast: z.int().min(0).max(1_000).default(0).describe('Units of the selection kept at its end.'),
  }),
]);

const individualConfig = z.looseObject({
  defaults: operations.prefault({}).describe('What happens to each type of content.'),
  overrides: z
    .array(
      z.looseObject({
        messageIndex: z.int().min(0).describe('Index of the message in the original conversation, from 0.'),
        operations: z.looseObject({
          messageText: operation.optional(),
          toolParameters: operation.optional(),
          toolResults: resultOperation.optional(),
        }),
      }),
    )
    .default([])
    .describe('Other operations for single messages.'),
  messageTokenThresholds: z
    .looseObject({
      messageText: z.int().min(0).optional(),
      toolParameters: z.int().min(0).optional(),
      toolResults: z.int().min(0).optional(),
    })
    .default({})
    .describe('Content with fewer tokens is kept, by type.'),
});

const passBase = {
  id: z.string().min(1).max(100),
  name: z.string().min(1).max(200),
  description: z.string().max(2_000).default(''),
  enabled: z.boolean().default(true),
  selection,
  execution,
  protect: protection.prefault({}).describe('What this pass leaves alone.'),
};

export const pass = z.discriminatedUnion('mode', [
  z.looseObject({ ...passBase, mode: z.literal('individual'), individualConfig: individualConfig.prefault({}) }),
  z.looseObject({ ...passBase, mode: z.literal('batch'), batchConfig }),
]);

export type Pass = z.output<typeof pass>;
export type IndividualPass = Extract<Pass, { mode: 'individual' }>;
export type BatchPass = Extract<Pass, { mode: 'batch' }>;
export type Protection = z.output<typeof protection>;
