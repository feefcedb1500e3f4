/** Strategies as data: providers and presets, tried in order, each where its condition holds. */
import * as z from 'zod';
import { conditionSchema } from '../trigger/condition';

const stepSchema = z
  .looseObject({
    provider: z.string().min(1).optional().describe('Id of a provider.'),
    preset: z.string().min(1).optional().describe('Id of a preset of the Smart provider.'),
    config: z.unknown().optional().describe("The provider's configuration; absent: its defaults."),
    when: conditionSchema.default({}).describe('What must hold of the conversation as the steps before left it.'),
    after: z
      .enum(['any', 'failure'])
      .default('any')
      .describe('`failure`: only where a step before failed, or its result was refused.'),
    affordable: z.boolean().default(false).describe('Only where the estimated cost is known and within the budget.'),
    ends: z
      .boolean()
      .default(false)
      .describe('Where it took something out, now or in a condensation before, no other step follows.'),
  })
  .refine(({ provider, preset }) => (provider === undefined) !== (preset === undefined), {
    message: 'needs a provider or a preset, and not both',
  });

export const strategySchema = z.looseObject({
  id: z
    .string()
    .regex(/^[\w-]{1,64}$/, 'is made of letters, digits, _ and -, at most 64')
    .describe('Settings name strategies by it.'),
  name: z.string().trim().min(1).max(200).describe('What it is called.'),
  description: z.string().max(2_000).default('').describe('What it is for.'),
  steps: z.array(stepSchema).min(1).max(20).describe('Tried in order until the target is met.'),
});

export type Strategy = z.output<typeof strategySchema>;
export type StrategyInput = z.input<typeof strategySchema>;
export type StrategyStep = Strategy['steps'][number];
