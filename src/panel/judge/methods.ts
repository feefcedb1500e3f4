/**
 * Requests that measure providers and presets on stored sessions. Choices that call a model are not
 * measured.
 */
import * as z from 'zod';

const shareEstimateSchema = z.object({ share: z.number(), low: z.number(), high: z.number() });

const judgedSettingsSchema = z.object({
  /**
   * Number of sessions read, and of those in which later edits needed lines from before the
   * simulated condensation.
   */
  read: z.number(),
  sessions: z.number(),
  // Number of lines that those edits needed.
  lines: z.number(),
  choices: z.array(z.object({ id: z.string(), name: z.string() })),
  points: z.array(
    z.object({
      choice: z.string(),
      /** Target as a share of the tokens; absent: the provider removes as much as it can. */
      target: z.number().optional(),
      /** Share of tokens that are left. */
      left: z.number(),
      /**
       * Share of needed lines that are lost, with its interval; absent if no interval can be
       * computed.
       */
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
   * True if Lossless was judged instead of the current provider, which needs a model or another
   * extension.
   */
  isOther: z.boolean(),
});
export type JudgedSettings = z.output<typeof judgedSettingsSchema>;

export const judgeMethods = {
  /** Takes minutes and reports progress. */
  judgeSessions: { params: z.strictObject({}), result: judgedSettingsSchema },
} as const;
