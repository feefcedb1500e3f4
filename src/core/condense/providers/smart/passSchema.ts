import * as z from 'zod';
import { conditionSchema } from '../../trigger/condition';
import { customPromptSchema } from '../../summary/promptText';
import {
  keepSchema,
  operationSchema,
  operationsSchema,
  resultOperationSchema,
  type ContentOperation,
} from './operationSchema';
import { TOOL_KINDS } from '../../../agents/types';
import type { ApiMessage } from '../../../messages/types';

const contentTypeSchema = z.enum(['messageText', 'toolParameters', 'toolResults']);
/** In characters: the sum over all names and globs in a list. */
const MAX_PROTECTED_NAMES = 10_000;

/** Limits the number of names, because each is matched against each call. */
const namesSchema = z
  .array(z.string().min(1).max(500))
  .max(200)
  .refine((patterns) => patterns.reduce((sum, { length }) => sum + length, 0) <= MAX_PROTECTED_NAMES, {
    message: `has more than ${MAX_PROTECTED_NAMES.toLocaleString('en-US')} characters altogether`,
  });
const MAX_CONDITION_PARTS = 50;

/** All fields that are set must match. */
const contentFilterSchema = z
  .object({
    roles: z
      .array(z.enum(['user', 'assistant']))
      .max(MAX_CONDITION_PARTS)
      .optional()
      .describe('The message is of one of these.'),
    contentTypes: z
      .array(contentTypeSchema)
      .max(MAX_CONDITION_PARTS)
      .optional()
      .describe('The content is of one of these types.'),
    tools: namesSchema.optional().describe('The call is of one of these tools: names, or globs such as mcp__*.'),
    kinds: z
      .array(z.enum(TOOL_KINDS))
      .max(MAX_CONDITION_PARTS)
      .optional()
      .describe('What the called tool does. Other: not known.'),
    files: namesSchema.optional().describe('The call works on one of these files: globs such as **/*.md.'),
    isError: z.boolean().optional().describe('The call failed, or did not.'),
    minTokens: z.int().min(0).optional().describe('The content has at least this many tokens.'),
    age: z
      .object({
        min: z.int().min(0).optional().describe('At least this many messages are newer.'),
        max: z.int().min(0).optional().describe('At most this many messages are newer.'),
      })
      .strict()
      .optional()
      .describe('How old the message is.'),
    contains: z.string().min(1).max(10_000).optional().describe('The content contains this text, ignoring case.'),
    get and(): z.ZodOptional<z.ZodArray<typeof contentFilterSchema>> {
      return z.array(contentFilterSchema).max(MAX_CONDITION_PARTS).optional().describe('All of these hold.');
    },
    get or(): z.ZodOptional<z.ZodArray<typeof contentFilterSchema>> {
      return z.array(contentFilterSchema).max(MAX_CONDITION_PARTS).optional().describe('At least one of these holds.');
    },
    get not(): z.ZodOptional<typeof contentFilterSchema> {
      return contentFilterSchema.optional().describe('This does not hold.');
    },
  })
  .strict();

/** Only callers of the API can pass this function. */
export type SelectMessage = (message: ApiMessage, index: number, messages: readonly ApiMessage[]) => boolean;

const selectMessageSchema = z.custom<SelectMessage>((value) => typeof value === 'function', {
  message: 'is not a function',
});

export const messageSelectionSchema = z.discriminatedUnion('type', [
  z
    .looseObject({
      type: z.literal('preserve_recent'),
      count: z.int().min(0).max(1_000_000).describe('Number of newest messages that are left alone.'),
    })
    .describe('All but the newest messages.'),
  z
    .looseObject({
      type: z.literal('preserve_percent'),
      percentage: z.number().min(0).max(100).describe('Percentage of newest messages that is left alone.'),
    })
    .describe('All but a percentage of newest messages.'),
  z
    .looseObject({
      type: z.literal('custom'),
      filter: contentFilterSchema.optional().describe('Which content.'),
      selector: selectMessageSchema
        .optional()
        .meta({ description: 'The same as a function; for users of the API.', apiOnly: true }),
    })
    .refine((value) => value.filter !== undefined || value.selector !== undefined, { message: 'needs a filter' })
    .describe('The content that a filter selects.'),
]);

export type MessageSelection = z.output<typeof messageSelectionSchema>;
export type ContentFilter = z.output<typeof contentFilterSchema>;

/** Content that lossy operations must not change. */
export const protectionSchema = z.looseObject({
  tools: namesSchema.default([]).describe('Calls and results of these tools: names, or globs such as mcp__*.'),
  files: namesSchema.default([]).describe('Calls and results for these files: globs such as **/*.md.'),
});

const executionSchema = z
  .discriminatedUnion('type', [
    z.looseObject({ type: z.literal('always') }).describe('Runs unless the target has already been met.'),
    z
      .looseObject({ type: z.literal('conditional'), condition: conditionSchema })
      .describe('Runs only if the condition is met as well.'),
  ])
  .default({ type: 'always' });

const batchConfigSchema = z.discriminatedUnion('operation', [
  keepSchema,
  z.looseObject({
    operation: z.literal('summarize'),
    apiProfile: z
      .string()
      .min(1)
      .max(500)
      .optional()
      .describe('ID of the model that summarizes. If omitted, the model chosen for summaries.'),
    customPrompt: customPromptSchema.default('').describe('Your own prompt. If empty, the built-in one.'),
    maxTokens: z.int().min(256).max(64_000).default(8_192).describe('Maximum number of tokens in the summary.'),
    keepFirst: z
      .int()
      .min(1)
      .max(100)
      .default(1)
      .describe('Units of the selection kept at its beginning, the task among them.'),
    keepLast: z.int().min(0).max(1_000).default(0).describe('Units of the selection kept at its end.'),
  }),
]);

const individualConfigSchema = z.looseObject({
  defaults: operationsSchema.prefault({}).describe('What happens to each type of content.'),
  overrides: z
    .array(
      z.looseObject({
        messageIndex: z.int().min(0).describe('Index of the message in the original conversation, from 0.'),
        operations: z
          .looseObject({
            messageText: operationSchema.optional(),
            toolParameters: operationSchema.optional(),
            toolResults: resultOperationSchema.optional(),
          })
          .prefault({}),
      }),
    )
    .max(10_000)
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

const passFieldSchemas = {
  id: z.string().min(1).max(100),
  name: z.string().min(1).max(200),
  description: z.string().max(2_000).default(''),
  enabled: z.boolean().default(true),
  selection: messageSelectionSchema,
  execution: executionSchema,
  protect: protectionSchema.prefault({}).describe('What this pass leaves alone.'),
};

export const passSchema = z.discriminatedUnion('mode', [
  z.looseObject({
    ...passFieldSchemas,
    mode: z.literal('individual'),
    individualConfig: individualConfigSchema.prefault({}),
  }),
  z.looseObject({ ...passFieldSchemas, mode: z.literal('batch'), batchConfig: batchConfigSchema }),
]);

export type Pass = z.output<typeof passSchema>;
export type IndividualPass = Extract<Pass, { mode: 'individual' }>;
export type BatchPass = Extract<Pass, { mode: 'batch' }>;

export const getOperations = ({ individualConfig }: Pick<IndividualPass, 'individualConfig'>): ContentOperation[] =>
  [individualConfig.defaults, ...individualConfig.overrides.map(({ operations }) => operations)]
    .flatMap(({ messageText, toolParameters, toolResults }) => [messageText, toolParameters, toolResults])
    .filter((operation) => operation !== undefined);
