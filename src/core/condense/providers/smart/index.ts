import { getErrorMessage } from '../../../errors';
import {
  FULL_CAPABILITIES,
  PROVIDER_DESCRIPTIONS,
  PROVIDER_NAMES,
  ProviderFailure,
  type CondensationEstimate,
  type CondensationOptions,
  type CondensationProvider,
  type ConversationContext,
  type ProviderResult,
  type ValidationResult,
} from '../../types';
import { toJsonSchema } from '../../config';
import {
  BUILT_IN_PRESETS,
  FILE_AWARE_PRESET,
  findPresetById,
  migrateSmartConfig,
  findPresetOfConfig,
  type Preset,
} from './presets';
import { FEATURE_WEIGHTS } from '../../relevance/weights';
import { SentPromptMemory } from '../../summary/promptMemory';
import { smartCallsModel, smartConfigSchema, validateSmartConfig, type SmartConfig } from './config';
import { EstimatedCallCollector } from './estimatedCalls';
import { createSummaryCache, CachingModelSelector, rejectModelSelection, type SelectModel } from './passParts';
import { runSmart, SmartRunRecord, type SharedCallDependencies } from './run';

export interface SmartOptions extends Partial<Pick<SharedCallDependencies, 'samples' | 'memory' | 'memo' | 'weights'>> {
  readonly select?: SelectModel;
  readonly presets?: () => readonly Preset[];
}

/** Without a memo, the provider remembers summaries as long as it lives. */
export function createSmartProvider(options: SmartOptions = {}): CondensationProvider<SmartConfig> {
  const {
    select = rejectModelSelection,
    samples = () => [],
    memory = new SentPromptMemory(),
    memo = createSummaryCache(),
    presets = () => [],
    weights = FEATURE_WEIGHTS,
  } = options;
  const createSharedDependencies = ({ ownModel }: ConversationContext): SharedCallDependencies => ({
    models: new CachingModelSelector(select, ownModel),
    samples,
    memory,
    memo,
    weights,
  });

  const estimateRun = (context: ConversationContext, config: SmartConfig, runOptions: CondensationOptions) =>
    estimateSmartRun(context, config, runOptions, createSharedDependencies(context));

  return {
    id: 'smart',
    name: PROVIDER_NAMES.smart,
    description: PROVIDER_DESCRIPTIONS.smart,
    version: '1.0.0',

    getCapabilities: () => FULL_CAPABILITIES,
    getConfigSchema: () => toJsonSchema(smartConfigSchema),
    validateConfig: (config) => resolveSmartConfig(config, presets()),
    nameOfConfig: (config) => findPresetOfConfig(config, presets())?.name,
    asksModel: smartCallsModel,

    async condense(context, config, options) {
      const estimatedCost = smartCallsModel(config) ? (await estimateRun(context, config, options)).cost : undefined;
      const sharedDependencies = createSharedDependencies(context);
      const record = new SmartRunRecord(sharedDependencies.models);
      const getSpending = (): Omit<ProviderResult, 'edits'> => {
        const { steps, cost, calls, notes } = record;
        return { steps, cost, notes, calls, ...(estimatedCost !== undefined && { estimatedCost }) };
      };
      try {
        const draft = await runSmart({ context, config, options, shared: sharedDependencies, record });
        return { ...getSpending(), edits: draft.edits };
      } catch (error) {
        if (record.calls.length === 0) throw error;
        throw new ProviderFailure(getErrorMessage(error), getSpending(), { canRetry: true, offerOtherProfile: false });
      }
    },

    estimate: estimateRun,
  };
}

async function estimateSmartRun(
  context: ConversationContext,
  config: SmartConfig,
  options: CondensationOptions,
  shared: SharedCallDependencies,
): Promise<CondensationEstimate> {
  const { maxCost } = options;
  const estimatedCalls = new EstimatedCallCollector(maxCost);
  const silentOptions = { ...options, onProgress: () => undefined };
  const record = new SmartRunRecord(shared.models);
  const draft = await runSmart({ context, config, options: silentOptions, shared, record, estimatedCalls });
  const tokensBefore = record.steps[0]?.tokensBefore ?? draft.tokens;
  const { steps, cost } = record;
  return { tokensBefore, tokensAfter: draft.tokens, steps, cost, edits: draft.edits, ...estimatedCalls.figures };
}

/** Uses File-Aware by default, which calls no model, so that a wrong setting never causes costs. */
export function resolveSmartConfig(config: unknown, ownPresets: readonly Preset[]): ValidationResult<SmartConfig> {
  if (typeof config !== 'string') return validateSmartConfig(migrateSmartConfig(config ?? FILE_AWARE_PRESET.config));
  const preset = findPresetById(config, ownPresets);
  if (preset) return validateSmartConfig(preset.config);
  const knownIds = [...ownPresets, ...BUILT_IN_PRESETS].map(({ id }) => id).join(', ');
  return {
    valid: false,
    problems: [{ path: '', message: `there is no preset "${config}"; known presets: ${knownIds}` }],
  };
}
