import type { OpenAIRecord } from '../conversations/formats/openai/arguments';
import { checkOpenAIMessage } from '../conversations/formats/openai/openai';
import * as z from 'zod';
import { assertMessage } from '../conversations/formats/messageShape';
import type { Edit } from '../core/condense/edits/edits';
import { upgradeStoredEdit } from '../core/condense/edits/storedEdits';
import { isEditOperation, type EditOperation } from '../core/condense/edits/operations';
import type { WindowLimits } from '../core/condense/fallback';
import { isBuiltInProvider } from '../core/condense/types';
import { MAX_CONDENSE_THRESHOLD, MIN_CONDENSE_THRESHOLD } from '../core/condense/trigger/thresholds';
import { getErrorMessage } from '../core/errors';
import { isRecord } from '../core/messages/blocks';
import type { ApiMessage } from '../core/messages/types';
import type {
  Conversation,
  CondenseOptions,
  ModelRequest,
  ModelWindow,
  Provider,
  ProviderEstimate,
  ProviderResult,
} from './api';

const countSchema = z.int().min(0);
const dollarsSchema = z.number().min(0);
const textSchema = z.string();
const nameSchema = z.string().trim().min(1).max(500);
const pathSchema = z.array(z.union([z.string(), countSchema])).min(1);
const placeSchema = z.object({ message: countSchema, path: pathSchema });
const callbackSchema = z.custom<(...values: never[]) => unknown>(
  (value) => typeof value === 'function',
  'expected a function',
);

const editFieldSchemas = {
  id: textSchema,
  step: textSchema,
  operation: z.custom<EditOperation>(isEditOperation, 'is not an operation that edits have'),
  reason: textSchema,
  strict: z.boolean(),
  tokensBefore: z.number(),
  tokensAfter: z.number(),
  before: textSchema,
};
const cutSchema = z.object({
  start: countSchema,
  end: countSchema,
  text: textSchema,
  reference: textSchema.optional(),
  recoverable: z.literal(true).optional(),
});
const editSchema = z.discriminatedUnion('kind', [
  z.object({
    ...editFieldSchemas,
    kind: z.literal('cut'),
    place: placeSchema,
    contentType: z.enum(['messageText', 'toolParameters', 'toolResults']),
    cuts: z.array(cutSchema),
  }),
  z.object({
    ...editFieldSchemas,
    kind: z.literal('summary'),
    start: countSchema,
    end: countSchema,
    reference: textSchema,
    message: z.looseObject({ role: z.enum(['user', 'assistant', 'system']) }),
  }),
  z.object({
    ...editFieldSchemas,
    kind: z.literal('block'),
    place: placeSchema,
    placeholder: z.object({ text: textSchema, reference: textSchema }).optional(),
  }),
]);

const conversationSchema = z.object({
  id: z.string().min(1),
  messages: z.array(z.unknown()),
  edits: z.array(z.preprocess(upgradeStoredEdit, editSchema)).default([]),
  system: textSchema.optional(),
  vendor: textSchema.optional(),
  overheadTokens: countSchema.default(0),
});

const optionsSchema = z.object({
  provider: textSchema.optional(),
  config: z.unknown().optional(),
  targetTokens: countSchema.optional(),
  maxCost: dollarsSchema.optional(),
  signal: z.instanceof(AbortSignal).optional(),
  onProgress: callbackSchema.optional(),
});

const modelRequestSchema = z.object({
  extension: z.string().regex(/^[\w-]+\.[\w.-]+$/, 'must be the id of an extension, such as publisher.name'),
  profile: textSchema.optional(),
  system: textSchema.default(''),
  prompt: z.string().min(1),
  maxOutputTokens: z.int().min(1).max(1_000_000).default(2_000),
  maxCost: dollarsSchema.optional(),
  signal: z.instanceof(AbortSignal).optional(),
});

const modelWindowSchema = z.object({
  contextWindow: z.int().min(1_000),
  maxOutputTokens: z.int().min(1).optional(),
  tokenFactor: z.number().min(0.1).max(10).optional(),
  thresholdPercent: z.number().min(MIN_CONDENSE_THRESHOLD).max(MAX_CONDENSE_THRESHOLD).optional(),
  thresholdTokens: z.int().min(1).optional(),
});

const providerSchema = z
  .object({
    id: z
      .string()
      .regex(/^[\w.-]{1,64}$/, 'must consist of letters, digits, ., _ and -, at most 64')
      .refine((id) => !isBuiltInProvider(id), 'is the id of a built-in provider'),
    name: nameSchema,
    description: nameSchema,
    version: nameSchema,
    configSchema: z.record(z.string(), z.unknown()).optional(),
    usesModel: z.boolean().default(false),
    condense: callbackSchema,
    estimate: callbackSchema.optional(),
  })
  .refine((value) => !value.usesModel || value.estimate !== undefined, {
    path: ['estimate'],
    message: 'is needed where usesModel is true: an estimate makes no paid call',
  });

const changeSchema = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('cut'),
    message: countSchema,
    path: pathSchema,
    start: countSchema,
    end: countSchema,
    what: nameSchema,
    reason: nameSchema,
  }),
  z.object({
    kind: z.literal('summary'),
    start: countSchema,
    end: countSchema,
    text: z.string().trim().min(1),
    reason: nameSchema,
  }),
]);
const resultSchema = z.object({
  changes: z.array(changeSchema),
  cost: dollarsSchema.optional(),
  notes: z.array(textSchema).default([]),
});
const estimateSchema = z.object({ tokensAfter: countSchema, cost: dollarsSchema.optional() });

/** A copy of the caller's conversation, so that later changes by the caller have no effect. */
export interface ParsedConversation {
  readonly id: string;
  readonly messages: readonly ApiMessage[];
  readonly edits: readonly Edit[];
  readonly overheadTokens: number;
  readonly system?: string;
  readonly vendor?: string;
}

/** @throws TypeError */
export function parseConversation(value: Conversation): ParsedConversation {
  const { id, messages, edits, system, vendor, overheadTokens } = parseOrThrow(
    conversationSchema,
    value,
    'conversation',
  );
  return {
    id,
    messages: parseMessageList(messages, 'conversation.messages'),
    // Safe cast: the schema matches Edit, whose IDs and hashes have only additional brands.
    edits: copyAsData(edits, 'conversation.edits') as unknown as Edit[],
    overheadTokens,
    ...(system !== undefined && { system }),
    ...(vendor !== undefined && { vendor }),
  };
}

/** @throws TypeError */
export const parseMessages = (value: readonly unknown[]): ApiMessage[] =>
  parseMessageList(parseOrThrow(z.array(z.unknown()), value, 'messages'), 'messages');

/**
 * Copies the messages.
 * @throws TypeError
 */
export function parseOpenAI(value: readonly unknown[]): OpenAIRecord[] {
  return copyAsData(parseOrThrow(z.array(z.unknown()), value, 'messages'), 'messages').map((message, index) => {
    try {
      return checkOpenAIMessage(message, `messages[${index}]`);
    } catch (error) {
      throw new TypeError(getErrorMessage(error), { cause: error });
    }
  });
}

function parseMessageList(values: readonly unknown[], label: string): ApiMessage[] {
  return copyAsData(values, label).map((message, index) => {
    try {
      assertMessage(message, `${label}[${index}]`);
    } catch (error) {
      throw new TypeError(getErrorMessage(error), { cause: error });
    }
    return message;
  });
}

/** @throws TypeError if the value isn't JSON, such as a function */
function copyAsData<T>(value: T, label: string): T {
  try {
    return structuredClone(value);
  } catch (error) {
    throw new TypeError(`${label} is not plain data: ${getErrorMessage(error)}`, {
      cause: error,
    });
  }
}

/** @throws TypeError */
export function parseOptions(value: CondenseOptions | undefined): CondenseOptions {
  parseOrThrow(optionsSchema, value ?? {}, 'options');
  return value ?? {};
}

/** @throws TypeError */
export const parseModelRequest = (value: ModelRequest): z.output<typeof modelRequestSchema> =>
  parseOrThrow(modelRequestSchema, value, 'request');

/** @throws TypeError */
export function parseModelWindow(value: ModelWindow): {
  readonly window: WindowLimits;
  readonly thresholdPercent: number | undefined;
  readonly thresholdTokens: number | undefined;
} {
  const { contextWindow, maxOutputTokens, tokenFactor, thresholdPercent, thresholdTokens } = parseOrThrow(
    modelWindowSchema,
    value,
    'model',
  );
  const window = {
    contextWindow,
    ...(maxOutputTokens !== undefined && { maxOutputTokens }),
    ...(tokenFactor !== undefined && { tokenFactor }),
  };
  return { window, thresholdPercent, thresholdTokens };
}

export interface ParsedProvider {
  readonly provider: Provider;
  readonly usesModel: boolean;
  readonly configSchema: Readonly<Record<string, unknown>>;
  readonly zodSchema: z.ZodType;
}

const NO_CONFIG_SCHEMA = { type: 'object', properties: {}, additionalProperties: false };

/** @throws TypeError */
export function parseProvider(value: Provider): ParsedProvider {
  const { configSchema = NO_CONFIG_SCHEMA, usesModel } = parseOrThrow(providerSchema, value, 'provider');
  let zodSchema: z.ZodType;
  try {
    // zod checks whether this is a JSON Schema.
    zodSchema = z.fromJSONSchema(configSchema as Parameters<typeof z.fromJSONSchema>[0]);
  } catch (error) {
    throw new TypeError(`provider.configSchema: ${getErrorMessage(error)}`, {
      cause: error,
    });
  }
  const settingsWithoutDefault = listSettingsWithoutDefault(configSchema);
  if (settingsWithoutDefault.length > 0) {
    throw new TypeError(
      `provider.configSchema: every setting needs a default; without one: ${settingsWithoutDefault.join(', ')}`,
    );
  }
  const emptyConfigResult = zodSchema.safeParse({});
  // zod doesn't validate defaults by itself.
  const defaultsResult = emptyConfigResult.success ? zodSchema.safeParse(emptyConfigResult.data) : emptyConfigResult;
  if (!defaultsResult.success) {
    throw new TypeError(
      `provider.configSchema: its defaults are not valid: ${describeInvalidFields(defaultsResult.error)}`,
    );
  }
  return { provider: value, usesModel, configSchema, zodSchema };
}

/**
 * Lists settings that have no default. An object has one if all its fields do; lists and maps need
 * none.
 */
function listSettingsWithoutDefault(schema: Readonly<Record<string, unknown>>, path = ''): string[] {
  const { properties } = schema;
  return Object.entries(isRecord(properties) ? properties : {}).flatMap(([name, setting]) => {
    const fieldPath = path === '' ? name : `${path}.${name}`;
    if (!isRecord(setting)) return [fieldPath];
    if ('default' in setting || 'const' in setting) return [];
    return isRecord(setting['properties']) ? listSettingsWithoutDefault(setting, fieldPath) : [fieldPath];
  });
}

export interface ParsedResult extends Required<Omit<ProviderResult, 'cost'>> {
  /** US dollars that the provider spent; undefined if it doesn't know. */
  readonly cost: number | undefined;
}

/** @throws TypeError */
export function parseResult(value: unknown, source: string): ParsedResult {
  const { changes, notes, cost } = parseOrThrow(resultSchema, value, `the result of ${source}`);
  const isCostKnown = typeof value === 'object' && value !== null && 'cost' in value;
  return { changes, notes, cost: isCostKnown ? cost : 0 };
}

/** @throws TypeError */
export const parseEstimate = (value: unknown, source: string): ProviderEstimate => {
  const { tokensAfter, cost } = parseOrThrow(estimateSchema, value, `the estimate of ${source}`);
  return { tokensAfter, cost };
};

/** @throws TypeError that names each invalid field */
function parseOrThrow<T>(schema: z.ZodType<T>, value: unknown, label: string): T {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new TypeError(`${label}: ${describeInvalidFields(parsed.error)}`);
}

const describeInvalidFields = (error: z.ZodError): string =>
  error.issues
    .slice(0, 5)
    .map((issue) => `${issue.path.map(String).join('.') || 'value'}: ${issue.message}`)
    .join('; ');
