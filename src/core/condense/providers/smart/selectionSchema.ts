/** Which messages and contents a pass works on. */
import * as z from 'zod';
import { TOOL_KINDS } from '../../../messages/tools';
import type { ApiMessage } from '../../../messages/types';

const contentType = z.enum(['messageText', 'toolParameters', 'toolResults']);
const names = z.array(z.string().min(1));

/** Which content a custom selection takes: every field that is set must hold. */
const filterSchema = z
  .object({
    roles: z
      .array(z.enum(['user', 'assistant']))
      .optional()
      .describe('The message is of one of these.'),
    contentTypes: z.array(contentType).optional().describe('The content is of one of these types.'),
    tools: names.optional().describe('The call is of one of these tools: names, or globs such as mcp__*.'),
    kinds: z
      .array(z.enum([...TOOL_KINDS, 'other']))
      .optional()
      .describe('What the tool of the call does; `other`: nothing that is known.'),
    files: names.optional().describe('The call works on one of these files: globs such as **/*.md.'),
    isError: z.boolean().optional().describe('The call failed, or did not.'),
    minTokens: z.int().min(0).optional().describe('The content has at least so many tokens.'),
    age: z
      .object({
        min: z.int().min(0).optional().describe('At least so many messages are newer.'),
        max: z.int().min(0).optional().describe('At most so many messages are newer.'),
      })
      .strict()
      .optional()
      .describe('How old the message is.'),
    contains: z.string().min(1).optional().describe('The content holds this text, whatever its case.'),
    get and(): z.ZodOptional<z.ZodArray<typeof filterSchema>> {
      return z.array(filterSchema).optional().describe('All of these hold.');
    },
    get or(): z.ZodOptional<z.ZodArray<typeof filterSchema>> {
      return z.array(filterSchema).optional().describe('At least one of these holds.');
    },
    get not(): z.ZodOptional<typeof filterSchema> {
      return filterSchema.optional().describe('This does not hold.');
    },
  })
  .strict();

/** Which messages a pass may touch, for users of the API. */
export type Selector = (message: ApiMessage, index: number, messages: readonly ApiMessage[]) => boolean;

const selector = z.custom<Selector>((value) => typeof value === 'function', { message: 'is not a function' });

export const selection = z.discriminatedUnion('type', [
  z
    .looseObject({
      type: z.literal('preserve_recent'),
      count: z.int().min(0).max(1_000_000).describe('How many of the newest messages are left alone.'),
    })
    .describe('All but the newest messages.'),
  z
    .looseObject({
      type: z.literal('preserve_percent'),
      percentage: z.number().min(0).max(100).describe('Share of the messages, the newest, that is left alone.'),
    })
    .describe('All but a share of the messages, the newest.'),
  z
    .looseObject({
      type: z.literal('custom'),
      filter: filterSchema.optional().describe('Which content.'),
      selector: selector.optional().describe('The same as a function; for users of the API.'),
    })
    .refine((value) => value.filter !== undefined || value.selector !== undefined, { message: 'needs a filter' })
    .describe('The content that a filter takes.'),
]);

export type Selection = z.output<typeof selection>;
export type Filter = z.output<typeof filterSchema>;
