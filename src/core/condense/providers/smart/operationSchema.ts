/** Schemas of the operations that a pass may run on a content. */
import * as z from 'zod';
import { operationRow, type OperationName } from '../../edits/operations';

const count = z.int().min(1).max(1_000_000);

export const keep = z.looseObject({ operation: z.literal('keep') }).describe('Leaves the content as it is.');

const suppress = z
  .looseObject({
    operation: z.literal('suppress'),
    marker: z
      .string()
      .min(1)
      .max(200)
      // Agents read it, so it must be one line without invisible characters.
      .refine((text) => !/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(text), {
        message: 'must be one line of visible characters',
      })
      .optional()
      .describe('Text of the marker that replaces it.'),
  })
  .describe('Replaces the content with a marker.');

const truncate = z
  .looseObject({
    operation: z.literal('truncate'),
    maxChars: count.optional().describe('Number of characters to keep.'),
    maxLines: count.optional().describe('Number of lines to keep.'),
    keep: z.enum(['head', 'tail', 'both']).default('both').describe('Which part to keep.'),
    keepErrorLines: z.boolean().default(true).describe('Also keeps lines of a tool result that report an error.'),
  })
  .refine(({ maxChars, maxLines }) => maxChars !== undefined || maxLines !== undefined, {
    message: 'needs maxChars or maxLines, or both',
  })
  .describe('Shortens the content; in parameters, each string separately.');

const summarize = z
  .looseObject({
    operation: z.literal('summarize'),
    apiProfile: z
      .string()
      .min(1)
      .max(500)
      .optional()
      .describe('Model that summarizes, by the ID of its API profile. If omitted, the model chosen for summaries.'),
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
  .describe("Replaces the content with a model's summary.");

const outline = z
  .looseObject({
    operation: z.literal('outline'),
    coldTurns: z.int().min(0).max(10_000).default(10).describe('Turns since the file was last read or edited.'),
    keepDeclarations: z.boolean().default(true).describe('If false, only the lines that an edit quoted are kept.'),
    contextLines: z
      .int()
      .min(0)
      .max(1_000)
      .default(2)
      .describe('Number of lines to keep on either side of a quoted one.'),
  })
  .describe('Keeps the declarations of a file that was read, and the lines that an edit quoted.');

const thin = z
  .looseObject({ operation: z.literal('thin') })
  .describe(
    'Removes, part by part, what is least likely to be needed until the target is met; without a target, nothing. Of the agent’s own words and its subagents’ reports, the oldest are removed, and only if more than half of the calls’ text has to be removed.',
  );

const SCHEMAS = { keep, suppress, truncate, summarize, outline, thin } as const satisfies {
  readonly [Name in OperationName]: z.ZodType<{ operation: Name }>;
};

const [, ...others] = Object.values(SCHEMAS);
const [, ...forAnyContent] = (Object.keys(SCHEMAS) as OperationName[])
  .filter((name) => operationRow(name).onlyResults !== true)
  .map((name) => SCHEMAS[name]);

export const operation = z.discriminatedUnion('operation', [keep, ...forAnyContent]);
export const resultOperation = z.discriminatedUnion('operation', [keep, ...others]);

const KEEP = { operation: 'keep' } as const;

/** An operation for each content type. */
export const operations = z.looseObject({
  messageText: operation.default(KEEP),
  toolParameters: operation.default(KEEP),
  toolResults: resultOperation.default(KEEP),
});

export type ContentOperation = z.output<typeof resultOperation>;
export type Operation<Name extends OperationName> = Extract<ContentOperation, { operation: Name }>;
