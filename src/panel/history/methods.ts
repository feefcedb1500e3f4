/** Tokens are o200k tokens, times milliseconds, costs US dollars. */
import * as z from 'zod';

const idSchema = z.string().min(1).max(500);

const condensationKeyFields = { place: z.enum(['stored', 'live']), conversation: idSchema, condensation: idSchema };

const historyEntrySchema = z.object({
  ...condensationKeyFields,
  title: z.string(),
  path: z.string().optional(),
  /** Time of the condensation, ISO 8601. */
  at: z.string(),
  provider: z.string(),
  preset: z.string().optional(),
  passes: z.array(z.object({ name: z.string(), tokensBefore: z.number(), tokensAfter: z.number() })),
  tokensBefore: z.number(),
  tokensAfter: z.number(),
  timeMs: z.number(),
  cost: z.number().optional(),
  /** How the agent later requested removed content. */
  use: z
    .object({
      turns: z.number(),
      rereads: z.number(),
      recalls: z.number(),
      failedEdits: z.number(),
      expected: z.number(),
    })
    .optional(),
  /** Number of times that the agent reread lines removed from new results. */
  rereads: z.number().optional(),
  savedPerRequest: z.number().optional(),
  isInUse: z.boolean(),
  /** True if the conversation's file no longer exists. */
  isGone: z.boolean().optional(),
  isFallback: z.boolean(),
  state: z.enum(['shown', 'undone', 'replaced']),
  change: z.enum(['undo', 'redo']).optional(),
});
export type HistoryEntry = z.output<typeof historyEntrySchema>;

const runWithoutEffectSchema = z.object({
  at: z.string(),
  provider: z.string(),
  outcome: z.enum(['unchanged', 'refused', 'cancelled', 'failed']),
  reason: z.string().optional(),
  timeMs: z.number(),
  cost: z.number().optional(),
});
export type RunWithoutEffect = z.output<typeof runWithoutEffectSchema>;

const runGroupSchema = z.object({
  /** Name of the profile whose runs these are; empty for runs without a model. */
  key: z.string(),
  runs: z.number(),
  condensed: z.number(),
  failures: z.number(),
  fallbacks: z.number(),
  tokensBefore: z.number(),
  tokensSaved: z.number(),
  cost: z.number(),
  savedPerRequest: z.number().optional(),
  latencyMs: z.number().optional(),
  estimateErrorPercent: z.number().optional(),
});
export type RunGroup = z.output<typeof runGroupSchema>;

const recommendationFields = {
  /** Number of runs on which the recommendation is based. */
  from: z.number(),
  saving: z.object({ dollars: z.number(), tokens: z.number(), runs: z.number() }),
};
const recommendationSchema = z.discriminatedUnion('kind', [
  z.object({ ...recommendationFields, kind: z.literal('profile'), profile: z.string() }),
  z.object({
    ...recommendationFields,
    kind: z.literal('configuration'),
    provider: z.string(),
    preset: z.string().optional(),
  }),
  z.object({ ...recommendationFields, kind: z.literal('threshold'), percent: z.number() }),
]);
export type Recommendation = z.output<typeof recommendationSchema>;

const historySchema = z.object({
  /** The newest entries, newest first. */
  entries: z.array(historyEntrySchema),
  total: z.number(),
  /** Sums over all entries, also those not listed. An undone condensation saves nothing. */
  sums: z.object({ tokensSaved: z.number(), savedPerRequest: z.number().optional(), timeMs: z.number() }),
  /** The newest runs without effect, newest first. */
  emptyRuns: z.array(runWithoutEffectSchema),
  groups: z.array(runGroupSchema),
  recommendations: z.array(recommendationSchema),
});
export type History = z.output<typeof historySchema>;

export const historyMethods = {
  history: { params: z.strictObject({}), result: historySchema },
  setUndone: { params: z.strictObject({ ...condensationKeyFields, isUndone: z.boolean() }), result: z.null() },
  showCondensation: { params: z.strictObject(condensationKeyFields), result: z.null() },
  /** Writes the history to a file that the user chooses. */
  exportHistory: {
    params: z.strictObject({ format: z.enum(['json', 'csv']) }),
    result: z.object({ written: z.boolean() }),
  },
  /** Deletes this part of the history if the user confirms. */
  clearHistory: {
    params: z.strictObject({ part: z.enum(['metrics', 'ledgers']) }),
    result: z.object({ removed: z.boolean() }),
  },
} as const;
