import * as z from 'zod';

/** `current` means the user's settings. */
const comparableSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('current') }),
  z.strictObject({ kind: z.literal('preset'), id: z.string().min(1).max(200) }),
]);
export type Comparable = z.output<typeof comparableSchema>;

const differenceSchema = z.object({
  /** Keys that lead from the pass or configuration to the value. */
  path: z.array(z.string()),
  /** Absent if not set. */
  first: z.unknown().optional(),
  second: z.unknown().optional(),
});
export type Difference = z.output<typeof differenceSchema>;

const placedPassSchema = z.object({
  name: z.string(),
  /** One-based position. */
  position: z.int().min(1),
});

const comparedPassSchema = z.object({
  /** Absent if only the other configuration has the pass. */
  first: placedPassSchema.optional(),
  second: placedPassSchema.optional(),
  /** Empty if only one configuration has the pass. */
  differences: z.array(differenceSchema),
});
export type ComparedPass = z.output<typeof comparedPassSchema>;

const comparedSchema = z.object({
  general: z.array(differenceSchema),
  /** Lists the first configuration's passes in order, then those only in the second. */
  passes: z.array(comparedPassSchema),
});
export type ComparedPresets = z.output<typeof comparedSchema>;

export const presetComparisonMethods = {
  /** Compares both with their defaults. */
  comparePresets: {
    params: z.strictObject({ first: comparableSchema, second: comparableSchema }),
    result: comparedSchema,
  },
} as const;
