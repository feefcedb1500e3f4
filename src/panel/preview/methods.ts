/** The webview's requests to the preview. Tokens are o200k, money is US dollars, messages are named by their index. */
import * as z from 'zod';
import { entryNameSchema } from '../../core/settingValue';
import { EDIT_OUTCOMES } from '../../core/condense/edits/operations';

/** More messages than a conversation has. */
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

/** Passes as they are being edited, in the Smart configuration of a scope: tried before they count. */
const draftsSchema = z.strictObject({
  /** The setting that holds it. */
  name: z.literal('smart'),
  scope: z.enum(['user', 'workspace']),
  passes: z.array(z.strictObject({ entry: entryNameSchema, pass: z.record(z.string(), z.unknown()) })).max(50),
});
export type PassDrafts = z.output<typeof draftsSchema>;

const figures = {
  tokensBefore: count,
  tokensAfter: count,
  targetTokens: count,
  /** Absent where a price is not known. */
  cost: z.number().optional(),
  costRange: z.object({ least: z.number(), most: z.number(), endsAtLimit: z.boolean().optional() }).optional(),
  /** Tokens of the calls by kind. */
  callTokens: z.object({ input: count, cacheRead: count, cacheWrite: count, output: count }).optional(),
  /** Absent where nothing is guessed. */
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
  /** US dollars; absent where a price is not known. */
  cost: z.number().optional(),
  /** Calls to a model; absent where there are none. */
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
  /** A model would write what stands there afterwards. */
  isWritten: z.boolean(),
});
export type EditExcerpt = z.output<typeof editSchema>;

const previewSchema = z.object({
  ...figures,
  conversation: conversationNameSchema,
  /** It is the one that comes with the extension, and none of the user's. */
  isSample: z.boolean(),
  title: z.string(),
  provider: z.string(),
  steps: z.array(stepSchema),
  cells: z.array(cellSchema),
  /** The first ones, of `editCount`. */
  edits: z.array(editSchema),
  editCount: count,
  /** The pins that it was made with, and those that the ledger holds. */
  pinned: z.array(messageIndex),
  savedPins: z.array(messageIndex),
  notes: z.array(z.string()),
});
export type Preview = z.output<typeof previewSchema>;

/** Some of the facts that became of the same, each on one line, keys masked; the report bounds both. */
const examples = z.array(z.string().max(200)).max(20).readonly();

const coherenceOfKind = z.object({
  /** Facts that would still stand in the view. */
  kept: count,
  /** Those that could be had back by a reference in the view. */
  recallable: count,
  recallableExamples: examples,
  lost: count,
  lostExamples: examples,
});

/** By kind of fact. */
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
  /** Facts of the conversation, of all kinds, and how many of them would be lost. */
  facts: z.object({ all: count, lost: count }),
  /** Code lines that the conversation's later edits quoted; how many of them the view holds, and can recall. */
  retention: z.object({ needed: count, verbatim: count, recallable: count }),
});
export type Compared = z.output<typeof comparedSchema>;

const question = {
  conversation: conversationNameSchema,
  /** Absent: those that the ledger pins. */
  pinned: indexes.optional(),
  /** Messages that no edit is to touch. */
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
  /** Which facts of the conversation it would leave in the view. */
  previewCoherence: { params: z.strictObject(question), result: coherenceSchema },
  /** Opens the whole of it in the diff editor. */
  showPreviewDiff: { params: z.strictObject(question), result: nothing },
  /** Which messages a pass looks at. */
  previewSelection: {
    params: z.strictObject(ofPass),
    result: z.object({ title: z.string(), taken: z.array(z.boolean()) }),
  },
  /** A pass's removals and their cost, after those before it have run. */
  previewPass: {
    params: z.strictObject(ofPass),
    result: z.object({ title: z.string(), steps: z.array(stepSchema) }),
  },
  compare: {
    params: z.strictObject({ conversation: conversationNameSchema, configuration: configurationSchema }),
    result: comparedSchema,
  },
  /** Pins these messages and no others, in the conversation's ledger. */
  savePins: { params: z.strictObject({ conversation: conversationNameSchema, pinned: indexes }), result: nothing },
  condenseChosen: {
    params: z.strictObject({ conversation: conversationNameSchema, pinned: indexes, excluded: indexes }),
    result: nothing,
  },
  /** Nobody looks at it any more. */
  endPreview: { params: z.strictObject({}), result: nothing },
} as const;
