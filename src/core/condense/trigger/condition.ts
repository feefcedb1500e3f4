import * as z from 'zod';

const MAX_CONDITION_PARTS = 50;

/**
 * All fields that are set must hold. Strict, because ignoring an unknown field would run a pass
 * when it should not run.
 */
export const conditionSchema = z
  .object({
    tokenThreshold: z.number().min(0).optional().describe('The messages have more tokens than this (o200k).'),
    windowPercent: z
      .number()
      .min(0)
      .max(1_000)
      .optional()
      .describe('More than this share of the model’s window, in percent.'),
    overTarget: z.number().min(0).optional().describe('Tokens divided by the target are more than this.'),
    toolResults: z.int().min(0).optional().describe('There are more tool results than this.'),
    cacheCold: z
      .boolean()
      .optional()
      .describe('True: the vendor’s prompt cache no longer holds the conversation; false: it does.'),
    budgetLeft: z.number().min(0).optional().describe('At least this many US dollars may still be spent.'),
    get and(): z.ZodOptional<z.ZodArray<typeof conditionSchema>> {
      return z.array(conditionSchema).max(MAX_CONDITION_PARTS).optional().describe('All of these hold.');
    },
    get or(): z.ZodOptional<z.ZodArray<typeof conditionSchema>> {
      return z.array(conditionSchema).max(MAX_CONDITION_PARTS).optional().describe('At least one of these holds.');
    },
    get not(): z.ZodOptional<typeof conditionSchema> {
      return conditionSchema.optional().describe('This does not hold.');
    },
  })
  .strict();

export type Condition = z.output<typeof conditionSchema>;

/** A fact is undefined if it is unknown. */
export interface ConditionFacts {
  /** o200k tokens of the messages. */
  readonly tokens: number;
  /** o200k tokens sent besides the messages. */
  readonly overheadTokens: number;
  /** In o200k tokens. */
  readonly windowTokens: number | undefined;
  readonly targetTokens: number | undefined;
  readonly toolResults: number;
  readonly cacheCold: boolean | undefined;
  /** In US dollars; `Infinity` for no limit. */
  readonly budgetLeft: number | undefined;
}

/** `unknown` if a fact is missing. Passes and steps run only if their condition holds. */
export type ConditionVerdict = 'holds' | 'fails' | 'unknown';

export function evaluateCondition(condition: Condition, facts: ConditionFacts): ConditionVerdict {
  const { tokens, overheadTokens, windowTokens, targetTokens, toolResults, cacheCold, budgetLeft } = facts;
  return combineWithAnd([
    checkConditionField(condition.tokenThreshold, (least) => tokens > least),
    checkConditionField(condition.windowPercent, (percent) =>
      windowTokens === undefined ? undefined : 100 * (tokens + overheadTokens) > percent * windowTokens,
    ),
    checkConditionField(condition.overTarget, (ratio) =>
      targetTokens === undefined ? undefined : tokens > ratio * targetTokens,
    ),
    checkConditionField(condition.toolResults, (least) => toolResults > least),
    checkConditionField(condition.cacheCold, (cold) => (cacheCold === undefined ? undefined : cacheCold === cold)),
    checkConditionField(condition.budgetLeft, (least) => (budgetLeft === undefined ? undefined : budgetLeft >= least)),
    ...(condition.and ?? []).map((part) => evaluateCondition(part, facts)),
    ...(condition.or ? [combineWithOr(condition.or.map((part) => evaluateCondition(part, facts)))] : []),
    ...(condition.not ? [negateVerdict(evaluateCondition(condition.not, facts))] : []),
  ]);
}

/** Undefined if the condition holds. */
export function describeUnmetCondition(condition: Condition, facts: ConditionFacts): string | undefined {
  const verdict = evaluateCondition(condition, facts);
  if (verdict === 'holds') return undefined;
  return verdict === 'fails' ? 'condition not met' : describeMissingFacts(condition, facts);
}

/** Empty if all needed facts are known. */
export function describeMissingFacts(condition: Condition, facts: ConditionFacts): string {
  const missingFacts = MISSING_FACT_TEXTS.filter(
    ([name, asks]) => facts[name] === undefined && usesConditionField(condition, asks),
  );
  return missingFacts.map(([, , words]) => words).join(', and ');
}

export const NO_TARGET_TEXT = 'no target is set';

const MISSING_FACT_TEXTS: readonly (readonly [keyof ConditionFacts, keyof Condition, string])[] = [
  ['targetTokens', 'overTarget', NO_TARGET_TEXT],
  ['windowTokens', 'windowPercent', 'the model’s context window is not known'],
  ['cacheCold', 'cacheCold', 'whether the vendor’s prompt cache is still warm is not known'],
  ['budgetLeft', 'budgetLeft', 'what may still be spent is not known'],
];

const usesConditionField = (condition: Condition, field: keyof Condition): boolean =>
  condition[field] !== undefined ||
  [...(condition.and ?? []), ...(condition.or ?? []), ...(condition.not ? [condition.not] : [])].some((part) =>
    usesConditionField(part, field),
  );

function checkConditionField<T>(field: T | undefined, checkField: (field: T) => boolean | undefined): ConditionVerdict {
  const holds = field === undefined ? true : checkField(field);
  return holds === undefined ? 'unknown' : holds ? 'holds' : 'fails';
}

const combineWithAnd = (verdicts: readonly ConditionVerdict[]): ConditionVerdict =>
  verdicts.includes('fails') ? 'fails' : verdicts.includes('unknown') ? 'unknown' : 'holds';

const combineWithOr = (verdicts: readonly ConditionVerdict[]): ConditionVerdict =>
  negateVerdict(combineWithAnd(verdicts.map(negateVerdict)));

const OPPOSITE_VERDICT: Readonly<Record<ConditionVerdict, ConditionVerdict>> = {
  holds: 'fails',
  fails: 'holds',
  unknown: 'unknown',
};
const negateVerdict = (verdict: ConditionVerdict): ConditionVerdict => OPPOSITE_VERDICT[verdict];
