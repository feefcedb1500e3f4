/** The schemas of operations that a pass may run on a content. */
import * as z from 'zod';
import { operationRow, type OperationName } from '../../operations/operations';

const count = z.int().min(1).max(1_000_000);

export const keep = z.looseObject({ operation: z.literal('keep') }).describe('Leaves the content as it is.');

const suppress = z
  .looseObject({
    operation: z.literal('suppress'),
    marker: z.string().min(1).max(200).optional().describe('What the marker in its place says.'),
  })
  .describe('Puts a marker in place of the content.');

const truncate = z
  .looseObject({
    operation: z.literal('truncate'),
    maxChars: count.optional().describe('Characters that stay.'),
    maxLines: count.optional().describe('Lines that stay.'),
    keep: z.enum(['head', 'tail', 'both']).default('both').describe('Which part stays.'),
    keepErrorLines: z.boolean().default(true).describe('Lines of a tool result that tell of an error stay, too.'),
  })
  .refine(({ maxChars, maxLines }) => maxChars !== undefined || maxLines !== undefined, {
    message: 'needs maxChars or maxLines, or both',
  })
  .describe('Shortens the content; strings inside parameters one by one.');

const summarize = z
  .looseObject({
    operation: z.literal('summarize'),
    apiProfile: z.string().min(1).optional().describe('API profile to summarize with; absent: the one for condensing.'),
    maxTokens: z.int().min(16).max(32_000).default(200).describe('Tokens that a summary has at most.'),
    customPrompt: z
      .string()
      .max(32_000)
      .default('')
      .describe('What the model is told in place of the built-in instructions; empty: those.'),
    onFailure: z
      .enum(['truncate', 'keep'])
      .default('truncate')
      .describe('What happens where there is no summary: no model, over the budget, or the call failed.'),
  })
  .describe('Puts a summary by a model in place of the content.');

const outline = z
  .looseObject({
    operation: z.literal('outline'),
    coldTurns: z.int().min(0).max(10_000).default(10).describe('Turns since the file was last read or edited.'),
    keepDeclarations: z.boolean().default(true).describe('False: only the lines that an edit quoted stay.'),
    contextLines: z.int().min(0).max(1_000).default(2).describe('Lines that stay on either side of a quoted one.'),
  })
  .describe('Keeps the declarations of a file that was read, and the lines that an edit quoted.');

const thin = z
  .looseObject({ operation: z.literal('thin') })
  .describe(
    'Takes out, part by part, what is least likely to be needed, until the target is met; without a target nothing. Of the agent’s own words and its subagents’ reports the oldest go, and only where more than half of the calls’ text has to go.',
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

/** An operation for each type of content. */
export const operations = z.looseObject({
  messageText: operation.default(KEEP),
  toolParameters: operation.default(KEEP),
  toolResults: resultOperation.default(KEEP),
});

export type ContentOperation = z.output<typeof resultOperation>;
export type Operation<Name extends OperationName> = Extract<ContentOperation, { operation: Name }>;
