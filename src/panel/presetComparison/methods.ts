/** The webview's requests about the differences of two configurations of the Smart provider. */
import * as z from 'zod';

/** `current`: what the settings hold. */
const comparableSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('current') }),
  z.strictObject({ kind: z.literal('preset'), id: z.string().min(1).max(200) }),
]);
export type Comparable = z.output<typeof comparableSchema>;

const differenceSchema = z.object({
  /** Keys from the pass, or from the configuration, down to the value. */
  path: z.array(z.string()),
  /** Absent: it is not set there. */
  first: z.unknown().optional(),
  second: z.unknown().optional(),
});
export type Difference = z.output<typeof differenceSchema>;

const placedPassSchema = z.object({
  name: z.string(),
  /** From 1. */
  position: z.int().min(1),
});

const comparedPassSchema = z.object({
  /** Absent: only the other configuration has this pass. */
  first: placedPassSchema.optional(),
  second: placedPassSchema.optional(),
  /** None where only one of them has it. */
  differences: z.array(differenceSchema),
});
export type ComparedPass = z.output<typeof comparedPassSchema>;

const comparedSchema = z.object({
  /** Differences that concern no single pass. */
  general: z.array(differenceSchema),
  /** All passes, in the order of the first configuration; those that only the second has come last. */
  passes: z.array(comparedPassSchema),
});
export type ComparedPresets = z.output<typeof comparedSchema>;

export const presetComparisonMethods = {
  /** Both with their defaults filled in. */
  comparePresets: {
    params: z.strictObject({ first: comparableSchema, second: comparableSchema }),
    result: comparedSchema,
  },
} as const;
