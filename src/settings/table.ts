/**
 * `npm run manifest` generates package.json's configuration, package.nls.json's texts and
 * docs/guide/settings.md from this table, which a test checks. The settings editor and the panel
 * have the same order.
 */
import * as z from 'zod';
import { losslessProvider, truncationProvider } from '../core/condense';
import { toJsonSchema, validateConfig, validateFields } from '../core/condense/config';
import { DEFAULT_WARNING_LIMITS } from '../core/condense/metrics/metrics';
import { BUILT_IN_PRESETS, type Preset } from '../core/condense/providers/smart/presets';
import { presetSchema } from '../core/condense/providers/smart/presets/preset';
import { smartConfigSchema } from '../core/condense/providers/smart/config';
import { parseMinimumCoherence, type MinimumCoherence } from '../core/condense/coherence/coherence';
import { FACT_KINDS, type FactKind } from '../core/condense/coherence/facts';
import { BUILT_IN_STRATEGIES } from '../core/condense/providers/strategy/builtIn';
import { strategySchema } from '../core/condense/providers/strategy/strategy';
import { customPromptSchema } from '../core/condense/summary/promptText';
import { nativeConfigSchema } from '../core/condense/summary/nativeConfig';
import {
  DEFAULT_TARGET_PERCENT,
  DEFAULT_THRESHOLD_PERCENT,
  MAX_CONDENSE_THRESHOLD,
  MIN_CONDENSE_THRESHOLD,
} from '../core/condense/trigger/thresholds';
import {
  BUILT_IN_PROVIDERS,
  FILE_AWARE_NAME,
  PROVIDER_DESCRIPTIONS,
  PROVIDER_NAMES,
  type ConfigProblem,
} from '../core/condense/types';
import { isRecord } from '../core/messages/blocks';
import { removeDescriptions, type JsonSchema } from './jsonSchema';
import { parsePresets } from './presets';
import { parseProfiles, profileSchema, targetPercentSchema, thresholdTokensSchema, type ApiProfile } from './profiles';

export interface ParsedSettingValue<T> {
  readonly value: T;
  readonly problems: readonly ConfigProblem[];
}

export interface SettingDefinition<T> {
  readonly default: T;
  /**
   * machine: set by the user per machine; application: by the user for all windows; window and
   * resource: also by a workspace.
   */
  readonly scope: 'machine' | 'application' | 'window' | 'resource';
  /**
   * Which values of a trusted workspace count; absent: all. `lower`, `higher`: only values more
   * careful than the user's (off is lower than on). `asks`: values that call other models or bring
   * a prompt, after the user has agreed (`listWorkspaceQuestions`).
   */
  readonly workspace?: 'lower' | 'higher' | 'asks';
  /** Title in the panel; default: derived from the key. */
  readonly title?: string;
  /** Description in Markdown. */
  readonly text: string;
  /** By value, a Markdown description and optionally a label. */
  readonly choices?: Readonly<Record<string, { readonly label?: string; readonly text: string }>>;
  /** True if descriptions of fields and error messages are translated. */
  readonly translates?: true;
  /**
   * Returns a JSON Schema without texts and default.
   * @param depth levels of nested objects to write out, because package.json can't contain all
   */
  readonly schema: (depth?: number) => JsonSchema;
  /** A sentence that says what happens if the value is invalid; absent: the default is used. */
  readonly instead?: string;
  /** Reads a value. Invalid values or parts of it count as absent and are reported. */
  readonly parse: (value: unknown) => ParsedSettingValue<T>;
}

type SettingDescription<T> = Omit<SettingDefinition<T>, 'schema' | 'parse'>;

/** Defines a setting whose value is valid or invalid as a whole. */
function makeSetting<T>(type: z.ZodType<T>, description: SettingDescription<NoInfer<T>>): SettingDefinition<T> {
  return {
    ...description,
    schema: () => removeDescriptions(toJsonSchema(type)),
    parse(value) {
      if (value === undefined) return { value: description.default, problems: [] };
      const result = validateConfig(type, value);
      return result.valid
        ? { value: result.config, problems: [] }
        : { value: description.default, problems: result.problems };
    },
  };
}

/** Defines a setting with a provider's configuration, which the provider validates when it runs. */
const makeConfigurationSetting = (
  description: SettingDescription<unknown>,
  schema: (depth?: number) => JsonSchema,
  parse = (value: unknown): ParsedSettingValue<unknown> => ({ value, problems: [] }),
): SettingDefinition<unknown> => ({ ...description, schema, parse, instead: 'The provider’s defaults are used.' });

const createPercentSchema = (least = 0, most = 100): z.ZodNumber => z.number().min(least).max(most);
const dollarsSchema = createPercentSchema(0, 1_000);
const createTokensSchema = (least: number): z.ZodInt => z.int().min(least).max(100_000_000);

const wrappedModelSchema = z
  .string()
  .regex(/^[^/\s]+\/\S+$/, 'must be a model as vendor/id')
  .meta({ patternErrorMessage: 'Write a model as vendor/id.' });

const wrappedModelsSchema = z.array(wrappedModelSchema).max(500).meta({ uniqueItems: true });

const coherenceFloorSchema = z.strictObject(
  Object.fromEntries(FACT_KINDS.map((kind) => [kind, createPercentSchema().optional()])) as Record<
    FactKind,
    z.ZodOptional<z.ZodNumber>
  >,
);

const PROVIDER_CHOICES = Object.fromEntries(
  BUILT_IN_PROVIDERS.map((id) => [id, { label: PROVIDER_NAMES[id], text: PROVIDER_DESCRIPTIONS[id] }]),
);

const SETTING_ROWS = {
  provider: {
    ...makeSetting<string>(z.string().regex(/^[\w.-]{1,64}$/, 'must be a provider’s id'), {
      default: 'lossless',
      scope: 'resource',
      workspace: 'asks',
      text: 'Controls how conversations are condensed. If the default, Lossless, is not enough in an agent task, `#contextCondenser.agent.whenNotEnough#` applies. To use a provider of another extension, run **Context Condenser: Choose Provider**; until that extension has started, Lossless is used in its place.',
      choices: PROVIDER_CHOICES,
    }),
    // The settings page shows a list only for an `enum`; another extension's provider works
    // although it isn't listed.
    schema: () => ({ type: 'string', enum: BUILT_IN_PROVIDERS }),
  },
  'manual.targetPercent': makeSetting(createPercentSchema(5, 95), {
    default: 50,
    scope: 'resource',
    title: 'Target when condensing by hand',
    text: 'The target when you condense by hand: how much may remain, as a percentage of the conversation’s tokens (5 to 95). Condensing stops once it is reached.',
  }),
  history: makeSetting(z.enum(['active', 'all']), {
    default: 'active',
    scope: 'resource',
    title: 'Part to condense',
    text: 'Controls which part of a stored conversation is condensed.',
    choices: {
      active: { label: 'What is sent', text: 'What the agent would send with its next request.' },
      all: { label: 'Everything', text: 'What the agent has already compacted away, too.' },
    },
  }),
  profiles: {
    default: [],
    scope: 'machine',
    text: 'Your own models, which can write summaries and be offered in the chat. **Context Condenser: Manage Models** adds, tests and removes them. Keys are not stored here, but in VS Code’s secret store.',
    translates: true,
    instead: 'It is ignored.',
    schema: (depth = 3) => ({ type: 'array', items: removeDescriptions(toJsonSchema(profileSchema), depth) }),
    parse(value) {
      const { profiles, problems } = parseProfiles(value);
      return { value: profiles, problems };
    },
  } satisfies SettingDefinition<readonly ApiProfile[]> as SettingDefinition<readonly ApiProfile[]>,
  condensingProfile: makeSetting(z.string(), {
    default: '',
    scope: 'machine',
    text: 'ID of the model, one of `#contextCondenser.profiles#`, that writes summaries. If empty, the conversation’s own model writes them, and only if the provider calls a model.',
  }),
  threshold: makeSetting(createPercentSchema(MIN_CONDENSE_THRESHOLD, MAX_CONDENSE_THRESHOLD), {
    default: DEFAULT_THRESHOLD_PERCENT,
    scope: 'resource',
    text: 'The threshold: how full the model’s context window may become before a conversation is condensed automatically, as a percentage (5 to 100). A model can override it. Above 85%, a request might not fit, so the conversation is condensed at 85 to 90%, depending on the size of the window.',
  }),
  thresholdTokens: makeSetting(thresholdTokensSchema, {
    default: 0,
    scope: 'resource',
    title: 'Threshold in tokens',
    text: 'The threshold as a number of tokens; the lower of this and `#contextCondenser.threshold#` applies (1,000 to 100,000,000; 0: only the percentage counts). Use it for large windows: at 75%, one of 1,000,000 tokens is condensed at 750,000, and every request pays for them. A model can override it.',
  }),
  condensingPrompt: makeSetting(customPromptSchema, {
    default: '',
    scope: 'window',
    workspace: 'asks',
    text: 'Your own prompt for summaries, at most 32,000 characters. `{{conversation}}`, `{{earlier_summary}}` and `{{system}}` stand for those parts; parts that you do not mention are put first. If empty, the built-in prompt is used.',
  }),
  maxCostPerCondensation: makeSetting(dollarsSchema, {
    default: 0.5,
    scope: 'window',
    workspace: 'lower',
    text: 'Maximum cost of one condensation, in US dollars (0 to 1,000). If the estimate is higher, no model is called. With 0, no paid model is ever called.',
  }),
  maxCostPerConversation: makeSetting(dollarsSchema, {
    default: 0,
    scope: 'application',
    text: 'Maximum cost of all condensations of one conversation together, in US dollars (0 to 1,000; 0: no limit). A call that could exceed it is not made.',
  }),
  maxCostPerDay: makeSetting(dollarsSchema, {
    default: 0,
    scope: 'application',
    text: 'Maximum cost of all condensations in one day, in US dollars (0 to 1,000; 0: no limit), in all windows together. A call that could exceed it is not made.',
  }),
  'warnings.cost': makeSetting(dollarsSchema, {
    default: DEFAULT_WARNING_LIMITS.cost,
    scope: 'window',
    workspace: 'lower',
    title: 'Warn above a cost of',
    text: 'Warns after a condensation that cost more than this, in US dollars (0 to 1,000).',
  }),
  'warnings.reductionPercent': makeSetting(createPercentSchema(), {
    default: DEFAULT_WARNING_LIMITS.reductionPercent,
    scope: 'window',
    workspace: 'higher',
    title: 'Warn below a reduction of',
    text: 'Warns after a condensation that removed less than this percentage of the tokens (0 to 100).',
  }),
  lossless: makeConfigurationSetting(
    {
      default: {},
      scope: 'resource',
      text: 'What the Lossless provider removes. Omitted fields have their defaults.',
    },
    () => removeDescriptions(losslessProvider.getConfigSchema()),
  ),
  truncation: makeConfigurationSetting(
    {
      default: {},
      scope: 'resource',
      text: 'What the Truncation provider shortens, and by how much. Omitted fields have their defaults.',
    },
    () => removeDescriptions(truncationProvider.getConfigSchema()),
  ),
  native: makeConfigurationSetting(
    {
      default: {},
      scope: 'application',
      text: 'What the Summary provider keeps, how long a summary may be, and what the model is shown. Omitted fields have their defaults.',
    },
    () => removeDescriptions(toJsonSchema(nativeConfigSchema.omit({ prompt: true }))),
  ),
  smart: makeConfigurationSetting(
    {
      default: 'file-aware',
      scope: 'window',
      workspace: 'asks',
      text: 'The passes of the Smart provider: the ID of a preset, or your own passes. A pass that calls a model uses `#contextCondenser.condensingProfile#`, unless it names another. The default, `file-aware`, calls no model.',
    },
    (maxDepth = 2) => ({
      anyOf: [
        { type: 'string', enum: BUILT_IN_PRESETS.map(({ id }) => id) },
        { type: 'string', description: 'A preset of your own.' },
        removeDescriptions(toJsonSchema(smartConfigSchema), maxDepth),
      ],
    }),
  ),
  automatic: makeSetting(z.boolean(), {
    default: true,
    scope: 'window',
    workspace: 'lower',
    title: 'Condense automatically',
    text: 'Condenses conversations while they run: in the chat, with models whose names end in “condensed”, and of agents that run condensed in a terminal or send their requests through the gateway. If off, requests are sent unchanged and no gateway runs; you can still condense by hand.',
  }),
  'agent.declaredWindow': makeSetting(createTokensSchema(0), {
    default: 1_000_000,
    scope: 'window',
    title: 'Declared context window',
    text: 'Size of the context window, in tokens, that is reported to the chat for models whose names end in “condensed” (0 to 100,000,000; 0: the model’s own). The default is larger than most windows, so that VS Code does not summarize first; requests are condensed to fit the real window, which the status bar shows.',
  }),
  'agent.wrappedModels': {
    ...makeSetting<readonly string[]>(wrappedModelsSchema, {
      default: [],
      scope: 'machine',
      title: 'Models offered condensed',
      text: 'Models of VS Code, as `vendor/id`, that the chat offers a second time, with condensed conversations. No key is needed. **Context Condenser: Choose Models to Offer Condensed…** lists them.',
      translates: true,
    }),
    instead: 'It is ignored.',
    // An invalid entry doesn't affect the others.
    parse: (value: unknown): ParsedSettingValue<readonly string[]> => {
      const result = validateFields(wrappedModelsSchema, value ?? []);
      return result.valid
        ? { value: result.config, problems: [] }
        : { value: result.rest?.config ?? [], problems: result.problems };
    },
  },
  'agent.targetPercent': makeSetting(targetPercentSchema, {
    default: DEFAULT_TARGET_PERCENT,
    scope: 'resource',
    title: 'Target when condensing automatically',
    text: 'The target when a conversation is condensed automatically: how much may remain, as a percentage of the threshold (10 to 90). Condensing stops once it is reached. With a lower target, more is removed at a time, and the vendor’s prompt cache is lost less often. A condensation that would free less than 60% of what is between threshold and target is postponed. A model can override it.',
  }),
  'agent.backgroundPercent': makeSetting(createPercentSchema(), {
    default: 60,
    scope: 'window',
    title: 'Prepare a summary at',
    text: 'How full the context window may become, as a percentage, before a summary is prepared in the background (0 to 100; 0: never), so that it is ready at the threshold. Applies to providers that call a model. With a threshold below this, it is prepared at 80% of the threshold.',
  }),
  'agent.summaryWaitSeconds': makeSetting(createPercentSchema(0, 300), {
    default: 30,
    scope: 'window',
    title: 'Wait for a summary',
    text: 'Maximum time, in seconds, that an agent’s request waits for a model’s summary (0 to 300). After that, the request is sent without it, and old content is truncated if the request would not fit.',
  }),
  'agent.whenNotEnough': makeSetting(z.enum(['fileAware', 'nothing']), {
    default: 'fileAware',
    scope: 'window',
    title: 'When Lossless is not enough',
    text: 'Controls what happens in agent tasks if Lossless leaves more than the target. If you chose Lossless yourself in `#contextCondenser.provider#`, it runs alone unless you set this, too. For agents that cannot recall what was removed, the default is `nothing`.',
    choices: {
      fileAware: {
        label: FILE_AWARE_NAME,
        text: 'What is least likely to be needed is removed as well. The agent can recall it.',
      },
      nothing: { label: 'Nothing', text: 'Nothing more is removed, unless the request would not fit into the window.' },
    },
  }),
  'agent.onArrival': makeSetting(z.enum(['off', 'lossless']), {
    default: 'lossless',
    scope: 'window',
    title: 'New results',
    text: 'Controls how a tool’s new result is condensed before it is first sent. What was already sent is not changed, so the vendor’s prompt cache stays valid.',
    choices: {
      off: { label: 'Send whole', text: 'Results are sent as they are.' },
      lossless: {
        label: 'Leave out repeats',
        text: 'Lines that the conversation already has are replaced with a reference to them, and line numbers that follow from the line before are left out. Free; everything can be recalled or undone.',
      },
    },
  }),
  'agent.noiseOnArrival': makeSetting(z.boolean(), {
    default: false,
    scope: 'window',
    title: 'Remove terminal noise from new results',
    text: 'Removes terminal noise from a command’s new result before it is first sent: control sequences, progress that was overwritten, trailing blanks, and lines repeated more than three times in a row. Results of failed commands are sent whole. Everything can be undone.',
  }),
  'agent.largeResultPercent': makeSetting(createPercentSchema(), {
    default: 25,
    scope: 'window',
    title: 'Shorten a single result at',
    text: 'Size, as a percentage of the context window, from which a single new result is shortened before it is first sent (0 to 100; 0: never). Its beginning, its end and its first lines with errors are kept; the agent can recall the rest. Results under 20,000 tokens are not shortened. For agents that cannot recall, only a result that would not fit is shortened.',
  }),
  'agent.coldPercent': makeSetting(createPercentSchema(), {
    default: 50,
    scope: 'window',
    title: 'Condense earlier once the cache has expired, at',
    text: 'How full the context window may become, as a percentage, before a conversation is condensed if its prompt cache at the vendor has expired (0 to 100; 0: never). Condensing costs least then, so the default is below the threshold.',
  }),
  'agent.maxCostPerConversation': makeSetting(dollarsSchema, {
    default: 0,
    scope: 'application',
    title: 'Spending limit of a conversation',
    text: 'Spending limit, in US dollars, for each chat with one of this extension’s models and each agent that runs condensed in a terminal (0 to 1,000; 0: no limit). All requests with a known price count, including those of subagents, from when a limit was set. `#contextCondenser.agent.atMaxCost#` controls what happens at the limit.',
  }),
  'agent.maxCostPerDay': makeSetting(dollarsSchema, {
    default: 0,
    scope: 'application',
    title: 'Spending limit of a day',
    text: 'Spending limit, in US dollars, for all these conversations in one day, in all windows together (0 to 1,000; 0: no limit).',
  }),
  'agent.atMaxCost': makeSetting(z.enum(['warn', 'stop']), {
    default: 'warn',
    scope: 'application',
    title: 'At a spending limit',
    text: 'Controls what happens when one of these spending limits is reached.',
    choices: {
      warn: {
        label: 'Warn',
        text: 'You are notified once for each conversation and day. The conversation continues.',
      },
      stop: {
        label: 'Stop',
        text: 'No further request is sent, and the chat or the agent says how to continue. You are notified at 80% of the limit. A request under way is finished, so the limit can be exceeded by its cost.',
      },
    },
  }),
  notifications: makeSetting(z.enum(['none', 'statusBar', 'notification']), {
    default: 'statusBar',
    scope: 'window',
    text: 'Controls how you are notified when a conversation in the chat has been condensed.',
    choices: {
      none: { label: 'None', text: 'No notification; the log has an entry.' },
      statusBar: { label: 'Status bar', text: 'In the status bar, for a few seconds.' },
      notification: {
        label: 'Notification',
        text: 'A notification that says what was done, with Undo and Show Diff.',
      },
    },
  }),
  presets: {
    default: [],
    scope: 'window',
    workspace: 'asks',
    text: 'Your own presets of the Smart provider. They can also be kept in files named `*.condense.json`.',
    instead: 'It is left out; a pass, as a whole.',
    schema: (depth = 2) => ({
      type: 'array',
      items: removeDescriptions(toJsonSchema(presetSchema.extend({ config: smartConfigSchema })), depth),
    }),
    parse(value) {
      const { presets, problems } = parsePresets(value);
      return { value: presets, problems };
    },
  } satisfies SettingDefinition<readonly Preset[]> as SettingDefinition<readonly Preset[]>,
  strategy: makeConfigurationSetting(
    {
      default: 'pipeline',
      scope: 'window',
      workspace: 'asks',
      text: 'The steps of the Strategy provider: the ID of a built-in strategy, or your own steps. Each step names a provider or a preset, and can have a condition.',
    },
    (depth = 3) => ({
      anyOf: [
        { type: 'string', enum: BUILT_IN_STRATEGIES.map(({ id }) => id) },
        removeDescriptions(toJsonSchema(strategySchema), depth),
      ],
    }),
  ),
  coherenceFloor: {
    ...makeSetting<MinimumCoherence>(coherenceFloorSchema, {
      default: {},
      scope: 'application',
      title: 'Minimum share of facts kept',
      text: 'Minimum percentage of the conversation’s files, error lines, instructions and to-dos that a condensed conversation must still contain. A result with less is not applied; Lossless runs instead. If empty, there is no minimum.',
    }),
    instead: 'It sets no limit.',
    // An invalid number doesn't affect the others.
    parse: (value: unknown): ParsedSettingValue<MinimumCoherence> => {
      const result = validateConfig(coherenceFloorSchema, value);
      return { value: parseMinimumCoherence(value), problems: result.valid ? [] : result.problems };
    },
  },
  'conversations.contextWindow': makeSetting(createTokensSchema(1_000), {
    default: 200_000,
    scope: 'window',
    title: 'Context window of stored conversations',
    text: 'Size of the context window, in tokens (1,000 to 100,000,000), of stored conversations whose files do not specify it. The Conversations view shows how full it is.',
  }),
  providers: makeConfigurationSetting(
    {
      default: {},
      scope: 'resource',
      text: 'Configurations of providers that other extensions register, by the provider\'s ID, such as `{ "some.provider": { "keep": 8 } }`. Omitted fields have their defaults.',
    },
    () => ({ type: 'object', additionalProperties: { type: 'object' } }),
    (value) =>
      value === undefined || isRecord(value)
        ? { value, problems: [] }
        : { value: {}, problems: [{ path: '', message: 'must be an object' }] },
  ),
  'conversations.offerIdleTasks': makeSetting(z.boolean(), {
    default: false,
    scope: 'window',
    title: 'Offer to condense idle tasks',
    text: 'Offers to condense a stored task before you resume it, if it can be given back to its agent (Roo, Zoo, Cline 4, Claude Code), is above `#contextCondenser.threshold#`, and has not changed for ten minutes. Each task is offered once at a given size, with at most three offers per window.',
  }),
};

/** All settings by name without the prefix `contextCondenser.`. */
export type Settings = {
  readonly [N in keyof typeof SETTING_ROWS]: ReturnType<(typeof SETTING_ROWS)[N]['parse']>['value'];
};
export type SettingName = keyof Settings;

export const SETTINGS: { readonly [N in SettingName]: SettingDefinition<Settings[N]> } = SETTING_ROWS;

export const SETTING_NAMES = Object.keys(SETTING_ROWS) as readonly SettingName[];

export const isSettingName = (name: string): name is SettingName => Object.hasOwn(SETTING_ROWS, name);
