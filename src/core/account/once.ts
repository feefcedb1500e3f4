/**
 * Counts each paid request once: forks, copies, resumed and given-back sessions repeat requests.
 */
import type { DayUsage, SessionAccount } from './account';
import { createUsageBlockFinder } from './blocks';
import { sumToolCalls, type ToolCalls } from './composition';
import { formatLocalDay } from '../localDay';
import type { RecordedSession } from './recordedRequest';
import type { TokensByPrice } from './replay';

export interface PaidRequest extends TokensByPrice {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly model?: string;
  /** Number of requests: 0 for a part of a request; more than 1 if the agent records only sums. */
  readonly requests: number;
  /** US dollars; absent if the price is unknown. */
  readonly cost?: number;
  readonly isReplayed?: boolean;
  /** True if the cost is a share of what the vendor charged. */
  readonly isCharged?: boolean;
  readonly isCompaction?: boolean;
  /** Identifies the request in all files that repeat it. */
  readonly key?: string;
  readonly isCopy?: boolean;
  /** Calls of tools in its answer. */
  readonly calls?: readonly ToolCalls[];
}

/** The agent's running total, with prices for tokens that no recorded request accounts for. */
export interface PaidTotal {
  readonly at: number;
  /** Number of the session's requests that the total includes. */
  readonly after: number;
  readonly compactions: number;
  readonly models: readonly PaidModel[];
}

export interface PaidModel extends TokensByPrice {
  readonly model?: string;
  readonly requests?: number;
  /** US dollars that the vendor charged. */
  readonly charge?: number;
  /** US dollars per token of each kind; absent if unknown. */
  readonly rates?: TokensByPrice;
  readonly toolCost?: number;
}

export interface ReadSession extends Omit<SessionAccount, 'usage' | 'source' | 'above'> {
  /** Tool calls that belong to none of the requests. */
  readonly calls: readonly ToolCalls[];
  readonly requests: readonly PaidRequest[];
  readonly totals?: readonly PaidTotal[];
  readonly identity?: RecordedSession;
  /** Path or ID of the session that started this one. */
  readonly startedBy?: string;
}

interface RequestRecordedInSession {
  readonly session: ReadSession;
  readonly request: PaidRequest;
  readonly isCopy: boolean;
}

export function countCopiedRequestsOnce(sessions: readonly ReadSession[]): SessionAccount[] {
  const orderedSessions = [...sessions].sort(compareSessionAge);
  const claimByKey = new Map<string, RequestRecordedInSession>();
  const claimsBySession = groupRequestsByKey(orderedSessions);
  for (const session of orderedSessions) {
    for (const claim of claimsBySession.get(session) ?? []) {
      const earlierClaim = claimByKey.get(claim.key);
      // The older session owns the request. The larger output counts, because a copy made during an
      // answer has less.
      if (!earlierClaim) claimByKey.set(claim.key, claim);
      else {
        const owningClaim = earlierClaim.isCopy && !claim.isCopy ? claim : earlierClaim;
        const largerClaim = claim.request.output > earlierClaim.request.output ? claim : earlierClaim;
        claimByKey.set(
          claim.key,
          owningClaim === largerClaim
            ? owningClaim
            : { ...owningClaim, request: { ...largerClaim.request, at: owningClaim.request.at } },
        );
      }
    }
  }
  const requestsBySession = new Map<ReadSession, PaidRequest[]>(orderedSessions.map((session) => [session, []]));
  for (const { session, request } of claimByKey.values()) requestsBySession.get(session)?.push(request);
  const parentBySession = findParentSessions(orderedSessions, claimsBySession, claimByKey);
  const sessionsWithTotals = findSessionsWithTotals(orderedSessions);
  const unrecordedBySession = new Map(
    orderedSessions.map((session) => [
      session,
      sessionsWithTotals.has(session)
        ? listUnrecordedCharges(session, {
            orderedSessions,
            requestsBySession,
            parents: parentBySession,
            claimsBySession,
          })
        : [],
    ]),
  );
  const findBlockStart = createUsageBlockFinder(
    orderedSessions.flatMap((session) =>
      [...(requestsBySession.get(session) ?? []), ...(unrecordedBySession.get(session) ?? [])].map(({ at }) => ({
        agent: session.agent,
        at,
      })),
    ),
  );
  return sessions.map((session): SessionAccount => {
    const { requests: _, totals, identity: __, startedBy: ___, ...account } = session;
    const paidRequests = [...(requestsBySession.get(session) ?? []), ...(unrecordedBySession.get(session) ?? [])];
    const parent = parentBySession.get(session);
    const replayedCount = paidRequests.filter(({ isReplayed }) => isReplayed === true).length;
    return {
      ...account,
      source: replayedCount === 0 ? 'recorded' : replayedCount === paidRequests.length ? 'replayed' : 'mixed',
      usage: groupUsageByDay(paidRequests, (at) => findBlockStart(session.agent, at)),
      ...(parent && { above: { path: parent.session.path, relation: parent.relation } }),
      compactions: countCompactions(session, totals, paidRequests),
      calls: sumToolCalls([...account.calls, ...paidRequests.flatMap(({ calls = [] }) => calls)]),
    };
  });
}

/** A total order makes the result independent of the order of files. */
function compareSessionAge(a: ReadSession, b: ReadSession): number {
  return (
    (a.identity?.began ?? Infinity) - (b.identity?.began ?? Infinity) ||
    compareText(a.id, b.id) ||
    compareText(a.path, b.path) ||
    0
  );
}

const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

interface RecordedRequestWithKey extends RequestRecordedInSession {
  readonly key: string;
}

/** Nearest origin first. */
export const listOriginIds = (identity: RecordedSession | undefined): readonly string[] =>
  identity?.forkOf === undefined ? [] : [identity.forkOf, ...(identity.furtherOrigins ?? [])];

type KeyedRequests = ReadonlyMap<ReadSession, readonly RecordedRequestWithKey[]>;

function groupRequestsByKey(sessions: readonly ReadSession[]): KeyedRequests {
  const sessionsById = Map.groupBy(sessions, ({ agent, identity }) =>
    identity?.id === undefined ? '' : `${agent} ${identity.id}`,
  );
  const claimsBySession = new Map<ReadSession, readonly RecordedRequestWithKey[]>();
  const collectClaims = (
    session: ReadSession,
    visitedSessions: ReadonlySet<ReadSession>,
  ): readonly RecordedRequestWithKey[] => {
    const cachedClaims = claimsBySession.get(session);
    if (cachedClaims) return cachedClaims;
    const { identity, agent } = session;
    const origins = listOriginIds(identity).map((id) => sessionsById.get(`${agent} ${id}`));
    // Uses all files of the origin, because an archived or copied one may be shorter.
    const originSessions = origins.find((each) => each !== undefined) ?? [];
    const originClaims = originSessions
      .filter((file) => file !== session && !visitedSessions.has(file))
      .flatMap((file) => collectClaims(file, new Set([...visitedSessions, session])));
    const claims =
      identity?.keys === 'in-lineage'
        ? markRequestsCopiedFromOrigin(session, originClaims, origins[0] === undefined)
        : listRecordedRequestsWithKey(session);
    claimsBySession.set(session, claims);
    return claims;
  };
  for (const session of sessions) collectClaims(session, new Set());
  return claimsBySession;
}

const listRecordedRequestsWithKey = (session: ReadSession): readonly RecordedRequestWithKey[] =>
  session.requests.map((request, index) => ({
    session,
    request,
    isCopy: request.isCopy === true,
    key: request.key === undefined ? `${session.path}\n${index}` : `${session.agent}\n${request.key}`,
  }));

/**
 * Copied records keep their times or get new ones milliseconds apart, faster than any model
 * answers.
 */
const MAX_MS_BETWEEN_COPIED_REQUESTS = 1_000;

/**
 * Keys can collide by chance. A record is a copy if the origin had it before the session started,
 * with its original time or that of copying. Without the origin's file, everything older is a copy.
 */
function markRequestsCopiedFromOrigin(
  session: ReadSession,
  originClaims: readonly RecordedRequestWithKey[],
  isOriginGone: boolean,
): readonly RecordedRequestWithKey[] {
  const { began = -Infinity, id = session.path, forkOf } = session.identity ?? { keys: 'in-lineage' };
  const claimByInheritedKey = new Map(
    originClaims.flatMap((claim) =>
      claim.request.key !== undefined && claim.request.at <= began ? [[claim.request.key, claim] as const] : [],
    ),
  );
  let copiedUntilMs = began;
  return session.requests.map((request, index) => {
    if (request.key === undefined) return { session, request, isCopy: false, key: `${session.path}\n${index}` };
    const original = claimByInheritedKey.get(request.key);
    if (
      original &&
      (request.at === original.request.at || request.at <= copiedUntilMs + MAX_MS_BETWEEN_COPIED_REQUESTS)
    ) {
      copiedUntilMs = Math.max(copiedUntilMs, request.at);
      return { session, request, isCopy: true, key: original.key };
    }
    const isOlder = isOriginGone && forkOf !== undefined && request.at < began;
    const thread = isOlder ? forkOf : id;
    return { session, request, isCopy: isOlder, key: `${session.agent}\n${thread}\n${request.key}` };
  });
}

interface ParentSession {
  readonly session: ReadSession;
  readonly relation: 'fork' | 'subagent';
}

/** A session's parent is the recorded one, or the session that made its newest copied request. */
function findParentSessions(
  sessions: readonly ReadSession[],
  claimsBySession: KeyedRequests,
  claimByKey: ReadonlyMap<string, RequestRecordedInSession>,
): ReadonlyMap<ReadSession, ParentSession> {
  const sessionByName = new Map<string, ReadSession>();
  for (const session of [...sessions].reverse()) {
    sessionByName.set(session.path, session);
    sessionByName.set(session.id, session);
    const id = session.identity?.id;
    // A subagent's file contains the ID of the session that started it.
    if (id !== undefined && session.startedBy === undefined) sessionByName.set(`${session.agent} ${id}`, session);
  }
  const parentBySession = new Map<ReadSession, ParentSession>();
  const isSameOrDescendant = (session: ReadSession, other: ReadSession): boolean => {
    for (let ancestor = parentBySession.get(session); ancestor; ancestor = parentBySession.get(ancestor.session))
      if (ancestor.session === other) return true;
    return session === other;
  };
  for (const session of sessions) {
    const startingSession = session.startedBy === undefined ? undefined : sessionByName.get(session.startedBy);
    const originId = session.identity?.forkOf;
    const originSession =
      (originId === undefined ? undefined : sessionByName.get(`${session.agent} ${originId}`)) ??
      findOriginSession(session, claimsBySession.get(session) ?? [], claimByKey);
    const parentSession = startingSession ?? originSession;
    if (!parentSession || isSameOrDescendant(parentSession, session)) continue;
    parentBySession.set(session, { session: parentSession, relation: startingSession ? 'subagent' : 'fork' });
  }
  return parentBySession;
}

function findOriginSession(
  session: ReadSession,
  ownClaims: readonly RecordedRequestWithKey[],
  claimByKey: ReadonlyMap<string, RequestRecordedInSession>,
): ReadSession | undefined {
  const copiedClaims = ownClaims.filter(({ key }) => claimByKey.get(key)?.session !== session);
  const newestCopy = copiedClaims.reduce<RecordedRequestWithKey | undefined>(
    (last, claim) => (last && last.request.at >= claim.request.at ? last : claim),
    undefined,
  );
  return newestCopy && claimByKey.get(newestCopy.key)?.session;
}

interface SessionRelations {
  readonly orderedSessions: readonly ReadSession[];
  readonly requestsBySession: ReadonlyMap<ReadSession, readonly PaidRequest[]>;
  readonly parents: ReadonlyMap<ReadSession, ParentSession>;
  readonly claimsBySession: KeyedRequests;
}

const TOKEN_KINDS = ['fresh', 'cacheWrite', 'cacheRead', 'output'] as const;

/**
 * Returns the sessions whose totals count: of several files of one session, the one with the most
 * complete totals.
 */
function findSessionsWithTotals(sessions: readonly ReadSession[]): ReadonlySet<ReadSession> {
  const furthestByName = new Map<string, ReadSession>();
  const sumLengths = ({ totals = [] }: ReadSession): number =>
    (totals.at(-1)?.models ?? []).reduce((sum, model) => TOKEN_KINDS.reduce((all, kind) => all + model[kind], sum), 0);
  for (const session of sessions) {
    const { agent, identity, startedBy, path } = session;
    const name = identity?.id === undefined || startedBy !== undefined ? path : `${agent} ${identity.id}`;
    const longestSession = furthestByName.get(name);
    if (!longestSession || sumLengths(session) > sumLengths(longestSession)) furthestByName.set(name, session);
  }
  return new Set(furthestByName.values());
}

/**
 * Lists what the totals contain beyond recorded requests, such as compactions and titles. A fork
 * continues its origin's totals.
 */
function listUnrecordedCharges(
  session: ReadSession,
  { orderedSessions, requestsBySession, parents, claimsBySession }: SessionRelations,
): PaidRequest[] {
  const { totals = [], requests, identity, agent } = session;
  if (totals.length === 0) return [];
  const origin = parents.get(session);
  const totalAtFork =
    origin?.relation === 'fork' ? findLastTotalBefore(origin.session.totals, identity?.began) : undefined;
  const claims = claimsBySession.get(session) ?? [];
  // The origin's total (`base`) already includes the requests that the fork copied.
  const ownRequests = requests.map((request, index) =>
    totalAtFork && claims[index]?.isCopy === true ? undefined : request,
  );
  const subagentRequests = orderedSessions
    .filter((other) => other !== session && other.agent === agent && identity?.id !== undefined)
    .filter((other) => other.identity?.id === identity?.id && other.startedBy !== undefined)
    .flatMap((other) => requestsBySession.get(other) ?? []);
  const latestTotalByModel = new Map<string, PaidModel>();
  const paidToolCostByModel = new Map(
    totalAtFork?.models.map(({ model, toolCost = 0 }) => [normalizeModelName(model), toolCost]),
  );
  const unrecordedRequests: PaidRequest[] = [];
  let countedCompactions = 0;
  for (const total of totals) {
    const countedRequests = [
      ...ownRequests.slice(0, total.after).filter((each) => each !== undefined),
      ...subagentRequests.filter(({ at }) => at <= total.at),
    ];
    let compactionCount = Math.max(0, total.compactions - countedCompactions);
    countedCompactions = total.compactions;
    for (const modelTotal of [...total.models].sort((a, b) => b.fresh + b.cacheRead - a.fresh - a.cacheRead)) {
      const name = normalizeModelName(modelTotal.model);
      const latestModel = latestTotalByModel.get(name);
      const unrecordedUsage = subtractRequests(modelTotal, [
        ...countedRequests.filter(({ model }) => normalizeModelName(model) === name),
        ...(totalAtFork?.models.filter(({ model }) => normalizeModelName(model) === name) ?? []),
        ...(latestModel ? [latestModel] : []),
      ]);
      if (TOKEN_KINDS.every((kind) => unrecordedUsage[kind] === 0)) continue;
      latestTotalByModel.set(
        name,
        latestModel
          ? { ...modelTotal, ...addUsageSums(latestModel, unrecordedUsage) }
          : { ...modelTotal, ...unrecordedUsage },
      );
      const requestCount = unrecordedUsage.requests ?? Math.max(1, compactionCount);
      const unpaidToolCost = Math.max(0, (modelTotal.toolCost ?? 0) - (paidToolCostByModel.get(name) ?? 0));
      paidToolCostByModel.set(name, Math.max(modelTotal.toolCost ?? 0, paidToolCostByModel.get(name) ?? 0));
      const cost =
        unrecordedUsage.charge ??
        (modelTotal.rates &&
          TOKEN_KINDS.reduce(
            (sum, kind) => sum + unrecordedUsage[kind] * (modelTotal.rates?.[kind] ?? 0),
            unpaidToolCost,
          ));
      const { fresh, cacheWrite, cacheRead, output } = unrecordedUsage;
      unrecordedRequests.push({
        ...{ at: total.at, requests: requestCount, fresh, cacheWrite, cacheRead, output },
        ...(modelTotal.model !== undefined && { model: modelTotal.model }),
        ...(cost !== undefined && { cost }),
        ...(compactionCount > 0 && unrecordedUsage.requests === undefined && { isCompaction: true }),
      });
      compactionCount = 0;
    }
  }
  return unrecordedRequests;
}

function findLastTotalBefore(totals: readonly PaidTotal[] | undefined, began = Infinity): PaidTotal | undefined {
  return totals?.findLast(({ at }) => at <= began);
}

/** Totals name the requested model, but records name the one that answered. */
const normalizeModelName = (model = ''): string =>
  model
    .replace(/\[[^\]]*\]$/, '')
    .replace(/-\d{8}$/, '')
    .toLowerCase();

interface SummedUsage extends TokensByPrice {
  readonly requests?: number;
  readonly cost?: number;
  readonly charge?: number;
}

function subtractRequests(
  total: PaidModel,
  countedUsage: readonly SummedUsage[],
): TokensByPrice & Pick<PaidModel, 'requests' | 'charge'> {
  const sumCounted = (getValue: (each: SummedUsage) => number): number =>
    countedUsage.reduce((all, each) => all + getValue(each), 0);
  const subtractCounted = (kind: (typeof TOKEN_KINDS)[number]): number =>
    Math.max(0, total[kind] - sumCounted((each) => each[kind]));
  const { requests, charge } = total;
  return {
    ...{
      fresh: subtractCounted('fresh'),
      cacheWrite: subtractCounted('cacheWrite'),
      cacheRead: subtractCounted('cacheRead'),
      output: subtractCounted('output'),
    },
    ...(requests !== undefined && { requests: Math.max(0, requests - sumCounted((each) => each.requests ?? 0)) }),
    ...(charge !== undefined && { charge: Math.max(0, charge - sumCounted((each) => each.charge ?? each.cost ?? 0)) }),
  };
}

function addUsageSums(first: SummedUsage, second: SummedUsage): TokensByPrice & Pick<PaidModel, 'requests' | 'charge'> {
  return {
    fresh: first.fresh + second.fresh,
    cacheWrite: first.cacheWrite + second.cacheWrite,
    cacheRead: first.cacheRead + second.cacheRead,
    output: first.output + second.output,
    ...(second.requests !== undefined && { requests: (first.requests ?? 0) + second.requests }),
    ...(second.charge !== undefined && { charge: (first.charge ?? 0) + second.charge }),
  };
}

function groupUsageByDay(paidRequests: readonly PaidRequest[], findBlockStart: (at: number) => number): DayUsage[] {
  const usageByKey = new Map<string, { -readonly [Key in keyof DayUsage]: DayUsage[Key] }>();
  for (const { at: timeMs, model, requests, cost, isReplayed, isCharged, ...tokens } of [...paidRequests].sort(
    (a, b) => a.at - b.at,
  )) {
    const day = formatLocalDay(timeMs);
    const block = findBlockStart(timeMs);
    const key = `${day}\n${block}\n${model ?? ''}`;
    const dayUsage = usageByKey.get(key) ?? {
      ...{ day, block },
      ...(model !== undefined && { model }),
      ...{
        requests: 0,
        fresh: 0,
        cacheWrite: 0,
        cacheRead: 0,
        output: 0,
        cost: 0,
        unpriced: 0,
        replayed: 0,
        replayedCost: 0,
      },
    };
    usageByKey.set(key, dayUsage);
    dayUsage.requests += requests;
    dayUsage.cost += cost ?? 0;
    // A part without a price makes its request's price incomplete.
    if (cost === undefined) dayUsage.unpriced += Math.max(1, requests);
    if (isReplayed) {
      dayUsage.replayed += requests;
      if (!isCharged) dayUsage.replayedCost += cost ?? 0;
    }
    for (const kind of TOKEN_KINDS) dayUsage[kind] += tokens[kind];
  }
  return [...usageByKey.values()];
}

/** Only compactions without a recorded request are estimated. */
function countCompactions(
  { compactions }: ReadSession,
  totals: readonly PaidTotal[] | undefined,
  paidRequests: readonly PaidRequest[],
): SessionAccount['compactions'] {
  const ownCompactions = paidRequests.filter(({ isCompaction }) => isCompaction === true);
  const isCountReported = (totals?.at(-1)?.compactions ?? 0) >= compactions.count && compactions.count > 0;
  if (ownCompactions.length === 0)
    return isCountReported ? { count: compactions.count, isEstimate: false } : compactions;
  const areCostsKnown = ownCompactions.every(({ cost }) => cost !== undefined);
  return {
    count: compactions.count,
    isEstimate: false,
    ...(areCostsKnown && { cost: ownCompactions.reduce((sum, { cost = 0 }) => sum + cost, 0) }),
  };
}
