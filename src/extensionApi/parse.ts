/** Validates values from other extensions. */
import type { OpenAIRecord } from '../conversations/formats/openai/arguments';
import { checkedOpenAI } from '../conversations/formats/openai/openai';
import * as z from 'zod';
import { checkMessage } from '../conversations/formats/messageShape';
import type { Edit } from '../core/condense/edits/edits';
import { upgradeEdit } from '../core/condense/edits/storedEdits';
import { isEditOperation, type EditOperation } from '../core/condense/edits/operations';
import type { WindowLimits } from '../core/condense/fallback';
import { isBuiltIn } from '../core/condense/types';
import { MAX_CONDENSE_THRESHOLD, MIN_CONDENSE_THRESHOLD } from '../core/condense/trigger/thresholds';
import { errorMessage } from '../core/errors';
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

const count = z.int().min(0);
const dollars = z.number().min(0);
const text = z.string();
const name = z.string().trim().min(1).max(500);
const path = z.array(z.union([z.string(), count])).min(1);
const place = z.object({ message: count, path });
const callback = z.custom<(...values: never[]) => unknown>(
  (value) => typeof value === 'function',
  'expected a function',
);

const editFields = {
  id: text,
  step: text,
  operation: z.custom<EditOperation>(isEditOperation, 'is not an operation that edits have'),
  reason: text,
  strict: z.boolean(),
  tokensBefore: z.number(),
  tokensAfter: z.number(),
  before: text,
};
const cut = z.object({
  start: count,
  end: count,
  text,
  reference: text.optional(),
  recoverable: z.literal(true).optional(),
});
const edit = z.discriminatedUnion('kind', [
  z.object({
    ...editFields,
    kind: z.literal('cut'),
    place,
    contentType: z.enum(['messageText', 'toolParameters', 'toolResults']),
    cuts: z.array(cut),
  }),
  z.object({
    ...editFields,
    kind: z.literal('summary'),
    start: count,
    end: count,
    reference: text,
    message: z.looseObject({ role: z.enum(['user', 'assistant', 'system']) }),
  }),
  z.object({
    ...editFields,
    kind: z.literal('block'),
    place,
    placeholder: z.object({ text, reference: text }).optional(),
  }),
]);

const conversation = z.object({
  id: z.string().min(1),
  messages: z.array(z.unknown()),
  edits: z.array(z.preprocess(upgradeEdit, edit)).default([]),
  system: text.optional(),
  vendor: text.optional(),
  overheadTokens: count.default(0),
});

const options = z.object({
  provider: text.optional(),
  config: z.unknown().optional(),
  targetTokens: count.optional(),
  maxCost: dollars.optional(),
  signal: z.instanceof(AbortSignal).optional(),
  onProgress: callback.optional(),
});

const modelRequest = z.object({
  extension: z.string().regex(/^[\w-]+\.[\w.-]+$/, 'must be the id of an extension, such as publisher.name'),
  profile: text.optional(),
  system: text.default(''),
  prompt: z.string().min(1),
  maxOutputTokens: z.int().min(1).max(1_000_000).default(2_000),
  maxCost: dollars.optional(),
  signal: z.instanceof(AbortSignal).optional(),
});

const modelWindow = z.object({
  contextWindow: z.int().min(1_000),
  maxOutputTokens: z.int().min(1).optional(),
  tokenFactor: z.number().min(0.1).max(10).optional(),
  thresholdPercent: z.number().min(MIN_CONDENSE_THRESHOLD).max(MAX_CONDENSE_THRESHOLD).optional(),
  thresholdTokens: z.int().min(1).optional(),
});

const provider = z
  .object({
    id: z
      .string()
      .regex(/^[\w.-]{1,64}$/, 'must consist of letters, digits, ., _ and -, at most 64')
      .refine((id) => !isBuiltIn(id), 'is the id of a built-in provider'),
    name,
    description: name,
    version: name,
    configSchema: z.record(z.string(), z.unknown()).optional(),
    usesModel: z.boolean().default(false),
    condense: callback,
    estimate: callback.optional(),
  })
  .refine((value) => !value.usesModel || value.estimate !== undefined, {
    path: ['estimate'],
    message: 'is needed where usesModel is true: an estimate makes no paid call',
  });

const change = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('cut'), message: count, path, start: count, end: count, what: name, reason: name }),
  z.object({ kind: z.literal('summary'), start: count, end: count, text: z.string().trim().min(1), reason: name }),
]);
const result = z.object({
  changes: z.array(change),
  cost: dollars.optional(),
  notes: z.array(text).default([]),
});
const estimate = z.object({ tokensAfter: count, cost: dollars.optional() });

/** A copy, so that later changes by the caller have no effect. */
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
  const { id, messages, edits, system, vendor, overheadTokens } = checked(conversation, value, 'conversation');
  return {
    id,
    messages: messagesOf(messages, 'conversation.messages'),
    // The schema matches Edit, apart from its branded IDs and hashes.
    edits: copyValue(edits, 'conversation.edits') as unknown as Edit[],
    overheadTokens,
    ...(system !== undefined && { system }),
    ...(vendor !== undefined && { vendor }),
  };
}

/** @throws TypeError */
export const parseMessages = (value: readonly unknown[]): ApiMessage[] =>
  messagesOf(checked(z.array(z.unknown()), value, 'messages'), 'messages');

/**
 * Copies messages of OpenAI's Chat Completions.
 * @throws TypeError
 */
export function parseOpenAI(value: readonly unknown[]): OpenAIRecord[] {
  return copyValue(checked(z.array(z.unknown()), value, 'messages'), 'messages').map((message, index) => {
    try {
      return checkedOpenAI(message, `messages[${index}]`);
    } catch (error) {
      throw new TypeError(errorMessage(error), { cause: error });
    }
  });
}

function messagesOf(values: readonly unknown[], where: string): ApiMessage[] {
  return copyValue(values, where).map((message, index) => {
    try {
      checkMessage(message, `${where}[${index}]`);
    } catch (error) {
      throw new TypeError(errorMessage(error), { cause: error });
    }
    return message;
  });
}

/** @throws TypeError if the value isn't JSON, such as a function */
function copyValue<T>(value: T, where: string): T {
  try {
    return structuredClone(value);
  } catch (error) {
    throw new TypeError(`${where} is not plain data: ${errorMessage(error)}`, {
      cause: error,
    });
  }
}

/** @throws TypeError */
export function parseOptions(value: CondenseOptions | undefined): CondenseOptions {
  checked(options, value ?? {}, 'options');
  return value ?? {};
}

/** @throws TypeError */
export const parseModelRequest = (value: ModelRequest): z.output<typeof modelRequest> =>
  checked(modelRequest, value, 'request');

/** @throws TypeError */
export function parseModelWindow(value: ModelWindow): {
  readonly window: WindowLimits;
  readonly thresholdPercent: number | undefined;
  readonly thresholdTokens: number | undefined;
} {
  const { contextWindow, maxOutputTokens, tokenFactor, thresholdPercent, thresholdTokens } = checked(
    modelWindow,
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
  /** {@link configSchema} as a validator. */
  readonly zodSchema: z.ZodType;
}

const NO_CONFIG = { type: 'object', properties: {}, additionalProperties: false };

/** @throws TypeError */
export function parseProvider(value: Provider): ParsedProvider {
  const { configSchema = NO_CONFIG, usesModel } = checked(provider, value, 'provider');
  let zodSchema: z.ZodType;
  try {
    // zod checks whether it is a JSON Schema.
    zodSchema = z.fromJSONSchema(configSchema as Parameters<typeof z.fromJSONSchema>[0]);
  } catch (error) {
    throw new TypeError(`provider.configSchema: ${errorMessage(error)}`, {
      cause: error,
    });
  }
  const without = settingsWithoutDefault(configSchema);
  if (without.length > 0) {
    throw new TypeError(`provider.configSchema: every setting needs a default; without one: ${without.join(', ')}`);
  }
  const empty = zodSchema.safeParse({});
  // zod doesn't validate defaults by itself.
  const defaults = empty.success ? zodSchema.safeParse(empty.data) : empty;
  if (!defaults.success) {
    throw new TypeError(`provider.configSchema: its defaults are not valid: ${listFields(defaults.error)}`);
  }
  return { provider: value, usesModel, configSchema, zodSchema };
}

/** Settings without a default. An object has one if all its fields do; lists and maps need none. */
function settingsWithoutDefault(schema: Readonly<Record<string, unknown>>, path = ''): string[] {
  const { properties } = schema;
  return Object.entries(isRecord(properties) ? properties : {}).flatMap(([name, setting]) => {
    const inside = path === '' ? name : `${path}.${name}`;
    if (!isRecord(setting)) return [inside];
    if ('default' in setting || 'const' in setting) return [];
    return isRecord(setting['properties']) ? settingsWithoutDefault(setting, inside) : [inside];
  });
}

export interface ParsedResult extends Required<Omit<ProviderResult, 'cost'>> {
  /** US dollars; undefined if the provider doesn't know. */
  readonly cost: number | undefined;
}

/**
 * A provider's result.
 * @throws TypeError
 */
export function parseResult(value: unknown, of: string): ParsedResult {
  const { changes, notes, cost } = checked(result, value, `the result of ${of}`);
  const isKnown = typeof value === 'object' && value !== null && 'cost' in value;
  return { changes, notes, cost: isKnown ? cost : 0 };
}

/** @throws TypeError */
export const parseEstimate = (value: unknown, of: string): ProviderEstimate => {
  const { tokensAfter, cost } = checked(estimate, value, `the estimate of ${of}`);
  return { tokensAfter, cost };
};

/** @throws TypeError that names each invalid field */
function checked<T>(schema: z.ZodType<T>, value: unknown, what: string): T {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new TypeError(`${what}: ${listFields(parsed.error)}`);
}

const listFields = (error: z.ZodError): string =>
  error.issues
    .slice(0, 5)
    .map((issue) => `${issue.path.map(String).join('.') || 'value'}: ${issue.message}`)
    .join('; ');
