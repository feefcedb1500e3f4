/**
 * The messages between the settings panel's webview and the extension host. Both sides check every message against
 * these schemas; what doesn't fit is dropped and logged. Strings that a person reads come in their language.
 *
 * The webview begins with `ready` and is answered with `welcome`. From then on each change of the state comes as a whole
 * `state` with a growing revision, so that nothing is patched and a late one is told by its number. Requests carry ids.
 */
import * as z from 'zod';
import { entryNameSchema, listChangeSchema } from '../core/settingValue';
import { accountMethods } from './account/methods';
import { judgeMethods } from './judge/methods';
import { historyMethods } from './history/methods';
import { presetComparisonMethods } from './presetComparison/methods';
import { previewMethods } from './preview/methods';
import { profileCostMethods } from './profileCosts/methods';

export type { Comparable, ComparedPass, ComparedPresets, Difference } from './presetComparison/methods';
export {
  WHAT_IF_CHOICES,
  type ShownAccount,
  type ShownAccountRow,
  type ShownTool,
  type ShownWeights,
} from './account/methods';
export type { JudgedSettings } from './judge/methods';
export type { ProfileComparison, ProfileCost } from './profileCosts/methods';
export type { EmptyRun, History, HistoryEntry, Recommendation, RunGroup } from './history/methods';
export { conversationNameSchema } from './preview/methods';
export type {
  Coherence,
  Compared,
  Configuration,
  ConversationName,
  EditExcerpt,
  MessageCell,
  PassDrafts,
  Preview,
  PreviewStep,
} from './preview/methods';

/** Raised when one side would misread the other; a webview that was restored from another version is built anew. */
export const PROTOCOL_VERSION = 1;

const name = z.string().min(1).max(200);
const id = z.string().min(1).max(200);
const message = z.string().max(20_000);

/** Where a setting is written. */
const scopeSchema = z.enum(['user', 'workspace']);
export type SettingScope = z.output<typeof scopeSchema>;

const problemSchema = z.object({ path: z.string(), message: z.string() });

/** A setting as it stands in its places. Absent means that it isn't set there. */
const settingSchema = z.object({
  /** The value in force. */
  value: z.unknown(),
  user: z.unknown().optional(),
  workspace: z.unknown().optional(),
  /** Of a provider's configuration: what it works with, the defaults filled in. */
  effective: z.unknown().optional(),
  /** A setting about keys, endpoints and money can't be set by a workspace. */
  scopes: z.array(scopeSchema),
  /** In a window on a remote machine the user's own settings file does not count for it. */
  isOfMachine: z.boolean(),
  /** The problems of that value. */
  problems: z.array(problemSchema),
});
export type SettingState = z.output<typeof settingSchema>;

const keyStateSchema = z.enum(['set', 'missing', 'other-endpoint', 'not-needed']);
export type ProfileKeyState = z.output<typeof keyStateSchema>;

/** A profile beside what its setting holds. The key itself never comes here. */
const profileSchema = z.object({
  id,
  key: keyStateSchema,
  /** Input and output together, in tokens. */
  contextWindow: z.number().optional(),
  /** False: nobody knows it, and a usual one is taken. */
  isWindowKnown: z.boolean().optional(),
  /** US dollars per million tokens. */
  inputPrice: z.number().optional(),
  outputPrice: z.number().optional(),
  /** When prices were right that are not the profile's own: an ISO 8601 date. */
  pricesAsOf: z.string().optional(),
  /** The model's tokens for one o200k token. */
  tokenFactor: z.number().optional(),
});
export type ProfileState = z.output<typeof profileSchema>;

const namedPricesSchema = z.object({
  input: z.number().optional(),
  output: z.number().optional(),
  cacheRead: z.number().optional(),
  cacheWrite: z.number().optional(),
  longCacheWrite: z.number().optional(),
});

/** A model of a vendor's own list; what the vendor doesn't say is absent. */
const vendorModelSchema = z.object({
  id: z.string(),
  /** Input and output together, in tokens. */
  contextWindow: z.number().optional(),
  maxOutputTokens: z.number().optional(),
  seesImages: z.boolean().optional(),
  /** US dollars per million tokens. */
  prices: namedPricesSchema
    .extend({ longPrompts: namedPricesSchema.extend({ aboveTokens: z.number() }).optional() })
    .optional(),
});
export type VendorModel = z.output<typeof vendorModelSchema>;

/** A model that VS Code itself offers. */
const editorModelSchema = z.object({ id, name: z.string(), vendor: z.string(), maxInputTokens: z.number() });
export type EditorModel = z.output<typeof editorModelSchema>;

/** A configuration of the Smart provider under a name. */
const presetSchema = z.object({
  id,
  name: z.string(),
  description: z.string(),
  isBuiltIn: z.boolean(),
  config: z.record(z.string(), z.unknown()),
});
export type PresetState = z.output<typeof presetSchema>;

const stateSchema = z.object({
  /** Grows with each change. */
  revision: z.int().min(0),
  /** By name without the extension's prefix, such as `manual.targetPercent`. */
  settings: z.record(z.string(), settingSchema),
  profiles: z.array(profileSchema),
  editorModels: z.array(editorModelSchema),
  /** Those of the extension first. */
  presets: z.array(presetSchema),
  /** Grows with each change to the history since the panel was opened. */
  historyRevision: z.int().min(0),
  /** Name of the open workspace; absent where none is open. */
  workspace: z.string().optional(),
  /** The window runs on a remote machine: over SSH, in WSL, in a container, in code-server. */
  isRemote: z.boolean(),
});
export type PanelState = z.output<typeof stateSchema>;

/** A JSON Schema as package.json or a provider gives it. */
const jsonSchema = z.record(z.string(), z.unknown());

const providerSchema = z.object({
  id,
  name: z.string(),
  description: z.string(),
  /** Of its configuration. */
  schema: jsonSchema,
  /** The setting that holds its configuration. */
  setting: z.string().optional(),
});
export type ProviderDescription = z.output<typeof providerSchema>;

const settingChange = {
  name,
  scope: scopeSchema,
  /** Keys inside the setting's object, indexes or names of a list's entries; empty: the whole setting. */
  path: z.array(z.union([z.string().max(200), z.int().min(0).max(10_000), entryNameSchema])).max(40),
  /** Absent: back to what holds without it. */
  value: z.unknown().optional(),
};
const verdict = z.object({ problems: z.array(problemSchema) });
const nothing = z.null();
const byId = z.strictObject({ id });
/** A profile that is there, or one that is being made. */
const profileAsked = z.union([byId, z.strictObject({ profile: z.record(z.string(), z.unknown()) })]);

/** The commands that the panel may run, so that a webview can't run any other. */
export const PANEL_COMMANDS = ['condenseNow', 'condenseSample', 'undo', 'showLog'] as const;

/** The webview's requests: parameters and answer by method. */
export const methods = {
  /** The problems that a change would bring. Nothing is saved. */
  checkSetting: {
    params: z.strictObject(settingChange),
    /** With what a sound value at that place works with, the defaults filled in. */
    result: verdict.extend({ effective: z.unknown().optional() }),
  },
  /** Saves a change unless something is wrong with it. */
  updateSetting: { params: z.strictObject(settingChange), result: verdict },
  /** Changes a list of entries with ids as it then stands, so that nothing older is written back over what came between. */
  changeList: {
    params: z.strictObject({ name, scope: scopeSchema, path: z.array(name).max(12), change: listChangeSchema }),
    /** With what takes this change back, and no other one. */
    result: verdict.extend({ undo: listChangeSchema.optional() }),
  },
  /** Shows a setting in settings.json. */
  openSettingsFile: { params: z.strictObject({ scope: scopeSchema, name }), result: nothing },
  /** Adds a profile, or puts it in the place of the one with its id. */
  saveProfile: { params: z.strictObject({ profile: z.record(z.string(), z.unknown()) }), result: verdict },
  /** Asks the user first. */
  removeProfile: { params: byId, result: z.object({ removed: z.boolean() }) },
  /** The key is asked for by VS Code itself and goes into its secret store. */
  setKey: { params: profileAsked, result: z.object({ isSet: z.boolean() }) },
  /** Removes the key of a profile that was not added in the end. */
  forgetKey: { params: byId, result: nothing },
  testProfile: { params: profileAsked, result: z.object({ ok: z.boolean(), message }) },
  /** The models in the list of the profile's vendor. */
  listModels: { params: profileAsked, result: z.object({ models: z.array(vendorModelSchema) }) },
  /** The request that Native would send for the sample conversation if this were the prompt of the settings. */
  previewPrompt: {
    params: z.strictObject({ prompt: z.string().max(100_000) }),
    /** The profile: whose own prompt takes the place of this one. */
    result: z.object({ text: z.string(), profile: z.string().optional() }),
  },
  /** Opens a preset as JSON in an editor tab, with completion; what is changed there is a file of its own. */
  openPreset: { params: byId, result: nothing },
  /** Both ask for a file. */
  exportPreset: { params: byId, result: z.object({ written: z.boolean() }) },
  importPreset: {
    params: z.strictObject({ scope: scopeSchema }),
    result: z.object({ id: id.optional(), problems: z.array(problemSchema), undo: z.array(listChangeSchema) }),
  },
  ...presetComparisonMethods,
  ...previewMethods,
  ...historyMethods,
  ...profileCostMethods,
  ...judgeMethods,
  ...accountMethods,
  runCommand: { params: z.strictObject({ command: z.enum(PANEL_COMMANDS) }), result: nothing },
} as const;
export type Method = keyof typeof methods;
export type Params<M extends Method> = z.output<(typeof methods)[M]['params']>;
export type Result<M extends Method> = z.output<(typeof methods)[M]['result']>;

/** Whether a request's method is one that the panel answers: what comes from the page is checked. */
export const isMethod = (value: string): value is Method => Object.hasOwn(methods, value);

const requestId = z.int().min(1);

/** From the webview. A request's parameters are checked by its method. */
export const toHostSchema = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('ready'), version: z.literal(PROTOCOL_VERSION) }),
  z.strictObject({ type: z.literal('request'), id: requestId, method: name, params: z.unknown() }),
  z.strictObject({ type: z.literal('cancel'), id: requestId }),
  /** What the page wants to remember when its tab is closed; it comes back with the next welcome. */
  z.strictObject({ type: z.literal('keep'), kept: z.record(z.string().max(100), z.unknown()) }),
  /** The webview's findings, for the log. */
  z.strictObject({ type: z.literal('log'), message }),
]);
export type ToHost = z.output<typeof toHostSchema>;

/** From the host. A result is checked by the method that was asked for. */
export const toWebviewSchema = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('welcome'),
    /** Translations by the English text; empty in English. */
    texts: z.record(z.string(), z.string()),
    /** BCP 47 tag. */
    language: z.string(),
    /** The schema of each setting in package.json. */
    schemas: z.record(z.string(), jsonSchema),
    providers: z.array(providerSchema),
    state: stateSchema,
    /** What the page asked to keep, in this workspace; absent: nothing yet. */
    kept: z.unknown().optional(),
  }),
  z.strictObject({ type: z.literal('state'), state: stateSchema }),
  /** The conversation that was previewed last is no longer what the answer was made of; the revision grows as a state's. */
  z.strictObject({ type: z.literal('previewChanged'), revision: z.int().min(0) }),
  z.strictObject({ type: z.literal('reply'), id: requestId, result: z.unknown() }),
  /** A request failed; the message says what happened and what to do. */
  z.strictObject({ type: z.literal('failed'), id: requestId, message }),
  /** Shows a section. */
  z.strictObject({ type: z.literal('reveal'), section: name }),
]);
export type ToWebview = z.output<typeof toWebviewSchema>;
export type Welcome = Extract<ToWebview, { type: 'welcome' }>;
