import * as z from 'zod';
import { getOperationRow, type OperationName } from '../../edits/operations';

const countSchema = z.int().min(1).max(1_000_000);

export const keepSchema = z.looseObject({ operation: z.literal('keep') }).describe('Leaves the content as it is.');

const suppressSchema = z
  .looseObject({
    operation: z.literal('suppress'),
    marker: z
      .string()
      .min(1)
      .max(200)
      // Agents read this text, so it must be one line without invisible characters.
      .refine((text) => !/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(text), {
        message: 'must be one line of visible characters',
      })
      .optional()
      .describe('Text of the marker that replaces it.'),
  })
  .describe('Replaces the content with a marker.');

const truncateSchema = z
  .looseObject({
    operation: z.literal('truncate'),
    maxChars: countSchema.optional().describe('Number of characters to keep.'),
    maxLines: countSchema.optional().describe('Number of lines to keep.'),
    keep: z.enum(['head', 'tail', 'both']).default('both').describe('Which part to keep.'),
    keepErrorLines: z.boolean().default(true).describe('Also keeps lines of a tool result that report an error.'),
  })
  .refine(({ maxChars, maxLines }) => maxChars !== undefined || maxLines !== undefined, {
    message: 'needs maxChars or maxLines, or both',
  })
  .describe('Shortens the content; in parameters, each string separately.');

const summarizeSchema = z
  .looseObject({
    operation: z.literal('summarize'),
    apiProfile: z
      .string()
      .min(1)
      .max(500)
      .optional()
      .describe('ID of the model that summarizes. If omitted, the model chosen for summaries.'),
    maxTokens: z.int().min(16).max(32_000).default(200).describe('Maximum number of tokens in a summary.'),
    customPrompt: z
      .string()
      .max(32_000)
      .default('')
      .describe('Instructions for the model. If empty, the built-in ones.'),
    onFailure: z
      .enum(['truncate', 'keep'])
      .default('truncate')
      .describe('What happens if there is no summary: no model, over budget, or the call failed.'),
  })
  .describe('Replaces the content with a model’s summary.');

const outlineSchema = z
  .looseObject({
    operation: z.literal('outline'),
    coldTurns: z.int().min(0).max(10_000).default(10).describe('Turns since the file was last read or edited.'),
    keepDeclarations: z
      .boolean()
      .default(true)
      .describe('Keeps declarations, too, not only the lines that an edit quoted.'),
    contextLines: z
      .int()
      .min(0)
      .max(1_000)
      .default(2)
      .describe('Number of lines to keep on either side of a quoted one.'),
  })
  .describe('Keeps the declarations of a file that was read, and the lines that an edit quoted.');

const pruneSchema = z
  .looseObject({ operation: z.literal('thin') })
  .describe(
    'Removes, part by part, what is least likely to be needed until the target is met; without a target, nothing. Of the agent’s own words and its subagents’ reports, the oldest are removed, and only if more than half of the calls’ text has to be removed.',
  );

const OPERATION_SCHEMAS = {
  keep: keepSchema,
  suppress: suppressSchema,
  truncate: truncateSchema,
  summarize: summarizeSchema,
  outline: outlineSchema,
  thin: pruneSchema,
} as const satisfies {
  readonly [Name in OperationName]: z.ZodType<{ operation: Name }>;
};

const [, ...otherResultOperations] = Object.values(OPERATION_SCHEMAS);
const [, ...otherOperations] = (Object.keys(OPERATION_SCHEMAS) as OperationName[])
  .filter((name) => getOperationRow(name).onlyResults !== true)
  .map((name) => OPERATION_SCHEMAS[name]);

export const operationSchema = z.discriminatedUnion('operation', [keepSchema, ...otherOperations]);
export const resultOperationSchema = z.discriminatedUnion('operation', [keepSchema, ...otherResultOperations]);

const KEEP_OPERATION = { operation: 'keep' } as const;

export const operationsSchema = z.looseObject({
  messageText: operationSchema.default(KEEP_OPERATION),
  toolParameters: operationSchema.default(KEEP_OPERATION),
  toolResults: resultOperationSchema.default(KEEP_OPERATION),
});

export type ContentOperation = z.output<typeof resultOperationSchema>;
export type OperationNamed<Name extends OperationName> = Extract<ContentOperation, { operation: Name }>;
