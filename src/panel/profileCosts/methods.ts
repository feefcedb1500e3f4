/** Tokens are o200k, money is US dollars. */
import * as z from 'zod';
import { previewedConversationNameSchema } from '../preview/methods';

const profileCostSchema = z.object({
  id: z.string(),
  name: z.string(),
  model: z.string(),
  estimate: z.union([
    z.object({
      tokensAfter: z.number(),
      /** Cost of the condensation in US dollars; absent if a price is unknown. */
      cost: z.number().optional(),
      /** US dollars by which each later request to the conversation's own model becomes cheaper. */
      savedPerRequest: z.number().optional(),
      /**
       * Number of requests after which the condensation has paid for itself; absent: never or
       * unknown.
       */
      breakEvenRequests: z.number().optional(),
    }),
    /** Why the profile can't be used. */
    z.object({ problem: z.string() }),
  ]),
});
export type ProfileCost = z.output<typeof profileCostSchema>;

const profileComparisonSchema = z.object({
  conversation: previewedConversationNameSchema,
  title: z.string(),
  tokens: z.number(),
  /** The conversation's model, if its file names it. */
  model: z.string().optional(),
  profiles: z.array(profileCostSchema),
  /** ID of the recommended profile. */
  recommended: z.string().optional(),
});
export type ProfileComparison = z.output<typeof profileComparisonSchema>;

export const profileCostMethods = {
  compareProfiles: {
    params: z.strictObject({ conversation: previewedConversationNameSchema }),
    result: profileComparisonSchema,
  },
} as const;
