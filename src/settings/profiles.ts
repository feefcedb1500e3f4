/**
 * API profiles: a model to call, where it stands, what it costs, and when a conversation with it is condensed. No keys.
 */
import * as z from 'zod';
import { promptProblems } from '../core/condense/summary/prompt';
import {
  INHERIT_THRESHOLD,
  MAX_CONDENSE_THRESHOLD,
  MIN_CONDENSE_THRESHOLD,
  type Threshold,
} from '../core/condense/trigger/thresholds';
import type { ConfigProblem } from '../core/condense/types';
import { issueWords } from '../core/issueWords';
import { isRecord } from '../core/messages/blocks';
import { familyOf } from '../core/vendors/families';
import { neededFields, VENDOR_IDS, vendorEntry } from '../core/vendors/vendors';

/** The least that Anthropic's API takes (API guide, "Extended thinking"). */
const MIN_THINKING_TOKENS = 1_024;

/** US dollars per million tokens. */
const price = z.number().min(0).max(10_000);
const namedPrices = {
  input: price.optional().describe('US dollars per million tokens that are sent.'),
  output: price.optional().describe('US dollars per million tokens that the model writes.'),
  cacheRead: price.optional().describe('US dollars per million tokens that come from the cache.'),
  cacheWrite: price.optional().describe('US dollars per million tokens that are written to the cache.'),
  longCacheWrite: price.optional().describe('US dollars per million tokens that are cached for an hour or longer.'),
};
/** What a request is made of: nobody else may write it. */
const OUR_FIELDS = new Set(
  'model messages input contents system instructions systemInstruction tools toolConfig stream'.split(' '),
);
const tokens = z.int().min(1_000).max(100_000_000);
const text = z.string().trim().min(1).max(500);
/** A threshold in tokens; 0 is none. */
export const thresholdTokens = z
  .int()
  .min(0)
  .max(100_000_000)
  .refine((value) => value === 0 || value >= 1_000, 'must be 0, or 1,000 or more');
/** Of the threshold's tokens. More would bring the next condensation at once, less would leave nothing to work on. */
export const targetPercent = z.number().min(10).max(90);

export const profileSchema = z
  .object({
    id: z
      .string()
      .regex(/^[\w-]{1,64}$/, 'is made of letters, digits, _ and -, at most 64')
      .describe('A name of letters, digits, _ and - that never changes; other settings name the profile by it.'),
    name: text.describe('What you call it.'),
    vendor: z
      .enum(VENDOR_IDS)
      .describe(
        "Whose protocol the endpoint speaks. OpenAI's is also that of OpenRouter, Azure, Ollama, LM Studio and vLLM.",
      ),
    model: text.describe("The model's id, as the vendor calls it."),
    baseUrl: z
      .url({ protocol: /^https?$/ })
      .optional()
      .describe("Address of the API, such as http://127.0.0.1:11434/v1. Without it: the vendor's own."),
    allowInsecureHttp: z
      .boolean()
      .optional()
      .describe('Allows unencrypted HTTP to another machine. Key and conversation can then be read on the way.'),
    api: z
      .enum(['chat', 'responses'])
      .optional()
      .describe(
        "Which of OpenAI's APIs is called: Chat Completions or Responses. Absent: by which the model takes tools.",
      ),
    region: text.optional().describe('Region of Bedrock or Vertex, such as us-east-1.'),
    projectId: text.optional().describe('Google Cloud project for Vertex.'),
    threshold: z
      .union([z.literal(INHERIT_THRESHOLD), z.number().min(MIN_CONDENSE_THRESHOLD).max(MAX_CONDENSE_THRESHOLD)])
      .optional()
      .describe(
        'Percent of the context window at which conversations with this model are condensed (5 to 100). -1: the global threshold.',
      ),
    thresholdTokens: thresholdTokens
      .optional()
      .describe(
        'Tokens at which conversations with this model are condensed, where they are less than the percentage of its window. 0: the percentage alone. Absent: as set for all.',
      ),
    targetPercent: targetPercent
      .optional()
      .describe(
        'Percent of the threshold that may remain once a conversation is condensed by itself. Absent: as set for all.',
      ),
    prompt: z
      .string()
      .superRefine((prompt, context) => {
        for (const { message } of promptProblems(prompt)) context.addIssue({ code: 'custom', message });
      })
      .optional()
      .describe('A prompt for summaries by this model, in place of the global one.'),
    cacheLifetime: z
      .enum(['none', '5m', '1h'])
      .optional()
      .describe('How long the vendor keeps a prompt in its cache. none: requests are not marked for the cache.'),
    prices: z
      .strictObject({
        ...namedPrices,
        longPrompts: z
          .strictObject({
            aboveTokens: tokens.describe('Tokens of the prompt above which these prices hold, for the whole request.'),
            ...namedPrices,
          })
          .optional()
          .describe('Prices of long prompts, in US dollars per million tokens.'),
      })
      .optional()
      .describe('Prices in US dollars per million tokens, in place of those of the built-in table.'),
    contextWindow: tokens
      .optional()
      .describe('Context window of the model in tokens, input and output together. Absent: as known for the model.'),
    maxOutputTokens: z
      .int()
      .min(256)
      .max(10_000_000)
      .optional()
      .describe(
        'Most tokens of one answer, kept free in the window as far as the threshold leaves room. Absent: what the model can write.',
      ),
    tokenFactor: z
      .number()
      .min(0.5)
      .max(5)
      .optional()
      .describe(
        "How many tokens the model makes of one that is counted here (o200k), until its answers have told. Absent: as known for the model's family.",
      ),
    images: z
      .boolean()
      .optional()
      .describe(
        "Whether the model sees images; a text stands in their place where it doesn't. Absent: as known for the model, else found out.",
      ),
    extraBody: z
      .record(z.string().min(1).max(100), z.json())
      .superRefine((fields, context) => {
        for (const field of Object.keys(fields).filter((name) => OUR_FIELDS.has(name))) {
          context.addIssue({ code: 'custom', path: [field], message: 'is written by Context Condenser itself' });
        }
      })
      .optional()
      .describe(
        'Fields of the vendor’s own that go into each request as they are, such as {"output_config": {"effort": "low"}} for Claude, {"reasoning_effort": "low"} or {"service_tier": "flex"} for OpenAI. What they cost is not known: set prices.',
      ),
    timeoutSeconds: z.int().min(5).max(3_600).optional().describe('Seconds that a whole call may take.'),
    offerInChat: z
      .boolean()
      .optional()
      .describe("Offers this model in VS Code's chat, with conversations condensed on the way."),
    thinkingTokens: z
      .int()
      .min(MIN_THINKING_TOKENS)
      .max(1_000_000)
      .optional()
      .describe(
        "For Anthropic's models: tokens that the model may think before it answers in the chat (1024 or more, less than maxOutputTokens). Absent: no thinking.",
      ),
  })
  .strict()
  .superRefine((profile, context) => {
    for (const field of neededFields(profile.vendor)) {
      if (profile[field] === undefined) {
        context.addIssue({ code: 'custom', path: [field], message: `is needed for ${profile.vendor}` });
      }
    }
    const { thinkingTokens = 0, maxOutputTokens = familyOf(profile.model)?.maxOutputTokens } = profile;
    if (maxOutputTokens !== undefined && thinkingTokens >= maxOutputTokens) {
      const message = `is to be less than the ${maxOutputTokens} tokens of one answer (maxOutputTokens)`;
      context.addIssue({ code: 'custom', path: ['thinkingTokens'], message });
    }
  });

export type ApiProfile = z.output<typeof profileSchema>;

export interface ParsedProfiles {
  readonly profiles: readonly ApiProfile[];
  /** The problems of the others, each named by its place in the setting. */
  readonly problems: readonly ConfigProblem[];
}

/** The profiles of a setting. A wrong one is left out and named; the others are used. */
export function parseProfiles(value: unknown): ParsedProfiles {
  if (value === undefined || value === null) return { profiles: [], problems: [] };
  if (!Array.isArray(value)) return { profiles: [], problems: [{ path: '', message: 'is no list' }] };
  const profiles: ApiProfile[] = [];
  const problems: ConfigProblem[] = [];
  for (const [index, entry] of (value as unknown[]).entries()) {
    const parsed = profileSchema.safeParse(entry);
    if (!parsed.success) {
      for (const issue of parsed.error.issues) {
        const path = [index, ...issue.path].map(String).join('.');
        problems.push({ path, message: issueWords(issue) });
      }
    } else if (profiles.some(({ id }) => id === parsed.data.id)) {
      problems.push({ path: `${index}.id`, message: `"${parsed.data.id}" is taken by another profile` });
    } else {
      profiles.push(parsed.data);
    }
  }
  return { profiles, problems };
}

/**
 * The entries of a setting with a profile put in the place of the one with its id, or at the end. Entries that are no
 * profiles stay as they are: somebody wrote them, and may mend them.
 */
export function withProfile(entries: readonly unknown[], profile: ApiProfile): unknown[] {
  const place = placeOf(entries, profile.id);
  return place === -1 ? [...entries, profile] : entries.with(place, profile);
}

/** The entries less one profile. */
export function withoutProfile(entries: readonly unknown[], id: string): unknown[] {
  const place = placeOf(entries, id);
  return place === -1 ? [...entries] : entries.toSpliced(place, 1);
}

/** The ids of a setting's entries, of those that are no profiles too: a key may be kept under each. */
export const takenIds = (entries: readonly unknown[]): string[] =>
  entries.flatMap((entry) => (isRecord(entry) && typeof entry['id'] === 'string' ? [entry['id']] : []));

/** Index of the entry that counts as the profile with this id; -1 where there is none. */
const placeOf = (entries: readonly unknown[], id: string): number =>
  entries.findIndex((entry) => profileSchema.safeParse(entry).data?.id === id);

/** The threshold and target that hold for a profile: each of its own, else the global one (FR-TH-001). */
export function thresholdOf(profile: ApiProfile | undefined, global: Threshold): Threshold {
  const { threshold = INHERIT_THRESHOLD, thresholdTokens, targetPercent: own } = profile ?? {};
  const tokens = thresholdTokens === 0 ? undefined : (thresholdTokens ?? global.tokens);
  const target = own ?? global.targetPercent;
  return {
    percent: threshold === INHERIT_THRESHOLD ? global.percent : threshold,
    ...(tokens !== undefined && { tokens }),
    ...(target !== undefined && { targetPercent: target }),
  };
}

/** The prompt that holds for a profile: its own, else the global one; blank means the built-in. */
export const promptOf = (profile: ApiProfile | undefined, globalPrompt: string): string =>
  profile?.prompt?.trim() ? profile.prompt : globalPrompt;

/** Whether nothing can be asked without a key. */
export function needsKey({ vendor, baseUrl }: ApiProfile): boolean {
  const { key } = vendorEntry(vendor);
  return key === 'needed' || (key === 'needed-at-own-endpoint' && baseUrl === undefined);
}

/** The host that gets to see a key; a key given for one is not sent to another. */
export const keyTarget = ({ vendor, baseUrl }: ApiProfile): string =>
  baseUrl === undefined ? vendor : new URL(baseUrl).origin;
