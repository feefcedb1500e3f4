/**
 * Protocol: the preview. Tokens are o200k, money is US dollars, messages are identified by index.
 */
import * as z from 'zod';
import { entryNameSchema } from '../../core/settingValue';
import { EDIT_OUTCOMES } from '../../core/condense/edits/operations';

/** More than any conversation has. */
const MAX_MESSAGES = 200_000;

const text = z.string().max(4_000);
const messageIndex = z.int().min(0).max(MAX_MESSAGES);
const indexes = z.array(messageIndex).max(MAX_MESSAGES);
const count = z.number().min(0);

/** `default`: the chat's conversation, or the sample. */
export const conversationNameSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('default') }),
  z.strictObject({ kind: z.literal('live'), id: text }),
  z.strictObject({ kind: z.literal('file'), path: text }),
]);
export type ConversationName = z.output<typeof conversationNameSchema>;

const configurationSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('current') }),
  z.strictObject({ kind: z.literal('preset'), id: text }),
  z.strictObject({ kind: z.literal('provider'), id: text }),
]);
export type Configuration = z.output<typeof configurationSchema>;

/** Passes being edited in a scope's Smart configuration, for a preview before saving. */
const draftsSchema = z.strictObject({
  /** The setting that contains it. */
  name: z.literal('smart'),
  scope: z.enum(['user', 'workspace']),
  passes: z.array(z.strictObject({ entry: entryNameSchema, pass: z.record(z.string(), z.unknown()) })).max(50),
});
export type PassDrafts = z.output<typeof draftsSchema>;

const figures = {
  tokensBefore: count,
  tokensAfter: count,
  targetTokens: count,
  /** Absent if a price is unknown. */
  cost: z.number().optional(),
  costRange: z.object({ least: z.number(), most: z.number(), endsAtLimit: z.boolean().optional() }).optional(),
  /** Tokens of the calls by kind. */
  callTokens: z.object({ input: count, cacheRead: count, cacheWrite: count, output: count }).optional(),
  /** Absent if nothing is estimated. */
  confidence: z.enum(['high', 'medium', 'low']).optional(),
  /** Calls to a model that would be made. */
  calls: count,
  /** Milliseconds that the preview took. */
  timeMs: z.number(),
};

const cellSchema = z.object({
  role: z.string(),
  outcome: z.enum(EDIT_OUTCOMES),
  tokensBefore: count,
  tokensAfter: count,
  /** The message's beginning, on one line. */
  words: z.string(),
});
export type MessageCell = z.output<typeof cellSchema>;

const stepSchema = z.object({
  name: z.string(),
  tokensBefore: count,
  tokensAfter: count,
  edits: count,
  /** US dollars; absent if a price is unknown. */
  cost: z.number().optional(),
  /** Calls to a model; absent if there are none. */
  calls: count.optional(),
  outcome: z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('done') }),
    z.object({ kind: z.literal('skipped'), reason: z.string() }),
    z.object({ kind: z.literal('failed'), reason: z.string() }),
  ]),
});
export type PreviewStep = z.output<typeof stepSchema>;

const editSchema = z.object({
  message: messageIndex,
  step: z.string(),
  reason: z.string(),
  before: z.string(),
  after: z.string(),
  tokensBefore: count,
  tokensAfter: count,
  /** The replacement would be written by a model. */
  isWritten: z.boolean(),
});
export type EditExcerpt = z.output<typeof editSchema>;

const previewSchema = z.object({
  ...figures,
  conversation: conversationNameSchema,
  /** The bundled sample instead of a user's conversation. */
  isSample: z.boolean(),
  title: z.string(),
  provider: z.string(),
  steps: z.array(stepSchema),
  cells: z.array(cellSchema),
  /** The first ones, of `editCount`. */
  edits: z.array(editSchema),
  editCount: count,
  /** The pins used, and those in the ledger. */
  pinned: z.array(messageIndex),
  savedPins: z.array(messageIndex),
  notes: z.array(z.string()),
});
export type Preview = z.output<typeof previewSchema>;

/**
 * Examples of facts with the same outcome, on one line each, with keys masked; the report limits
 * both.
 */
const examples = z.array(z.string().max(200)).max(20).readonly();

const coherenceOfKind = z.object({
  /** Facts still in the view. */
  kept: count,
  /** Facts recallable through a reference in the view. */
  recallable: count,
  recallableExamples: examples,
  lost: count,
  lostExamples: examples,
});

const coherenceSchema = z.object({
  files: coherenceOfKind,
  errors: coherenceOfKind,
  instructions: coherenceOfKind,
  todos: coherenceOfKind,
});
export type Coherence = z.output<typeof coherenceSchema>;

const comparedSchema = z.object({
  ...figures,
  title: z.string(),
  /** Number of facts, and of lost ones. */
  facts: z.object({ all: count, lost: count }),
  /** Code lines quoted by later edits, and how many of them are in the view or recallable. */
  retention: z.object({ needed: count, verbatim: count, recallable: count }),
});
export type Compared = z.output<typeof comparedSchema>;

const question = {
  conversation: conversationNameSchema,
  /** Absent: the ledger's pins. */
  pinned: indexes.optional(),
  /** Messages that no edit may touch. */
  excluded: indexes,
  /** Absent: the current settings. */
  drafts: draftsSchema.optional(),
};
const nothing = z.null();

const ofPass = {
  conversation: conversationNameSchema,
  /** Its index among the passes. */
  pass: z.int().min(0).max(1_000),
  drafts: draftsSchema,
};

export const previewMethods = {
  /** Lets the user pick one. */
  chooseConversation: {
    params: z.strictObject({}),
    result: z.object({ conversation: conversationNameSchema.optional() }),
  },
  /** The preview of the current settings. No model is called. */
  preview: { params: z.strictObject(question), result: previewSchema },
  /** Which facts would remain in the view. */
  previewCoherence: { params: z.strictObject(question), result: coherenceSchema },
  /** Opens the whole preview in the diff editor. */
  showPreviewDiff: { params: z.strictObject(question), result: nothing },
  /** Messages selected by a pass. */
  previewSelection: {
    params: z.strictObject(ofPass),
    result: z.object({ title: z.string(), taken: z.array(z.boolean()) }),
  },
  /** A pass's removals and cost, after the preceding passes. */
  previewPass: {
    params: z.strictObject(ofPass),
    result: z.object({ title: z.string(), steps: z.array(stepSchema) }),
  },
  compare: {
    params: z.strictObject({ conversation: conversationNameSchema, configuration: configurationSchema }),
    result: comparedSchema,
  },
  /** Replaces the pins in the conversation's ledger. */
  savePins: { params: z.strictObject({ conversation: conversationNameSchema, pinned: indexes }), result: nothing },
  condenseChosen: {
    params: z.strictObject({ conversation: conversationNameSchema, pinned: indexes, excluded: indexes }),
    result: nothing,
  },
  /** The preview is no longer visible. */
  endPreview: { params: z.strictObject({}), result: nothing },
} as const;
