/**
 * The configuration of the Smart provider: data that is stored, shared and edited. Field names are those of the
 * pass-based architecture where it has them. Fields that this version doesn't know are kept, but for filters and
 * conditions: to overlook one of theirs would take out more than was asked.
 */
import { z } from 'zod';
import { TOOL_KINDS } from '../../../messages/tools';
import type { ApiMessage } from '../../../messages/types';
import { conditionSchema } from '../../condition';
import { promptProblems } from '../../summary/prompt';
import { losslessConfigSchema } from '../lossless';

const count = z.int().min(1).max(1_000_000);
const percent = z.number().min(0).max(100);
const names = z.array(z.string().min(1));
const contentType = z.enum(['messageText', 'toolParameters', 'toolResults']);

const customPrompt = z.string().superRefine((prompt, context) => {
  for (const { message } of promptProblems(prompt)) context.addIssue({ code: 'custom', message });
});

const keep = z.looseObject({ operation: z.literal('keep') }).describe('Leaves the content as it is.');

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
    'Takes out, part by part, what the conversation is least about, until the target is met; without a target nothing.',
  );

const operation = z.discriminatedUnion('operation', [keep, suppress, truncate, summarize, thin]);
const resultOperation = z.discriminatedUnion('operation', [keep, suppress, truncate, summarize, outline, thin]);

const KEEP = { operation: 'keep' } as const;

const operations = z.looseObject({
  messageText: operation.default(KEEP),
  toolParameters: operation.default(KEEP),
  toolResults: resultOperation.default(KEEP),
});

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

const selection = z.discriminatedUnion('type', [
  z
    .looseObject({
      type: z.literal('preserve_recent'),
      count: z.int().min(0).max(1_000_000).describe('How many of the newest messages are left alone.'),
    })
    .describe('All but the newest messages.'),
  z
    .looseObject({
      type: z.literal('preserve_percent'),
      percentage: percent.describe('Share of the messages, the newest, that is left alone.'),
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

/** What no lossy operation touches. */
const protection = z.looseObject({
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

const pass = z.discriminatedUnion('mode', [
  z.looseObject({ ...passBase, mode: z.literal('individual'), individualConfig: individualConfig.prefault({}) }),
  z.looseObject({ ...passBase, mode: z.literal('batch'), batchConfig }),
]);

/** What happens to old blocks that are not text. */
const oldBlocks = z.looseObject({
  operation: z.enum(['keep', 'suppress']).default('keep'),
  keepRecent: z.int().min(0).max(1_000_000).default(10).describe('How many of the newest messages keep theirs.'),
});

export const SMART_CONFIG_VERSION = 1;

export const smartConfigSchema = z
  .looseObject({
    version: z.literal(SMART_CONFIG_VERSION).default(SMART_CONFIG_VERSION),
    losslessPrelude: z
      .looseObject({
        enabled: z.boolean().default(true),
        operations: losslessConfigSchema.loose().prefault({}).describe('The settings of the Lossless provider.'),
      })
      .prefault({})
      .describe('What stands twice goes first; it costs nothing and loses nothing.'),
    passes: z.array(pass).max(50).default([]).describe('Run in this order until the target is met.'),
    protect: protection
      .extend({
        userMessages: z
          .boolean()
          .default(true)
          .describe(
            'What a person wrote is never shortened by a pass on messages one by one, and stands word for word behind a summary of several.',
          ),
      })
      .prefault({})
      .describe(
        'What every pass leaves alone; the task, pinned messages and the last to-do list are always left alone.',
      ),
    thinking: oldBlocks.prefault({}).describe("What happens to the model's old thinking."),
    images: oldBlocks.prefault({}).describe('What happens to old images.'),
    parallelCalls: z.int().min(1).max(16).default(4).describe('Calls to a model at the same time.'),
    coherenceFloor: z
      .looseObject({
        files: percent.optional(),
        errors: percent.optional(),
        instructions: percent.optional(),
        todos: percent.optional(),
      })
      .default({})
      .describe('Share of each that must still stand in the view, in percent; a pass that goes under it is dropped.'),
  })
  .superRefine(({ passes }, context) => {
    const seen = new Set<string>();
    passes.forEach(({ id }, index) => {
      if (seen.has(id))
        context.addIssue({
          code: 'custom',
          path: ['passes', index, 'id'],
          message: `"${id}" is the id of an earlier pass`,
        });
      seen.add(id);
    });
  });

/** Settings of the Smart provider with all defaults filled in. */
export type SmartConfig = z.output<typeof smartConfigSchema>;
/** The same as it is written: what is absent takes its default. */
export type SmartConfigInput = z.input<typeof smartConfigSchema>;

export type Pass = SmartConfig['passes'][number];
export type IndividualPass = Extract<Pass, { mode: 'individual' }>;
export type BatchPass = Extract<Pass, { mode: 'batch' }>;
export type Selection = Pass['selection'];
export type Filter = z.output<typeof filterSchema>;
export type Protection = z.output<typeof protection>;
export type ContentOperation = z.output<typeof resultOperation>;
export type Operation<Kind extends ContentOperation['operation']> = Extract<ContentOperation, { operation: Kind }>;
