import * as z from 'zod';
import { PART_KINDS } from '../../core/account/parts';

/** IDs of choices that call no model, for "what if". `current` means the user's settings. */
export const WHAT_IF_CHOICE_IDS = ['current', 'lossless', 'file-aware', 'speed', 'multi-zone', 'truncation'] as const;

const tokenFieldSchemas = { fresh: z.number(), cacheWrite: z.number(), cacheRead: z.number(), output: z.number() };

const moneyFieldSchemas = {
  ...tokenFieldSchemas,
  sessions: z.number(),
  requests: z.number(),
  /** Cost in US dollars of the requests whose price is known. */
  cost: z.number(),
  /** Number of requests without a known price. */
  unpriced: z.number(),
  /** Number of requests that the agent did not record and that were estimated. */
  replayed: z.number(),
  /** Part of `cost` that is of estimated requests, in US dollars. */
  replayedCost: z.number(),
};

/** The session's depth in the tree of sessions, and sums of this session and all below it. */
const sessionTreeSchema = z.object({
  depth: z.number(),
  ...{ sessions: z.number(), requests: z.number(), cost: z.number(), unpriced: z.number(), replayedCost: z.number() },
});
const accountRowSchema = z.object({ ...moneyFieldSchemas, label: z.string(), tree: sessionTreeSchema.optional() });
const accountRowsSchema = z.array(accountRowSchema).readonly();

const accountSchema = z.object({
  total: z.object({
    ...moneyFieldSchemas,
    unread: z.array(z.object({ reason: z.string(), sessions: z.number() })).readonly(),
    /** Number of sessions that were at least partly estimated, by agent. */
    estimated: z.array(z.object({ agent: z.string(), sessions: z.number() })).readonly(),
    /** Number of sessions too large or damaged to look into; only their requests are counted. */
    uncomposed: z.number(),
    parts: z.record(z.enum(PART_KINDS), z.number()),
    sentOften: z.number(),
    compactions: z.object({ count: z.number(), estimatedCost: z.number(), recordedCost: z.number() }),
    files: z
      .array(z.object({ path: z.string(), reads: z.number(), tokens: z.number(), session: z.string() }))
      .readonly(),
    unused: z
      .array(
        z.object({ tool: z.string(), what: z.string(), tokens: z.number(), sent: z.number(), session: z.string() }),
      )
      .readonly(),
    calls: z.array(z.object({ agent: z.string(), tool: z.string(), calls: z.number() })).readonly(),
  }),
  groups: z.object({
    agent: accountRowsSchema,
    project: accountRowsSchema,
    model: accountRowsSchema,
    block: accountRowsSchema,
    day: accountRowsSchema,
    week: accountRowsSchema,
    session: accountRowsSchema,
  }),
  /** The most expensive sessions. */
  sessions: z
    .array(
      z.object({
        title: z.string(),
        window: z.number().optional(),
        now: z.object({ tokens: z.number(), window: z.number().optional(), isRecorded: z.boolean() }).optional(),
        fill: z.array(z.number()).readonly(),
        compactions: z.object({ count: z.number() }),
        cost: z.number(),
        replayedCost: z.number(),
        requests: z.number(),
        unpriced: z.number(),
      }),
    )
    .readonly(),
  /** Number of sessions that could not be read; the log says why. */
  leftOut: z.number(),
  /** The cost with another provider, if requested. */
  whatIf: z
    .object({
      choice: z.string(),
      sessions: z.number(),
      condensed: z.number(),
      unknown: z.number(),
      ...{ cost: z.number(), after: z.number(), atMost: z.number() },
      ...{ condensations: z.number(), needed: z.number(), missing: z.number(), recallable: z.number() },
    })
    .optional(),
});
export type ShownAccount = z.output<typeof accountSchema>;
export type ShownAccountRow = z.output<typeof accountRowSchema>;

/** The tools of a running conversation, whose declarations are part of each of its requests. */
const toolWeightsSchema = z.object({
  title: z.string(),
  agent: z.string(),
  /** The tools with the most tokens first. */
  tools: z
    .array(
      z.object({
        name: z.string(),
        /** The tool's MCP server, if the name contains one. */
        server: z.string().optional(),
        /** O200k tokens of the tool's declaration. */
        tokens: z.number(),
        /** Number of calls in this conversation, and in other open ones. */
        calls: z.number(),
        callsElsewhere: z.number(),
      }),
    )
    .readonly(),
});
export type ShownToolWeights = z.output<typeof toolWeightsSchema>;
export type ShownToolWeight = ShownToolWeights['tools'][number];

const accountPreferencesSchema = z.strictObject({
  /** Counts only this many days, including today; absent: all time. */
  days: z.int().min(1).max(3_650).optional(),
  /** Also computes the cost with this provider or preset. */
  choice: z.enum(WHAT_IF_CHOICE_IDS).optional(),
});

export const accountMethods = {
  /** The result has no account if the user canceled. */
  account: {
    params: accountPreferencesSchema,
    result: z.object({ account: accountSchema.optional() }),
  },
  saveAccount: { params: accountPreferencesSchema, result: z.null() },
  toolWeights: { params: z.strictObject({}), result: z.array(toolWeightsSchema).readonly() },
} as const;
