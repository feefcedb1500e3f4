/** Vendors' lists have no standard form, so fields are looked up under all known names. */
import * as z from 'zod';
import type { PartialPrices } from '../core/cost/prices';

export interface ListedModel {
  readonly id: string;
  /** Input and output together, in tokens. */
  readonly contextWindow?: number;
  readonly maxOutputTokens?: number;
  readonly seesImages?: boolean;
  readonly prices?: PartialPrices & { readonly longPrompts?: PartialPrices & { readonly aboveTokens: number } };
}

const MAX_LISTED_MODELS = 5_000;

/** 0, null and non-numbers mean absent. */
const tokenCountSchema = z
  .number()
  .int()
  .positive()
  .optional()
  .catch(() => undefined);
/**
 * US dollars per token. OpenRouter sends text, and a negative number if routing decides the price.
 */
const dollarsSchema = z
  .union([z.string(), z.number()])
  .transform(Number)
  .refine((price) => Number.isFinite(price) && price >= 0)
  .optional()
  .catch(() => undefined);
const supportedSchema = z
  .object({ supported: z.boolean() })
  .optional()
  .catch(() => undefined);

const routerPriceFields = {
  prompt: dollarsSchema,
  completion: dollarsSchema,
  input_cache_read: dollarsSchema,
  input_cache_write: dollarsSchema,
  input_cache_write_1h: dollarsSchema,
};

/**
 * `max_input_tokens`, `max_tokens`, `capabilities`: Anthropic (SDK, `ModelInfo`). `context_length`, `top_provider`, `architecture`,
 * `pricing`: OpenRouter (`@openrouter/sdk`, `Model`); Together has `context_length`, too. `max_model_len`: vLLM. `context_window`,
 * `max_completion_tokens`: Groq. `max_context_length`: Mistral, LM Studio. `inputTokenLimit`, `outputTokenLimit`: Gemini.
 */
const entrySchema = z.object({
  id: z.string().min(1).max(500).optional(),
  name: z.string().min(1).max(500).optional(),
  max_input_tokens: tokenCountSchema,
  max_tokens: tokenCountSchema,
  context_length: tokenCountSchema,
  context_window: tokenCountSchema,
  max_model_len: tokenCountSchema,
  max_context_length: tokenCountSchema,
  inputTokenLimit: tokenCountSchema,
  outputTokenLimit: tokenCountSchema,
  max_completion_tokens: tokenCountSchema,
  top_provider: z
    .object({ context_length: tokenCountSchema, max_completion_tokens: tokenCountSchema })
    .optional()
    .catch(() => undefined),
  architecture: z
    .object({ input_modalities: z.array(z.string()) })
    .optional()
    .catch(() => undefined),
  capabilities: z
    .object({
      image_input: supportedSchema,
      vision: z
        .boolean()
        .optional()
        .catch(() => undefined),
    })
    .optional()
    .catch(() => undefined),
  pricing: z
    .object({
      ...routerPriceFields,
      overrides: z
        .array(z.object({ min_prompt_tokens: tokenCountSchema, ...routerPriceFields }))
        .optional()
        .catch(() => undefined),
    })
    .optional()
    .catch(() => undefined),
});

type ModelListEntry = z.output<typeof entrySchema>;

export function parseModelList(entries: readonly unknown[]): ListedModel[] {
  const models = entries.slice(0, MAX_LISTED_MODELS).flatMap((entry) => {
    const parsedEntry = entrySchema.safeParse(entry);
    return parsedEntry.success ? parseModelListEntry(parsedEntry.data) : [];
  });
  return models.toSorted((a, b) => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0));
}

function parseModelListEntry(entry: ModelListEntry): ListedModel[] {
  const { top_provider: provider, architecture, capabilities } = entry;
  // Gemini's names are paths such as `models/…`.
  const id = entry.id ?? entry.name?.replace(/^models\//, '');
  if (id === undefined) return [];
  const contextWindow =
    provider?.context_length ??
    entry.context_length ??
    entry.context_window ??
    entry.max_input_tokens ??
    entry.max_model_len ??
    entry.max_context_length ??
    entry.inputTokenLimit;
  // Other vendors use `max_tokens` differently.
  const anthropicLimit = entry.max_input_tokens === undefined ? undefined : entry.max_tokens;
  const maxOutputTokens =
    provider?.max_completion_tokens ?? entry.max_completion_tokens ?? anthropicLimit ?? entry.outputTokenLimit;
  const seesImages =
    architecture?.input_modalities.includes('image') ?? capabilities?.image_input?.supported ?? capabilities?.vision;
  const prices = parsePrices(entry);
  return [
    {
      id,
      ...(contextWindow !== undefined && { contextWindow }),
      ...(maxOutputTokens !== undefined && { maxOutputTokens }),
      ...(seesImages !== undefined && { seesImages }),
      ...(prices && { prices }),
    },
  ];
}

function parsePrices({ pricing }: ModelListEntry): ListedModel['prices'] {
  if (!pricing) return undefined;
  const basePrices = convertRouterPrices(pricing);
  if (basePrices.input === undefined || basePrices.output === undefined) return undefined;
  const longPromptOverride = pricing.overrides?.find(({ min_prompt_tokens: from }) => from !== undefined);
  const aboveTokens = longPromptOverride?.min_prompt_tokens;
  return {
    ...basePrices,
    ...(longPromptOverride &&
      aboveTokens !== undefined && { longPrompts: { aboveTokens, ...convertRouterPrices(longPromptOverride) } }),
  };
}

type RouterPrices = { readonly [field in keyof typeof routerPriceFields]?: number | undefined };

function convertRouterPrices(prices: RouterPrices): PartialPrices {
  const {
    prompt,
    completion,
    input_cache_read: cacheRead,
    input_cache_write: cacheWrite,
    input_cache_write_1h: longCacheWrite,
  } = prices;
  return {
    ...(prompt !== undefined && { input: scaleToMillion(prompt) }),
    ...(completion !== undefined && { output: scaleToMillion(completion) }),
    ...(cacheRead !== undefined && { cacheRead: scaleToMillion(cacheRead) }),
    ...(cacheWrite !== undefined && { cacheWrite: scaleToMillion(cacheWrite) }),
    ...(longCacheWrite !== undefined && { longCacheWrite: scaleToMillion(longCacheWrite) }),
  };
}

/** 0.0000002 × 1,000,000 is not 0.2 in binary. */
const scaleToMillion = (price: number): number => Number((price * 1_000_000).toPrecision(10));
