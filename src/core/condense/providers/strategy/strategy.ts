import * as z from 'zod';
import { conditionSchema } from '../../trigger/condition';

const strategyStepSchema = z
  .looseObject({
    provider: z.string().min(1).max(200).optional().describe('Id of a provider.'),
    preset: z.string().min(1).max(200).optional().describe('Id of a preset of the Smart provider.'),
    config: z.unknown().optional().describe('The provider’s configuration. If omitted, its defaults.'),
    when: conditionSchema.default({}).describe('Condition on the conversation as the earlier steps left it.'),
    after: z
      .enum(['any', 'failure'])
      .default('any')
      .describe('`failure`: only if an earlier step failed, or its result was refused.'),
    affordable: z.boolean().default(false).describe('Runs only if the estimated cost is known and within the budget.'),
    ends: z
      .boolean()
      .default(false)
      .describe('If it removed something, now or in an earlier condensation, no other step follows.'),
  })
  .refine(({ provider, preset }) => (provider === undefined) !== (preset === undefined), {
    message: 'needs a provider or a preset, and not both',
  });

export const strategySchema = z.looseObject({
  id: z
    .string()
    .regex(/^[\w-]{1,64}$/, 'must consist of letters, digits, _ and -, at most 64')
    .describe('ID by which settings refer to the strategy.'),
  name: z.string().trim().min(1).max(200).describe('Name that is shown.'),
  description: z.string().max(2_000).default('').describe('Description that is shown.'),
  steps: z.array(strategyStepSchema).min(1).max(20).describe('Steps, tried in order until the target is met.'),
});

export type Strategy = z.output<typeof strategySchema>;
export type StrategyInput = z.input<typeof strategySchema>;
export type StrategyStep = Strategy['steps'][number];
