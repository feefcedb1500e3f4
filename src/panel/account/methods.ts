/** The cost of all stored sessions of every agent on this machine, and their contents. */
import * as z from 'zod';
import { PART_KINDS } from '../../core/account/parts';

/** Choices that call no model, by the ids by which they are judged. `current`: what is set. */
export const WHAT_IF_CHOICES = ['current', 'lossless', 'file-aware', 'speed', 'multi-zone', 'truncation'] as const;

const tokens = { fresh: z.number(), cacheWrite: z.number(), cacheRead: z.number(), output: z.number() };

const money = {
  ...tokens,
  sessions: z.number(),
  requests: z.number(),
  /** US dollars of the requests whose price is known. */
  cost: z.number(),
  /** Requests whose price is not known. */
  unpriced: z.number(),
  /** Requests that were made again instead of recorded. */
  replayed: z.number(),
  /** Their part of the cost. US dollars. */
  replayedCost: z.number(),
};

/** Of a session: where it stands among those above and below it, and the sums with them. */
const tree = z.object({
  depth: z.number(),
  ...{ sessions: z.number(), requests: z.number(), cost: z.number(), unpriced: z.number(), replayedCost: z.number() },
});
const row = z.object({ ...money, label: z.string(), tree: tree.optional() });
const rows = z.array(row).readonly();

const accountSchema = z.object({
  total: z.object({
    ...money,
    /** Why sessions could not be read, and how many. */
    unread: z.array(z.object({ reason: z.string(), sessions: z.number() })).readonly(),
    /** Sessions that were replayed, at least in part, by agent. */
    estimated: z.array(z.object({ agent: z.string(), sessions: z.number() })).readonly(),
    /** Sessions of which only the requests were read. */
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
    /** Calls of all tools, each agent's by themselves. */
    calls: z.array(z.object({ agent: z.string(), tool: z.string(), calls: z.number() })).readonly(),
  }),
  groups: z.object({ agent: rows, project: rows, model: rows, block: rows, day: rows, week: rows, session: rows }),
  /** The costliest sessions: how full their windows were. */
  sessions: z
    .array(
      z.object({
        title: z.string(),
        window: z.number().optional(),
        now: z.object({ tokens: z.number(), window: z.number().optional(), isRecorded: z.boolean() }).optional(),
        fill: z.array(z.number()).readonly(),
        compactions: z.object({ count: z.number() }),
      }),
    )
    .readonly(),
  /** Sessions that could not be read; the log says why. */
  leftOut: z.number(),
  /** The cost with another provider, where that was asked for. */
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
export type ShownAccountRow = z.output<typeof row>;

/** The tools that a conversation's requests declare: all of them go out with each. */
const weightsSchema = z.object({
  title: z.string(),
  agent: z.string(),
  /** The heaviest first. */
  tools: z
    .array(
      z.object({
        name: z.string(),
        /** The MCP server that it belongs to, as far as its name says so. */
        server: z.string().optional(),
        /** O200k tokens of its declaration. */
        tokens: z.number(),
        /** In this conversation, and in the others that are held in memory. */
        calls: z.number(),
        callsElsewhere: z.number(),
      }),
    )
    .readonly(),
});
export type ShownWeights = z.output<typeof weightsSchema>;
export type ShownTool = ShownWeights['tools'][number];

const preferences = z.strictObject({
  /** Only requests of the last so many days, today among them; absent: of all time. */
  days: z.int().min(1).max(3_650).optional(),
  /** What it would have cost with this choice, too. */
  choice: z.enum(WHAT_IF_CHOICES).optional(),
});

export const accountMethods = {
  /** The answer is without an account where the user cancelled it. */
  account: {
    params: preferences,
    result: z.object({ account: accountSchema.optional() }),
  },
  /** Writes it to a file that the user chooses. */
  saveAccount: { params: preferences, result: z.null() },
  /** Of the conversations that are condensed while they run, last used first. */
  toolWeights: { params: z.strictObject({}), result: z.array(weightsSchema).readonly() },
} as const;
