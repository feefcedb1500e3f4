/** Today's settings and each preset that needs no model, judged by the user's own stored conversations. */
import * as z from 'zod';

const estimate = z.object({ share: z.number(), low: z.number(), high: z.number() });

const judgedSchema = z.object({
  /** Those that were read, and those in which edits needed something from before a cut. */
  read: z.number(),
  sessions: z.number(),
  /** Needed lines. */
  lines: z.number(),
  choices: z.array(z.object({ id: z.string(), name: z.string() })),
  points: z.array(
    z.object({
      choice: z.string(),
      /** Share of the tokens that might stay; absent: as far as the provider goes. */
      target: z.number().optional(),
      /** Share of the tokens that stayed. */
      left: z.number(),
      /** Share of the needed lines; no interval where it can't be told. */
      lost: estimate.optional(),
      lostShare: z.number(),
    }),
  ),
  verdict: z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('too-little') }),
    z.object({ kind: z.literal('keep') }),
    z.object({ kind: z.literal('change'), choice: z.string(), target: z.number().optional(), difference: estimate }),
  ]),
  /** Today's provider needs a model or another extension: Lossless was judged in its place. */
  isOther: z.boolean(),
});
export type JudgedSettings = z.output<typeof judgedSchema>;

export const judgeMethods = {
  /** Absent: the user cancelled it. */
  judgeSessions: { params: z.strictObject({}), result: z.object({ judged: judgedSchema.optional() }) },
} as const;
