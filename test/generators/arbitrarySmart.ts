/** Random configurations of the Smart provider. */
import fc from 'fast-check';
import type { SmartConfigInput } from '../../src/core/condense/providers/smart/config';
import type { OperationName } from '../../src/core/condense/edits/operations';
import type { Condition } from '../../src/core/condense/trigger/condition';

type PassInput = NonNullable<SmartConfigInput['passes']>[number];
type OperationInput = NonNullable<
  NonNullable<Extract<PassInput, { mode: 'individual' }>['individualConfig']>['defaults']
>['toolResults'];
type FilterInput = Extract<PassInput['selection'], { type: 'custom' }>['filter'];

const keep = fc.constant({ operation: 'keep' } as const);
const suppress = fc.record(
  { operation: fc.constant('suppress' as const), marker: fc.constantFrom('output omitted', 'gone ⟧ for good') },
  { requiredKeys: ['operation'] },
);
const truncate = fc
  .record({
    operation: fc.constant('truncate' as const),
    limits: fc.constantFrom(
      { maxLines: 1 },
      { maxLines: 5 },
      { maxChars: 7 },
      { maxChars: 100 },
      { maxLines: 3, maxChars: 400 },
    ),
    keep: fc.constantFrom('head' as const, 'tail' as const, 'both' as const),
    keepErrorLines: fc.boolean(),
  })
  .map(({ limits, ...rest }) => ({ ...rest, ...limits }));
const summarize = fc.record({
  operation: fc.constant('summarize' as const),
  maxTokens: fc.constantFrom(16, 60, 200),
  onFailure: fc.constantFrom('truncate' as const, 'keep' as const),
});
const outline = fc.record({
  operation: fc.constant('outline' as const),
  coldTurns: fc.nat(4),
  keepDeclarations: fc.boolean(),
});

const thin = fc.constant({ operation: 'thin' as const });

/**
 * Operations that call no model and work on all content, not only on results. Add every new
 * operation of this kind.
 */
const mechanical = { keep, suppress, truncate, thin } satisfies Readonly<
  Record<Exclude<OperationName, 'summarize' | 'outline'>, fc.Arbitrary<OperationInput>>
>;
const anyOperation = (asks: boolean) =>
  asks ? fc.oneof(keep, suppress, truncate, summarize, summarize) : fc.oneof(...Object.values(mechanical));
const anyResultOperation = (asks: boolean): fc.Arbitrary<OperationInput> => fc.oneof(anyOperation(asks), outline);

const leafFilter: fc.Arbitrary<NonNullable<FilterInput>> = fc.record(
  {
    roles: fc.subarray(['user', 'assistant'] as const, { minLength: 1 }),
    contentTypes: fc.subarray(['messageText', 'toolParameters', 'toolResults'] as const, { minLength: 1 }),
    tools: fc.constantFrom<string[]>(['Bash'], ['*'], ['mcp__*', 'Read']),
    files: fc.constantFrom<string[]>(['**/*.ts'], ['*.md']),
    isError: fc.boolean(),
    minTokens: fc.nat(200),
    age: fc.record({ min: fc.nat(6), max: fc.nat(20) }, { requiredKeys: [] }),
    contains: fc.constantFrom('e', 'error', 'TODO'),
  },
  { requiredKeys: [] },
);
const filter: fc.Arbitrary<NonNullable<FilterInput>> = fc.oneof(
  leafFilter,
  leafFilter.map((not) => ({ not })),
  fc.array(leafFilter, { minLength: 1, maxLength: 3 }).map((or) => ({ or })),
);

const selection: fc.Arbitrary<PassInput['selection']> = fc.oneof(
  fc.record({ type: fc.constant('preserve_recent' as const), count: fc.nat(8) }),
  fc.record({ type: fc.constant('preserve_percent' as const), percentage: fc.nat(100) }),
  filter.map((own) => ({ type: 'custom' as const, filter: own })),
);

/**
 * Conditions that are true less often for smaller conversations, so that a second run does nothing
 * new.
 */
const condition: fc.Arbitrary<Condition> = fc.oneof(
  fc.record({ tokenThreshold: fc.nat(2_000) }),
  fc.record({ toolResults: fc.nat(6) }),
  fc.constant<Condition>({ or: [{ windowPercent: 10 }, { tokenThreshold: 300 }] }),
  fc.record({ budgetLeft: fc.constantFrom(0, 0.5) }),
);

const individual = (asks: boolean): fc.Arbitrary<PassInput> =>
  fc.record({
    id: fc.constant(''),
    name: fc.constantFrom('Old results', 'Second look', 'Last resort'),
    selection,
    execution: fc.oneof(
      fc.constant({ type: 'always' as const }),
      condition.map((own) => ({ type: 'conditional' as const, condition: own })),
    ),
    protect: fc.constantFrom({}, { tools: ['Read'] }, { files: ['**/*.md'] }),
    mode: fc.constant('individual' as const),
    individualConfig: fc.record({
      defaults: fc.record({
        messageText: anyOperation(asks),
        toolParameters: anyOperation(asks),
        toolResults: anyResultOperation(asks),
      }),
      overrides: fc.array(
        fc.record({
          messageIndex: fc.nat(12),
          operations: fc.record({ toolResults: anyResultOperation(asks) }, { requiredKeys: [] }),
        }),
        { maxLength: 2 },
      ),
      messageTokenThresholds: fc.constantFrom({}, { toolResults: 40 }, { messageText: 20, toolParameters: 20 }),
    }),
  });

const batch: fc.Arbitrary<PassInput> = fc.record({
  id: fc.constant(''),
  name: fc.constant('Batch'),
  selection,
  mode: fc.constant('batch' as const),
  batchConfig: fc.oneof(
    keep,
    fc.record({
      operation: fc.constant('summarize' as const),
      keepFirst: fc.integer({ min: 1, max: 3 }),
      keepLast: fc.nat(3),
    }),
  ),
});

const base = {
  losslessPrelude: fc.record({ enabled: fc.boolean() }),
  protect: fc.record({ userMessages: fc.boolean() }),
  thinking: fc.record({ operation: fc.constantFrom('keep' as const, 'suppress' as const), keepRecent: fc.nat(6) }),
  images: fc.record({ operation: fc.constantFrom('keep' as const, 'suppress' as const), keepRecent: fc.nat(6) }),
};

/** Gives passes IDs that are unique within a configuration. */
const numberPasses = (passes: readonly PassInput[]): PassInput[] =>
  passes.map((pass, index) => ({ ...pass, id: `pass-${index}` }));

/** Configurations that call no model. */
export const mechanicalConfig: fc.Arbitrary<SmartConfigInput> = fc.record({
  ...base,
  passes: fc.array(individual(false), { maxLength: 4 }).map(numberPasses),
});

/** Configurations that may call a model. */
export const smartConfig: fc.Arbitrary<SmartConfigInput> = fc.record({
  ...base,
  passes: fc
    .array(fc.oneof({ weight: 3, arbitrary: individual(true) }, { weight: 1, arbitrary: batch }), {
      minLength: 1,
      maxLength: 4,
    })
    .map(numberPasses),
  parallelCalls: fc.integer({ min: 1, max: 6 }),
});
