/** Conditions as data: when a pass or a strategy's step runs. */
import * as z from 'zod';

/** Of parts that are combined. */
const MAX_PARTS = 50;

/**
 * Every field that is set must hold; none set: always. Strict, for a field that nobody knows would make a pass run
 * where it should not.
 */
export const conditionSchema = z
  .object({
    tokenThreshold: z.number().min(0).optional().describe('The messages have more tokens than this (o200k).'),
    windowPercent: z
      .number()
      .min(0)
      .max(1_000)
      .optional()
      .describe("More than this share of the model's window, in percent."),
    overTarget: z.number().min(0).optional().describe('Tokens divided by the target are more than this.'),
    toolResults: z.int().min(0).optional().describe('There are more tool results than this.'),
    cacheCold: z
      .boolean()
      .optional()
      .describe("True: the vendor's prompt cache no longer holds the conversation; false: it does."),
    budgetLeft: z.number().min(0).optional().describe('At least this many US dollars may still be spent.'),
    get and(): z.ZodOptional<z.ZodArray<typeof conditionSchema>> {
      return z.array(conditionSchema).max(MAX_PARTS).optional().describe('All of these hold.');
    },
    get or(): z.ZodOptional<z.ZodArray<typeof conditionSchema>> {
      return z.array(conditionSchema).max(MAX_PARTS).optional().describe('At least one of these holds.');
    },
    get not(): z.ZodOptional<typeof conditionSchema> {
      return conditionSchema.optional().describe('This does not hold.');
    },
  })
  .strict();

export type Condition = z.output<typeof conditionSchema>;

/** The facts that conditions ask about. An unknown fact is undefined. */
export interface ConditionFacts {
  /** o200k tokens of the messages as they now stand. */
  readonly tokens: number;
  /** o200k tokens of what is sent beside the messages. */
  readonly overheadTokens: number;
  /** o200k tokens that the model's window holds. */
  readonly windowTokens: number | undefined;
  readonly targetTokens: number | undefined;
  readonly toolResults: number;
  readonly cacheCold: boolean | undefined;
  /** US dollars; `Infinity` where there is no limit. */
  readonly budgetLeft: number | undefined;
}

/** `unknown`: it can't be told, for a fact is missing. What needs a condition to hold doesn't run then. */
export type Verdict = 'holds' | 'fails' | 'unknown';

/** Whether a condition holds (three-valued: nothing follows from a fact that nobody knows). */
export function judge(condition: Condition, facts: ConditionFacts): Verdict {
  const { tokens, overheadTokens, windowTokens, targetTokens, toolResults, cacheCold, budgetLeft } = facts;
  return allOf([
    asked(condition.tokenThreshold, (least) => tokens > least),
    asked(condition.windowPercent, (percent) =>
      windowTokens === undefined ? undefined : 100 * (tokens + overheadTokens) > percent * windowTokens,
    ),
    asked(condition.overTarget, (ratio) => (targetTokens === undefined ? undefined : tokens > ratio * targetTokens)),
    asked(condition.toolResults, (least) => toolResults > least),
    asked(condition.cacheCold, (cold) => (cacheCold === undefined ? undefined : cacheCold === cold)),
    asked(condition.budgetLeft, (least) => (budgetLeft === undefined ? undefined : budgetLeft >= least)),
    ...(condition.and ?? []).map((part) => judge(part, facts)),
    ...(condition.or ? [anyOf(condition.or.map((part) => judge(part, facts)))] : []),
    ...(condition.not ? [opposite(judge(condition.not, facts))] : []),
  ]);
}

/** Why a condition does not hold, in words; undefined if it does. */
export function whyNotMet(condition: Condition, facts: ConditionFacts): string | undefined {
  const verdict = judge(condition, facts);
  if (verdict === 'holds') return undefined;
  return verdict === 'fails' ? 'condition not met' : missingFacts(condition, facts);
}

/** The facts that a condition needs and that are unknown, in words; '' if there are none. */
export function missingFacts(condition: Condition, facts: ConditionFacts): string {
  const missing = MISSING.filter(([name, asks]) => facts[name] === undefined && asksAnywhere(condition, asks));
  return missing.map(([, , words]) => words).join(', and ');
}

/** The words of {@link missingFacts} for the target. */
export const NO_TARGET = 'no target is set';

/** Facts that can be unknown, the fields that ask about them, and the words for it. */
const MISSING: readonly (readonly [keyof ConditionFacts, keyof Condition, string])[] = [
  ['targetTokens', 'overTarget', NO_TARGET],
  ['windowTokens', 'windowPercent', "the model's context window is not known"],
  ['cacheCold', 'cacheCold', "whether the vendor's prompt cache is still warm is not known"],
  ['budgetLeft', 'budgetLeft', 'what may still be spent is not known'],
];

const asksAnywhere = (condition: Condition, field: keyof Condition): boolean =>
  condition[field] !== undefined ||
  [...(condition.and ?? []), ...(condition.or ?? []), ...(condition.not ? [condition.not] : [])].some((part) =>
    asksAnywhere(part, field),
  );

/** A field that isn't set asks nothing. */
function asked<T>(field: T | undefined, holds: (field: T) => boolean | undefined): Verdict {
  const held = field === undefined ? true : holds(field);
  return held === undefined ? 'unknown' : held ? 'holds' : 'fails';
}

const allOf = (verdicts: readonly Verdict[]): Verdict =>
  verdicts.includes('fails') ? 'fails' : verdicts.includes('unknown') ? 'unknown' : 'holds';

const anyOf = (verdicts: readonly Verdict[]): Verdict => opposite(allOf(verdicts.map(opposite)));

const OPPOSITE: Readonly<Record<Verdict, Verdict>> = { holds: 'fails', fails: 'holds', unknown: 'unknown' };
const opposite = (verdict: Verdict): Verdict => OPPOSITE[verdict];
