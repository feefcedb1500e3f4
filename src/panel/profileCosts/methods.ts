/** The cost of condensing one conversation with each profile. Tokens are o200k, money is US dollars. */
import * as z from 'zod';
import { conversationNameSchema } from '../preview/methods';

const profileCostSchema = z.object({
  /** Of the profile. */
  id: z.string(),
  name: z.string(),
  model: z.string(),
  estimate: z.union([
    z.object({
      tokensAfter: z.number(),
      /** Absent where the price is not known. */
      cost: z.number().optional(),
      /** The saving in each later request of the conversation's own model. */
      savedPerRequest: z.number().optional(),
      /** Requests after which it has paid for itself; absent: never, or nobody knows. */
      breakEvenRequests: z.number().optional(),
    }),
    /** Why the profile can't be used. */
    z.object({ problem: z.string() }),
  ]),
});
export type ProfileCost = z.output<typeof profileCostSchema>;

const comparisonSchema = z.object({
  conversation: conversationNameSchema,
  title: z.string(),
  tokens: z.number(),
  /** The conversation's own, where its file tells. */
  model: z.string().optional(),
  profiles: z.array(profileCostSchema),
  /** Id of the profile to choose. */
  recommended: z.string().optional(),
});
export type ProfileComparison = z.output<typeof comparisonSchema>;

export const profileCostMethods = {
  compareProfiles: { params: z.strictObject({ conversation: conversationNameSchema }), result: comparisonSchema },
} as const;
