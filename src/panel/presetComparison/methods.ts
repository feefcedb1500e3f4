import * as z from 'zod';

/** A configuration to compare. `current` means the user's settings. */
const comparableConfigurationSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('current') }),
  z.strictObject({ kind: z.literal('preset'), id: z.string().min(1).max(200) }),
]);
export type ComparableConfiguration = z.output<typeof comparableConfigurationSchema>;

const configDifferenceSchema = z.object({
  /** Keys that lead from the pass or configuration to the value. */
  path: z.array(z.string()),
  /** The first configuration's value; absent if not set. */
  first: z.unknown().optional(),
  second: z.unknown().optional(),
});
export type ConfigDifference = z.output<typeof configDifferenceSchema>;

const passWithPositionSchema = z.object({
  name: z.string(),
  /** Position in the list of passes, from 1. */
  position: z.int().min(1),
});

const comparedPassSchema = z.object({
  /** The pass in the first configuration; absent if only the second has it. */
  first: passWithPositionSchema.optional(),
  second: passWithPositionSchema.optional(),
  /** Empty if only one configuration has the pass. */
  differences: z.array(configDifferenceSchema),
});
export type ComparedPass = z.output<typeof comparedPassSchema>;

const comparedPresetsSchema = z.object({
  general: z.array(configDifferenceSchema),
  /** Lists the first configuration's passes in order, then those only in the second. */
  passes: z.array(comparedPassSchema),
});
export type ComparedPresets = z.output<typeof comparedPresetsSchema>;

export const presetComparisonMethods = {
  /** Compares two configurations, both completed with defaults. */
  comparePresets: {
    params: z.strictObject({ first: comparableConfigurationSchema, second: comparableConfigurationSchema }),
    result: comparedPresetsSchema,
  },
} as const;
