/**
 * Messages between the settings panel and the extension host. Both sides check every message, and
 * drop and log invalid ones. The panel begins with `ready`; the host answers with `welcome`. After
 * each change the host sends the whole `state` with a growing revision, to recognize a late one.
 */
import * as z from 'zod';
import { entryNameSchema, listChangeSchema } from '../core/settingValue';
import { accountMethods } from './account/methods';
import { judgeMethods } from './judge/methods';
import { historyMethods } from './history/methods';
import { presetComparisonMethods } from './presetComparison/methods';
import { previewMethods } from './preview/methods';
import { profileCostMethods } from './profileCosts/methods';

export type {
  ComparableConfiguration,
  ComparedPass,
  ComparedPresets,
  ConfigDifference,
} from './presetComparison/methods';
export {
  WHAT_IF_CHOICE_IDS,
  type ShownAccount,
  type ShownAccountRow,
  type ShownToolWeight,
  type ShownToolWeights,
} from './account/methods';
export type { JudgedSettings } from './judge/methods';
export type { ProfileComparison, ProfileCost } from './profileCosts/methods';
export type { RunWithoutEffect, History, HistoryEntry, Recommendation, RunGroup } from './history/methods';
export { previewedConversationNameSchema } from './preview/methods';
export type {
  Coherence,
  ComparedConfiguration,
  ComparedConfigurationName,
  PreviewedConversationName,
  EditExcerpt,
  MessageCell,
  PassDrafts,
  Preview,
  PreviewStep,
} from './preview/methods';

/**
 * Increase this number if one side would misread the other; a webview restored from another version
 * is rebuilt.
 */
export const PROTOCOL_VERSION = 1;

const nameSchema = z.string().min(1).max(200);
const idSchema = z.string().min(1).max(200);
const messageSchema = z.string().max(20_000);

const scopeSchema = z.enum(['user', 'workspace']);
export type SettingScope = z.output<typeof scopeSchema>;

const configProblemSchema = z.object({ path: z.string(), message: z.string() });

/** A setting's values: the effective one, and one for each scope that sets it. */
const settingStateSchema = z.object({
  value: z.unknown(),
  user: z.unknown().optional(),
  workspace: z.unknown().optional(),
  /** The effective configuration of a provider, with defaults. */
  effective: z.unknown().optional(),
  /**
   * Scopes that can set this setting. A workspace can't set keys, endpoints or anything that costs
   * money.
   */
  scopes: z.array(scopeSchema),
  /** True if the user's own settings file has no effect on this setting in a remote window. */
  isOfMachine: z.boolean(),
  problems: z.array(configProblemSchema),
});
export type SettingState = z.output<typeof settingStateSchema>;

const keyStateSchema = z.enum(['set', 'missing', 'other-endpoint', 'not-needed']);
export type ProfileKeyState = z.output<typeof keyStateSchema>;

/** US dollars per million tokens. */
const pricesPerMillionSchema = z.object({
  input: z.number().optional(),
  output: z.number().optional(),
  cacheRead: z.number().optional(),
  cacheWrite: z.number().optional(),
  longCacheWrite: z.number().optional(),
});

/** Never contains the profile's key. */
const profileStateSchema = z.object({
  id: idSchema,
  key: keyStateSchema,
  /** Input and output together, in tokens. */
  contextWindow: z.number().optional(),
  /** False if the window is unknown and a usual one is assumed. */
  isWindowKnown: z.boolean().optional(),
  /** For short prompts. */
  prices: pricesPerMillionSchema.optional(),
  /** ISO 8601 date of the prices; absent if they are the profile's own. */
  pricesAsOf: z.string().optional(),
  /** The model's tokens per o200k token. */
  tokenFactor: z.number().optional(),
});
export type ProfileState = z.output<typeof profileStateSchema>;

/** A model in a vendor's list. Facts that the vendor does not report are absent. */
const vendorModelSchema = z.object({
  id: z.string(),
  /** Input and output together, in tokens. */
  contextWindow: z.number().optional(),
  maxOutputTokens: z.number().optional(),
  seesImages: z.boolean().optional(),
  prices: pricesPerMillionSchema
    .extend({ longPrompts: pricesPerMillionSchema.extend({ aboveTokens: z.number() }).optional() })
    .optional(),
});
export type VendorModel = z.output<typeof vendorModelSchema>;

const editorModelSchema = z.object({
  id: idSchema,
  name: z.string(),
  vendor: z.string(),
  /** Input and output together; absent for a model that only chooses another ("Auto"). */
  contextWindow: z.number().optional(),
});
export type EditorModel = z.output<typeof editorModelSchema>;

const presetStateSchema = z.object({
  id: idSchema,
  name: z.string(),
  description: z.string(),
  isBuiltIn: z.boolean(),
  config: z.record(z.string(), z.unknown()),
});
export type PresetState = z.output<typeof presetStateSchema>;

const panelStateSchema = z.object({
  /** Number that grows with each change of the state. */
  revision: z.int().min(0),
  /** Settings by name without the extension's prefix, such as `manual.targetPercent`. */
  settings: z.record(z.string(), settingStateSchema),
  profiles: z.array(profileStateSchema),
  editorModels: z.array(editorModelSchema),
  /** Built-in presets first. */
  presets: z.array(presetStateSchema),
  /** Grows with each change of the history since the panel was opened. */
  historyRevision: z.int().min(0),
  /** Name of the open workspace, if any. */
  workspace: z.string().optional(),
  /**
   * True in a window for SSH, WSL or a container. False in a browser, where there is no other
   * settings file.
   */
  isRemote: z.boolean(),
});
export type PanelState = z.output<typeof panelStateSchema>;

const jsonSchema = z.record(z.string(), z.unknown());

const providerDescriptionSchema = z.object({
  id: idSchema,
  name: z.string(),
  description: z.string(),
  schema: jsonSchema,
  /** The setting that contains the provider's configuration. */
  setting: z.string().optional(),
});
export type ProviderDescription = z.output<typeof providerDescriptionSchema>;

const settingChangeFields = {
  name: nameSchema,
  scope: scopeSchema,
  /**
   * Keys within the setting's object, or indexes or names of list entries; empty: the whole
   * setting.
   */
  path: z.array(z.union([z.string().max(200), z.int().min(0).max(10_000), entryNameSchema])).max(40),
  /** The new value; if absent, the value is removed. */
  value: z.unknown().optional(),
};
const validationResultSchema = z.object({ problems: z.array(configProblemSchema) });
const nothingSchema = z.null();
const objectWithIdSchema = z.strictObject({ id: idSchema });
/** A saved profile or an unsaved one. */
const storedOrNewProfileSchema = z.union([
  objectWithIdSchema,
  z.strictObject({ profile: z.record(z.string(), z.unknown()) }),
]);

export const PANEL_COMMANDS = ['condenseNow', 'condenseSample', 'openAgent', 'openGateway', 'undo', 'showLog'] as const;
export type PanelCommand = (typeof PANEL_COMMANDS)[number];

export const panelMethods = {
  /** Checks a change without saving it. */
  checkSetting: {
    params: z.strictObject(settingChangeFields),
    /** Includes the effective value with defaults, if the change is valid. */
    result: validationResultSchema.extend({ effective: z.unknown().optional() }),
  },
  /** Saves a change unless it has problems. */
  updateSetting: { params: z.strictObject(settingChangeFields), result: validationResultSchema },
  /** Changes the current content of a list, so that intermediate changes are not overwritten. */
  changeList: {
    params: z.strictObject({
      name: nameSchema,
      scope: scopeSchema,
      path: z.array(nameSchema).max(12),
      change: listChangeSchema,
    }),
    /** `undo` is a change that undoes exactly this one. */
    result: validationResultSchema.extend({ undo: listChangeSchema.optional() }),
  },
  openSettingsFile: { params: z.strictObject({ scope: scopeSchema, name: nameSchema }), result: nothingSchema },
  saveProfile: {
    params: z.strictObject({ profile: z.record(z.string(), z.unknown()) }),
    result: validationResultSchema,
  },
  /** Asks the user for confirmation. */
  removeProfile: { params: objectWithIdSchema, result: z.object({ removed: z.boolean() }) },
  /** VS Code asks for the key and stores it in its secret storage. */
  setKey: { params: storedOrNewProfileSchema, result: z.object({ isSet: z.boolean() }) },
  /** Removes the key of a profile that the user did not add in the end. */
  forgetKey: { params: objectWithIdSchema, result: nothingSchema },
  testProfile: { params: storedOrNewProfileSchema, result: z.object({ ok: z.boolean(), message: messageSchema }) },
  listModels: { params: storedOrNewProfileSchema, result: z.object({ models: z.array(vendorModelSchema) }) },
  previewPrompt: {
    params: z.strictObject({ prompt: z.string().max(100_000) }),
    /** `profile`: name of the profile whose own prompt is used instead of this one. */
    result: z.object({ text: z.string(), profile: z.string().optional() }),
  },
  /** Opens a copy of a preset as JSON in an editor tab, with completion. */
  openPreset: { params: objectWithIdSchema, result: nothingSchema },
  /** Export and import ask the user for a file. */
  exportPreset: { params: objectWithIdSchema, result: z.object({ written: z.boolean() }) },
  importPreset: {
    params: z.strictObject({ scope: scopeSchema }),
    result: z.object({
      id: idSchema.optional(),
      problems: z.array(configProblemSchema),
      undo: z.array(listChangeSchema),
    }),
  },
  ...presetComparisonMethods,
  ...previewMethods,
  ...historyMethods,
  ...profileCostMethods,
  ...judgeMethods,
  ...accountMethods,
  runCommand: { params: z.strictObject({ command: z.enum(PANEL_COMMANDS) }), result: nothingSchema },
} as const;
export type PanelMethod = keyof typeof panelMethods;
export type MethodParams<M extends PanelMethod> = z.output<(typeof panelMethods)[M]['params']>;
export type MethodResult<M extends PanelMethod> = z.output<(typeof panelMethods)[M]['result']>;

/** Checks a method name from the page. */
export const isPanelMethod = (value: string): value is PanelMethod => Object.hasOwn(panelMethods, value);

const requestIdSchema = z.int().min(1);

/** Parameters are validated by method. */
export const messageToHostSchema = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('ready'), version: z.literal(PROTOCOL_VERSION) }),
  z.strictObject({ type: z.literal('request'), id: requestIdSchema, method: nameSchema, params: z.unknown() }),
  z.strictObject({ type: z.literal('cancel'), id: requestIdSchema }),
  /** State that the page wants to keep after its tab closes. The next `welcome` contains it. */
  z.strictObject({ type: z.literal('keep'), kept: z.record(z.string().max(100), z.unknown()) }),
  z.strictObject({ type: z.literal('log'), message: messageSchema }),
]);
export type MessageToHost = z.output<typeof messageToHostSchema>;

/** Results are validated by method. */
export const messageToWebviewSchema = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('welcome'),
    /** Translations by English text; empty for English. */
    texts: z.record(z.string(), z.string()),
    /** BCP 47 tag. */
    language: z.string(),
    schemas: z.record(z.string(), jsonSchema),
    providers: z.array(providerDescriptionSchema),
    state: panelStateSchema,
    /** The state that the page sent with `keep`. */
    kept: z.unknown().optional(),
  }),
  z.strictObject({ type: z.literal('state'), state: panelStateSchema }),
  /** The previewed conversation has changed; the revision grows with each change. */
  z.strictObject({ type: z.literal('previewChanged'), revision: z.int().min(0) }),
  z.strictObject({ type: z.literal('progress'), id: requestIdSchema, done: z.int(), of: z.int() }),
  z.strictObject({ type: z.literal('reply'), id: requestIdSchema, result: z.unknown() }),
  /** The message says what failed and what to do. */
  z.strictObject({ type: z.literal('failed'), id: requestIdSchema, message: messageSchema }),
  z.strictObject({ type: z.literal('reveal'), section: nameSchema }),
]);
export type MessageToWebview = z.output<typeof messageToWebviewSchema>;
export type WelcomeMessage = Extract<MessageToWebview, { type: 'welcome' }>;
