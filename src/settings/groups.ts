import type { SettingName } from './table';

export interface SettingGroup {
  readonly id: string;
  readonly title: string;
  readonly settings: readonly SettingName[];
  /**
   * Settings that VS Code's own editor shows only in a search for their ID, `@modified` or
   * `@tag:advanced`.
   */
  readonly advanced: readonly SettingName[];
}

/** Groups in the order of the settings page. A test checks that each setting is in one group. */
export const SETTING_GROUPS: readonly SettingGroup[] = [
  {
    id: 'start',
    title: 'Start',
    settings: [
      'provider',
      'automatic',
      'threshold',
      'thresholdTokens',
      'agent.targetPercent',
      'manual.targetPercent',
      'agent.whenNotEnough',
      'notifications',
    ],
    advanced: [],
  },
  {
    id: 'limits',
    title: 'Cost Limits',
    settings: [
      'maxCostPerCondensation',
      'maxCostPerConversation',
      'maxCostPerDay',
      'agent.maxCostPerConversation',
      'agent.maxCostPerDay',
      'agent.atMaxCost',
      'warnings.cost',
    ],
    advanced: ['warnings.reductionPercent'],
  },
  {
    id: 'models',
    title: 'Models',
    settings: ['condensingProfile'],
    advanced: ['profiles', 'condensingPrompt', 'agent.wrappedModels', 'agent.declaredWindow'],
  },
  {
    id: 'methods',
    title: 'Providers',
    settings: ['smart'],
    advanced: ['lossless', 'truncation', 'native', 'presets', 'strategy', 'providers', 'coherenceFloor'],
  },
  {
    id: 'agents',
    title: 'Agent Mode',
    settings: ['agent.onArrival'],
    advanced: [
      'agent.noiseOnArrival',
      'agent.largeResultPercent',
      'agent.coldPercent',
      'agent.backgroundPercent',
      'agent.summaryWaitSeconds',
    ],
  },
  {
    id: 'conversations',
    title: 'Stored Conversations',
    settings: ['history', 'conversations.offerIdleTasks'],
    advanced: ['conversations.contextWindow'],
  },
];
