/** Compares only choices that call no model. */
import * as z from 'zod';

const shareEstimateSchema = z.object({ share: z.number(), low: z.number(), high: z.number() });

const judgedSettingsSchema = z.object({
  /** Number of sessions read, and of sessions whose edits needed something from before a cut. */
  read: z.number(),
  sessions: z.number(),
  // Number of lines that the edits needed.
  lines: z.number(),
  choices: z.array(z.object({ id: z.string(), name: z.string() })),
  points: z.array(
    z.object({
      choice: z.string(),
      /** Target share of the tokens; absent: as far as the provider goes. */
      target: z.number().optional(),
      /** Share of tokens left. */
      left: z.number(),
      /** Share of needed lines lost; without an interval if it can't be computed. */
      lost: shareEstimateSchema.optional(),
      lostShare: z.number(),
    }),
  ),
  verdict: z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('too-little') }),
    z.object({ kind: z.literal('keep') }),
    z.object({
      kind: z.literal('change'),
      choice: z.string(),
      target: z.number().optional(),
      difference: shareEstimateSchema,
    }),
  ]),
  /**
   * True if Lossless was evaluated, because the current provider needs a model or another
   * extension.
   */
  isOther: z.boolean(),
});
export type JudgedSettings = z.output<typeof judgedSettingsSchema>;

export const judgeMethods = {
  /** Takes minutes; reports its progress. */
  judgeSessions: { params: z.strictObject({}), result: judgedSettingsSchema },
} as const;
