/** Tokens are o200k, money is US dollars, and indexes identify messages. */
import * as z from 'zod';
import { entryNameSchema } from '../../core/settingValue';
import { EDIT_OUTCOMES } from '../../core/condense/edits/operations';

/** Upper limit for messages; no conversation has as many. */
const MAX_PREVIEW_MESSAGES = 200_000;

const textSchema = z.string().max(4_000);
const messageIndexSchema = z.int().min(0).max(MAX_PREVIEW_MESSAGES);
const indexesSchema = z.array(messageIndexSchema).max(MAX_PREVIEW_MESSAGES);
const countSchema = z.number().min(0);

/** The conversation to preview. `default`: the chat's conversation, or else the sample. */
export const previewedConversationNameSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('default') }),
  z.strictObject({ kind: z.literal('live'), id: textSchema }),
  z.strictObject({ kind: z.literal('file'), path: textSchema }),
]);
export type PreviewedConversationName = z.output<typeof previewedConversationNameSchema>;

const configurationSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('current') }),
  z.strictObject({ kind: z.literal('preset'), id: textSchema }),
  z.strictObject({ kind: z.literal('provider'), id: textSchema }),
]);
export type ComparedConfigurationName = z.output<typeof configurationSchema>;

/** Passes that the user has changed in a scope and not applied. */
const passDraftsSchema = z.strictObject({
  name: z.literal('smart'),
  scope: z.enum(['user', 'workspace']),
  passes: z.array(z.strictObject({ entry: entryNameSchema, pass: z.record(z.string(), z.unknown()) })).max(50),
});
export type PassDrafts = z.output<typeof passDraftsSchema>;

const previewFigureFields = {
  tokensBefore: countSchema,
  tokensAfter: countSchema,
  targetTokens: countSchema,
  /** Absent if a price is unknown. */
  cost: z.number().optional(),
  costRange: z.object({ least: z.number(), most: z.number(), endsAtLimit: z.boolean().optional() }).optional(),
  callTokens: z
    .object({ input: countSchema, cacheRead: countSchema, cacheWrite: countSchema, output: countSchema })
    .optional(),
  /** How certain the estimate is; absent if nothing is estimated. */
  confidence: z.enum(['high', 'medium', 'low']).optional(),
  /** Number of model calls that would be made. */
  calls: countSchema,
  /** Milliseconds that the preview took. */
  timeMs: z.number(),
};

const messageCellSchema = z.object({
  role: z.string(),
  outcome: z.enum(EDIT_OUTCOMES),
  tokensBefore: countSchema,
  tokensAfter: countSchema,
  /** The message's beginning, on one line. */
  words: z.string(),
});
export type MessageCell = z.output<typeof messageCellSchema>;

const previewStepSchema = z.object({
  name: z.string(),
  tokensBefore: countSchema,
  tokensAfter: countSchema,
  edits: countSchema,
  /** Absent if a price is unknown. */
  cost: z.number().optional(),
  /** Number of model calls; absent if there are none. */
  calls: countSchema.optional(),
  outcome: z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('done') }),
    z.object({ kind: z.literal('skipped'), reason: z.string() }),
    z.object({ kind: z.literal('failed'), reason: z.string() }),
  ]),
});
export type PreviewStep = z.output<typeof previewStepSchema>;

const editExcerptSchema = z.object({
  message: messageIndexSchema,
  step: z.string(),
  reason: z.string(),
  before: z.string(),
  after: z.string(),
  tokensBefore: countSchema,
  tokensAfter: countSchema,
  /** True if a model would write the replacement. */
  isWritten: z.boolean(),
});
export type EditExcerpt = z.output<typeof editExcerptSchema>;

const previewSchema = z.object({
  ...previewFigureFields,
  conversation: previewedConversationNameSchema,
  /** True for the bundled sample. */
  isSample: z.boolean(),
  title: z.string(),
  provider: z.string(),
  steps: z.array(previewStepSchema),
  cells: z.array(messageCellSchema),
  /** The first edits; `editCount` is the number of all edits. */
  edits: z.array(editExcerptSchema),
  editCount: countSchema,
  /** Messages pinned in this preview, and messages pinned in the ledger. */
  pinned: z.array(messageIndexSchema),
  savedPins: z.array(messageIndexSchema),
  notes: z.array(z.string()),
});
export type Preview = z.output<typeof previewSchema>;

/**
 * Examples of facts with the same outcome, with keys masked. The report limits their number and
 * length.
 */
const examplesSchema = z.array(z.string().max(200)).max(20).readonly();

const coherenceOfKindSchema = z.object({
  /** Number of facts still in the view. */
  kept: countSchema,
  /** Number of facts recallable through a reference in the view. */
  recallable: countSchema,
  recallableExamples: examplesSchema,
  lost: countSchema,
  lostExamples: examplesSchema,
});

const coherenceSchema = z.object({
  files: coherenceOfKindSchema,
  errors: coherenceOfKindSchema,
  instructions: coherenceOfKindSchema,
  todos: coherenceOfKindSchema,
});
export type Coherence = z.output<typeof coherenceSchema>;

const comparedConfigurationSchema = z.object({
  ...previewFigureFields,
  title: z.string(),
  /** Number of all facts, and of those lost. */
  facts: z.object({ all: countSchema, lost: countSchema }),
  /**
   * Number of code lines quoted by later edits, and how many of them are in the view or recallable.
   */
  retention: z.object({ needed: countSchema, verbatim: countSchema, recallable: countSchema }),
});
export type ComparedConfiguration = z.output<typeof comparedConfigurationSchema>;

const previewQuestionFields = {
  conversation: previewedConversationNameSchema,
  /** Messages to pin; if absent, those pinned in the ledger. */
  pinned: indexesSchema.optional(),
  /** Messages that no edit may touch. */
  excluded: indexesSchema,
  /** Unapplied passes to try; if absent, the saved settings apply. */
  drafts: passDraftsSchema.optional(),
};
const nothingSchema = z.null();

const passQuestionFields = {
  conversation: previewedConversationNameSchema,
  pass: z.int().min(0).max(1_000),
  drafts: passDraftsSchema,
};

export const previewMethods = {
  chooseConversation: {
    params: z.strictObject({}),
    result: z.object({ conversation: previewedConversationNameSchema.optional() }),
  },
  /** Previews the condensation without calling a model. */
  preview: { params: z.strictObject(previewQuestionFields), result: previewSchema },
  previewCoherence: { params: z.strictObject(previewQuestionFields), result: coherenceSchema },
  showPreviewDiff: { params: z.strictObject(previewQuestionFields), result: nothingSchema },
  previewSelection: {
    params: z.strictObject(passQuestionFields),
    result: z.object({ title: z.string(), taken: z.array(z.boolean()) }),
  },
  /** What one pass would remove and cost, after the passes before it. */
  previewPass: {
    params: z.strictObject(passQuestionFields),
    result: z.object({ title: z.string(), steps: z.array(previewStepSchema) }),
  },
  compare: {
    params: z.strictObject({ conversation: previewedConversationNameSchema, configuration: configurationSchema }),
    result: comparedConfigurationSchema,
  },
  /** Replaces the pins in the conversation's ledger. */
  savePins: {
    params: z.strictObject({ conversation: previewedConversationNameSchema, pinned: indexesSchema }),
    result: nothingSchema,
  },
  condenseChosen: {
    params: z.strictObject({
      conversation: previewedConversationNameSchema,
      pinned: indexesSchema,
      excluded: indexesSchema,
    }),
    result: nothingSchema,
  },
  /** Sent when the preview is no longer visible. */
  endPreview: { params: z.strictObject({}), result: nothingSchema },
} as const;
