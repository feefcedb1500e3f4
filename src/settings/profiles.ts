/** Profiles contain no keys; see keys.ts. */
import * as z from 'zod';
import { customPromptSchema } from '../core/condense/summary/promptText';
import {
  INHERIT_THRESHOLD,
  MAX_CONDENSE_THRESHOLD,
  MIN_CONDENSE_THRESHOLD,
  type CondensationThreshold,
} from '../core/condense/trigger/thresholds';
import { toJsonSchema } from '../core/condense/config';
import type { ConfigProblem } from '../core/condense/types';
import { parseDroppingWrongFields, type FieldPath } from '../core/condense/wrongFields';
import { describeIssue } from '../core/issueWords';
import { isRecord } from '../core/messages/blocks';
import { findNearestName } from '../core/nearestName';
import { findModelFamily } from '../core/vendors/families';
import { listRequiredFields, VENDOR_IDS, getVendorEntry } from '../core/vendors/vendors';
import { formatTokens } from '../core/format';

/** Minimum of thinking tokens in Anthropic's API (API guide, "Extended thinking"). */
const MIN_THINKING_TOKENS = 1_024;

/** US dollars per million tokens. */
const priceSchema = z.number().min(0).max(10_000);
const priceFieldSchemas = {
  input: priceSchema.optional().describe('US dollars per million input tokens.'),
  output: priceSchema.optional().describe('US dollars per million output tokens.'),
  cacheRead: priceSchema.optional().describe('US dollars per million tokens read from the cache.'),
  cacheWrite: priceSchema.optional().describe('US dollars per million tokens written to the cache.'),
  longCacheWrite: priceSchema
    .optional()
    .describe('US dollars per million tokens written to the cache for an hour or longer.'),
};
/** Fields of a request that users can't override. */
const RESERVED_REQUEST_FIELDS = new Set(
  'model messages input contents system instructions systemInstruction tools toolConfig stream'.split(' '),
);
const tokensSchema = z.int().min(1_000).max(100_000_000);
const textSchema = z.string().trim().min(1).max(500);
const pricesSchema = z.strictObject({
  ...priceFieldSchemas,
  longPrompts: z
    .strictObject({
      aboveTokens: tokensSchema.describe(
        'Number of prompt tokens above which these prices apply to the whole request.',
      ),
      ...priceFieldSchemas,
    })
    .optional()
    .describe('Prices of long prompts, in US dollars per million tokens.'),
});
/** Threshold in tokens; 0 disables it. */
export const thresholdTokensSchema = z
  .int()
  .min(0)
  .max(100_000_000)
  .refine((value) => value === 0 || value >= 1_000, 'must be 0, or 1,000 or more');
/**
 * Percentage of the threshold's tokens. More would trigger the next condensation immediately; less
 * would leave too little for the model.
 */
export const targetPercentSchema = z.number().min(10).max(90);

export const profileSchema = z
  .object({
    id: z
      .string()
      .regex(/^[\w-]{1,64}$/, 'must consist of letters, digits, _ and -, at most 64')
      .describe('A name of letters, digits, _ and - that never changes; other settings refer to the model by it.'),
    name: textSchema.describe('The name that is shown.'),
    vendor: z
      .enum(VENDOR_IDS)
      .describe("The protocol that the endpoint speaks. OpenAI's is also spoken by Azure, Ollama, LM Studio and vLLM."),
    model: textSchema.describe('The model’s ID at the vendor.'),
    baseUrl: z
      .url({ protocol: /^https?$/ })
      .optional()
      .describe(
        'Address of the API, such as http://127.0.0.1:11434/v1. If omitted, the vendor’s own. A model on this machine costs nothing unless you set its prices.',
      ),
    allowInsecureHttp: z
      .boolean()
      .optional()
      .describe(
        'Allows unencrypted HTTP to another machine. The key and the conversation can then be read by others on the network.',
      ),
    api: z
      .enum(['chat', 'responses'])
      .optional()
      .describe(
        'The API of OpenAI that is called: Chat Completions or Responses. If omitted, the one through which the model accepts tools.',
      ),
    // The region is part of the host name, so other characters could send the key elsewhere.
    region: textSchema
      .regex(/^[A-Za-z\d-]+$/, 'must consist of letters, digits and -')
      .optional()
      .describe('Region of Bedrock or Vertex, such as us-east-1.'),
    projectId: textSchema.optional().describe('Google Cloud project for Vertex.'),
    threshold: z
      .union([z.literal(INHERIT_THRESHOLD), z.number().min(MIN_CONDENSE_THRESHOLD).max(MAX_CONDENSE_THRESHOLD)])
      .optional()
      .describe(
        'Percentage of the context window at which conversations with this model are condensed (5 to 100). -1: the global threshold.',
      ),
    thresholdTokens: thresholdTokensSchema
      .optional()
      .describe(
        'Number of tokens at which conversations with this model are condensed, if that is less than the percentage of its window. 0: only the percentage counts. If omitted, the global setting applies.',
      ),
    targetPercent: targetPercentSchema
      .optional()
      .describe(
        'Percentage of the threshold that may remain when a conversation is condensed automatically. If omitted, the global setting applies.',
      ),
    prompt: customPromptSchema.optional().describe('A prompt for summaries by this model, in place of the global one.'),
    cacheLifetime: z
      .enum(['none', '5m', '1h'])
      .optional()
      .describe(
        'How long the vendor keeps a prompt in its cache. none: requests are not marked for the cache. If omitted, 5m in the chat and none for summaries.',
      ),
    prices: pricesSchema
      .optional()
      .describe('Prices in US dollars per million tokens, in place of those of the built-in table.'),
    contextWindow: tokensSchema
      .optional()
      .describe(
        'Context window of the model in tokens, input and output together. If omitted, as known for the model.',
      ),
    maxOutputTokens: z
      .int()
      .min(256)
      .max(10_000_000)
      .optional()
      .describe(
        'Maximum number of tokens in one answer, reserved in the window as far as the threshold leaves room. If omitted, the model’s own limit.',
      ),
    tokenFactor: z
      .number()
      .min(0.5)
      .max(5)
      .optional()
      .describe(
        'Number of the model’s tokens per token counted here (o200k), used until the model’s answers report usage. If omitted, as known for the model’s family.',
      ),
    images: z
      .boolean()
      .optional()
      .describe(
        'Whether the model accepts images; if not, each image is replaced with a text. If omitted, as known for the model, or found out from its answers.',
      ),
    extraBody: z
      .record(z.string().min(1).max(100), z.json())
      .superRefine((fields, context) => {
        for (const field of Object.keys(fields).filter((name) => RESERVED_REQUEST_FIELDS.has(name))) {
          context.addIssue({ code: 'custom', path: [field], message: 'is written by Context Condenser itself' });
        }
      })
      .optional()
      .describe(
        'Vendor-specific fields that are added to each request unchanged, such as {"output_config": {"effort": "low"}} for Claude, {"reasoning_effort": "low"} or {"service_tier": "flex"} for OpenAI. Their effect on the price is not known, so set the prices.',
      ),
    timeoutSeconds: z.int().min(5).max(3_600).optional().describe('Time limit of a whole call, in seconds.'),
    offerInChat: z.boolean().optional().describe('Offers this model in VS Code’s chat, with condensed conversations.'),
    thinkingTokens: z
      .int()
      .min(MIN_THINKING_TOKENS)
      .max(1_000_000)
      .optional()
      .describe(
        'For Anthropic’s models: maximum number of thinking tokens before an answer in the chat (1024 or more, less than maxOutputTokens). If omitted, the model does not think.',
      ),
  })
  .strict()
  .superRefine((profile, context) => {
    for (const field of listRequiredFields(profile.vendor)) {
      if (profile[field] === undefined) {
        context.addIssue({ code: 'custom', path: [field], message: `is needed for ${profile.vendor}` });
      }
    }
    const { thinkingTokens = 0, maxOutputTokens = findModelFamily(profile.model)?.maxOutputTokens } = profile;
    if (maxOutputTokens !== undefined && thinkingTokens >= maxOutputTokens) {
      const message = `must be less than the ${formatTokens(maxOutputTokens)} tokens of one answer (maxOutputTokens)`;
      context.addIssue({ code: 'custom', path: ['thinkingTokens'], message });
    }
  });

export type ApiProfile = z.output<typeof profileSchema>;

export interface ParsedProfiles {
  readonly profiles: readonly ApiProfile[];
  /** Problems of entries; the path begins with the entry's position in the setting. */
  readonly problems: readonly ConfigProblem[];
}

/**
 * If one of these fields is invalid, the profile isn't used, because a default could send the
 * request and its key elsewhere.
 */
const REQUEST_ROUTING_FIELDS: ReadonlySet<string> = new Set<keyof ApiProfile>([
  ...(['id', 'name', 'vendor', 'model', 'baseUrl', 'allowInsecureHttp'] as const),
  ...(['api', 'region', 'projectId', 'extraBody'] as const),
]);
/** Objects whose optional fields can be removed individually. */
const FIELDS_WITH_OPTIONAL_PARTS: ReadonlySet<string> = new Set<keyof ApiProfile>(['prices']);

/** Uses valid profiles and the valid fields of others. Reports all that is invalid. */
export function parseProfiles(value: unknown): ParsedProfiles {
  if (value === undefined || value === null) return { profiles: [], problems: [] };
  if (!Array.isArray(value)) return { profiles: [], problems: [{ path: '', message: 'is not a list' }] };
  const profiles: ApiProfile[] = [];
  const problems: ConfigProblem[] = [];
  for (const [index, entry] of (value as unknown[]).entries()) {
    const { rest, issues } = parseProfile(entry);
    for (const issue of issues) {
      problems.push({ path: [index, ...issue.path].map(String).join('.'), message: describeIssue(issue) });
    }
    if (!rest) continue;
    const profile = rest.config;
    if (profiles.some(({ id }) => id === profile.id)) {
      problems.push({ path: `${index}.id`, message: `"${profile.id}" is already used by another model` });
    } else {
      profiles.push(profile);
    }
  }
  return { profiles, problems };
}

const parseProfile = (entry: unknown) =>
  parseDroppingWrongFields(profileSchema, entry, toJsonSchema(profileSchema), findRemovablePath);

/** Returns the path of the optional part to remove; undefined if the invalid field is required. */
function findRemovablePath([field, ...innerPath]: FieldPath): FieldPath | undefined {
  if (typeof field !== 'string' || REQUEST_ROUTING_FIELDS.has(field)) return undefined;
  const intendedField =
    field in profileSchema.shape ? undefined : findNearestName(field, Object.keys(profileSchema.shape));
  if (intendedField !== undefined && REQUEST_ROUTING_FIELDS.has(intendedField)) return undefined;
  return FIELDS_WITH_OPTIONAL_PARTS.has(field) ? [field, ...innerPath] : [field];
}

/** Keeps invalid entries, because the user may fix them. */
export function replaceOrAddProfileEntry(entries: readonly unknown[], profile: ApiProfile): unknown[] {
  const index = findProfileIndex(entries, profile.id);
  return index === -1 ? [...entries, profile] : entries.with(index, profile);
}

export function dropProfileEntry(entries: readonly unknown[], id: string): unknown[] {
  const index = findProfileIndex(entries, id);
  return index === -1 ? [...entries] : entries.toSpliced(index, 1);
}

/** Includes the IDs of invalid entries, because keys may be stored under them. */
export const listProfileIds = (entries: readonly unknown[]): string[] =>
  entries.flatMap((entry) => (isRecord(entry) && typeof entry['id'] === 'string' ? [entry['id']] : []));

/** Returns the index of the valid profile with this ID; -1 if there is none. */
const findProfileIndex = (entries: readonly unknown[], id: string): number =>
  entries.findIndex((entry) => parseProfile(entry).rest?.config.id === id);

export function chooseThreshold(
  profile: ApiProfile | undefined,
  globalThreshold: CondensationThreshold,
): CondensationThreshold {
  const { threshold = INHERIT_THRESHOLD, thresholdTokens, targetPercent: ownTarget } = profile ?? {};
  const tokens = thresholdTokens === 0 ? undefined : (thresholdTokens ?? globalThreshold.tokens);
  const targetPercent = ownTarget ?? globalThreshold.targetPercent;
  return {
    percent: threshold === INHERIT_THRESHOLD ? globalThreshold.percent : threshold,
    ...(tokens !== undefined && { tokens }),
    ...(targetPercent !== undefined && { targetPercent }),
  };
}

/**
 * Returns the profile's own prompt, or else the global one. If it is blank, the built-in one is
 * used.
 */
export const chooseSummaryPrompt = (profile: ApiProfile | undefined, globalPrompt: string): string =>
  profile?.prompt?.trim() ? profile.prompt : globalPrompt;

export function requiresApiKey({ vendor, baseUrl }: ApiProfile): boolean {
  const { key } = getVendorEntry(vendor);
  return key === 'needed' || (key === 'needed-at-own-endpoint' && baseUrl === undefined);
}

/** A key is never sent to a vendor or host other than the one it was entered for. */
export const getKeyTarget = ({ vendor, baseUrl }: ApiProfile): string =>
  baseUrl === undefined ? vendor : new URL(baseUrl).origin;
