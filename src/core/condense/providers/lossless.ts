import { toJsonSchema, validateFields } from '../config';
import { describeRestoredReferences } from '../lossless/integrity';
import { losslessConfigSchema, runLossless, type LosslessConfig } from '../lossless/run';
import { PROVIDER_DESCRIPTIONS, PROVIDER_NAMES, type CondensationProvider, type ProviderCapabilities } from '../types';

export const losslessProvider: CondensationProvider<LosslessConfig> = {
  id: 'lossless',
  name: PROVIDER_NAMES.lossless,
  description: PROVIDER_DESCRIPTIONS.lossless,
  version: '1.0.0',

  getCapabilities: (): ProviderCapabilities => ({
    supportsLossless: true,
    supportsBatchMode: false,
    supportsIndividualMode: false,
    supportsMultiPass: false,
    supportsLLMSummarization: false,
    estimatedSpeed: 'fast',
  }),
  getConfigSchema: () => toJsonSchema(losslessConfigSchema),
  validateConfig: (config) => validateFields(losslessConfigSchema, config),

  async condense(context, config, options) {
    const { draft, steps } = await runLossless(context, config, options);
    return { edits: draft.edits, steps, cost: 0, notes: describeRestoredReferences(draft.edits) };
  },
  async estimate(context, config, options) {
    const { draft, steps } = await runLossless(context, config, options);
    const { tokens: tokensAfter, edits } = draft;
    return { tokensBefore: steps[0]?.tokensBefore ?? tokensAfter, tokensAfter, steps, cost: 0, edits };
  },
};
