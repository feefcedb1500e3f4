/**
 * Since 1.0.9x each request has a `session.usage_record`. Before, `session.shutdown` and
 * `session.usage_checkpoint` contained sums by model, and a summary's event the tokens of its
 * request. Sources: the event schema of GitHub's Copilot SDK, sessions of 1.0.64 to 1.0.102.
 */
import type {
  ModelTotal,
  RecordedCharge,
  RecordedRequest,
  RecordedRequests,
  RecordedSession,
  RecordedTotal,
} from '../../../core/account/recordedRequest';
import type { Usage } from '../../../core/cost/usage';
import { isRecord } from '../../../core/messages/blocks';
import type { RequestCollector } from '../format';
import { type Fields, readCount, readNumber, readRecord, readString, readTime } from '../../text/values';

/**
 * A credit costs US$0.01 and consists of a billion nano-credits (docs.github.com, "Models and
 * pricing for GitHub Copilot").
 */
const NANO_CREDIT_DOLLARS = 1e-11;

export class CopilotRequests implements RequestCollector {
  compactions = 0;
  private readonly found: RecordedRequest[] = [];
  private readonly seenKeys = new Set<string>();
  /** Usage of compactions for which no request record was found yet. */
  private readonly unmatchedCompactions: Usage[] = [];
  /** True if the last request used the user's own key. */
  private isOwnKey = false;
  private readonly recordedTotals: RecordedTotal[] = [];
  private id: string | undefined;
  private began: number | undefined;
  private lastAt: number | undefined;
  charged: RecordedCharge | undefined;
  /** Number of answers that the recorded totals cover. */
  private answerCount = 0;
  private readonly sideAnswers = new Map<string, number>();
  /** Token totals of earlier processes, if the current process's totals do not include them. */
  private baseTotals: readonly ModelTotal[] = [];
  private currentTotals: readonly ModelTotal[] = [];

  get requests(): readonly RecordedRequest[] {
    return this.found;
  }

  get totals(): readonly RecordedTotal[] {
    return this.recordedTotals;
  }

  get session(): RecordedSession {
    return {
      keys: 'everywhere',
      ...(this.id !== undefined && { id: this.id }),
      ...(this.began !== undefined && { began: this.began }),
    };
  }

  getResult(): RecordedRequests | undefined {
    const { found: requests, recordedTotals: totals, session } = this;
    const { charged } = this;
    if (requests.length + totals.length === 0) return undefined;
    const hasCompactions = requests.some(({ purpose }) => purpose === 'answer');
    return {
      requests,
      compactions: [],
      session,
      hasCompactions,
      ...(totals.length > 0 && { totals }),
      ...(charged && { charged }),
    };
  }

  takeRecord(value: Fields): void {
    const data = readRecord(value, 'data') ?? {};
    const timeMs = readTime(value, 'timestamp');
    this.began ??= timeMs;
    this.lastAt = timeMs ?? this.lastAt;
    switch (value['type']) {
      case 'session.start':
        this.id = readString(data, 'sessionId') ?? this.id;
        return;
      case 'session.usage_record':
        this.addRequest(readRecord(data, 'usage') ?? {}, timeMs, readString(value, 'id'));
        return;
      case 'assistant.message':
        this.countMainAnswer(readString(value, 'agentId') ?? readString(data, 'parentToolCallId'));
        return;
      case 'session.compaction_complete':
        this.addCompaction(data, timeMs);
        return;
      case 'session.shutdown':
      case 'session.usage_checkpoint':
        this.addCreditCharge(data);
        this.recordTotals(data);
    }
  }

  private countMainAnswer(agent: string | undefined): void {
    if (agent === undefined) this.answerCount += 1;
    else this.sideAnswers.set(agent, (this.sideAnswers.get(agent) ?? 0) + 1);
  }

  private addRequest(usage: Fields, at: number | undefined, event: string | undefined): void {
    const accounting = readRecord(usage, 'accounting') ?? {};
    const source = readString(accounting, 'sourceSessionId');
    const sequence = readNumber(accounting, 'sequence');
    const key = sequence === undefined ? event : `${source ?? this.id ?? ''} ${sequence}`;
    // A resumed session can write the same records again.
    if (key !== undefined && this.seenKeys.has(key)) return;
    if (key !== undefined) this.seenKeys.add(key);
    this.isOwnKey = usage['isByok'] === true;
    const model = readString(usage, 'model');
    const credits =
      readNumber(usage, 'totalNanoAiu') ?? readNumber(readRecord(usage, 'copilotUsage') ?? {}, 'totalNanoAiu');
    const countedUsage = convertCopilotUsage(usage, credits);
    const unmatchedIndex = this.unmatchedCompactions.findIndex((each) => isSameUsage(each, countedUsage));
    if (unmatchedIndex !== -1) {
      this.unmatchedCompactions.splice(unmatchedIndex, 1);
      return;
    }
    const window = readNumber(usage, 'maxPromptTokens');
    const isCompaction = /compact/i.test(readString(usage, 'interactionType') ?? '');
    this.found.push({
      ...(at !== undefined && { at }),
      ...(model !== undefined && { model }),
      // If the user's own key is used, the model's maker sets the price.
      ...(this.isOwnKey ? {} : { seller: 'github-copilot' }),
      ...(window !== undefined && { window }),
      ...(key !== undefined && { key }),
      ...(source !== undefined && this.id !== undefined && source !== this.id && { isCopy: true }),
      usage: countedUsage,
      purpose: isCompaction ? 'compaction' : 'answer',
    });
  }

  /**
   * The event contains the token counts of the request that made the summary. If Copilot also
   * records that request, its counts are equal.
   */
  private addCompaction(data: Fields, at: number | undefined): void {
    if (data['success'] === false) return;
    this.compactions += 1;
    const compactionUsage = readRecord(data, 'compactionTokensUsed');
    if (!compactionUsage) return;
    const model = readString(compactionUsage, 'model');
    const request = readString(data, 'requestId') ?? readString(data, 'compactionAttemptId');
    const credits = readNumber(readRecord(compactionUsage, 'copilotUsage') ?? {}, 'totalNanoAiu');
    const usage = convertCopilotUsage(compactionUsage, credits);
    const sameUsageIndex = this.found.findLastIndex((each) => isSameUsage(each.usage, usage));
    const existingRequest = this.found[sameUsageIndex];
    if (existingRequest) {
      this.found[sameUsageIndex] = { ...existingRequest, purpose: 'compaction' };
      return;
    }
    const key = request === undefined ? undefined : `compaction ${this.id ?? ''} ${request}`;
    if (key !== undefined && this.seenKeys.has(key)) return;
    if (key !== undefined) this.seenKeys.add(key);
    this.unmatchedCompactions.push(usage);
    this.found.push({
      ...(at !== undefined && { at }),
      ...(model !== undefined && { model }),
      ...(this.isOwnKey ? {} : { seller: 'github-copilot' }),
      ...(key !== undefined && { key }),
      usage,
      purpose: 'compaction',
    });
  }

  /** After a resume, the session's charge continues from the earlier value (1.0.74). */
  private addCreditCharge(data: Fields): void {
    const credits = readNumber(data, 'totalNanoAiu') ?? 0;
    const dollars = credits * NANO_CREDIT_DOLLARS;
    if (dollars <= (this.charged?.dollars ?? 0)) return;
    this.charged = {
      ...(this.lastAt !== undefined && { at: this.lastAt }),
      answers: this.answerCount,
      sideAnswers: Object.fromEntries(this.sideAnswers),
      dollars,
    };
  }

  /**
   * With `usageAccountingWatermarks`, totals include those of earlier processes. In older versions,
   * totals cover one process; if they have not grown, a new process has started.
   */
  private recordTotals(data: Fields): void {
    const snapshot = readRecord(data, 'accountingSnapshot');
    const models = convertModelMetrics(readRecord(snapshot ?? data, 'modelMetrics') ?? {});
    if (models.length === 0) return;
    const continuesTotals =
      snapshot !== undefined || 'usageAccountingWatermarks' in data || haveTotalsGrown(models, this.currentTotals);
    if (!continuesTotals) this.baseTotals = addModelTotals(this.baseTotals, this.currentTotals);
    else if (snapshot !== undefined || 'usageAccountingWatermarks' in data) this.baseTotals = [];
    this.currentTotals = models;
    this.recordedTotals.push({
      ...(this.lastAt !== undefined && { at: this.lastAt }),
      after: this.found.length,
      compactions: this.compactions,
      answers: this.answerCount,
      models: addModelTotals(this.baseTotals, models),
    });
  }
}

/** Copilot counts cache reads and writes as input. */
const convertCopilotUsage = (usage: Fields, credits: number | undefined): Usage => ({
  accounting: 'openai',
  source: 'reported',
  inputTokens: readCount(usage, 'inputTokens'),
  outputTokens: readCount(usage, 'outputTokens'),
  cacheReadTokens: readCount(usage, 'cacheReadTokens'),
  cacheWriteTokens: readCount(usage, 'cacheWriteTokens'),
  ...(credits !== undefined && credits > 0 && { costUsd: credits * NANO_CREDIT_DOLLARS }),
});

const isSameUsage = (first: Usage | undefined, second: Usage): boolean =>
  first?.inputTokens === second.inputTokens &&
  first.outputTokens === second.outputTokens &&
  first.cacheReadTokens === second.cacheReadTokens &&
  first.cacheWriteTokens === second.cacheWriteTokens;

const convertModelMetrics = (metrics: Fields): readonly ModelTotal[] =>
  Object.entries(metrics).flatMap(([model, modelMetrics]) => {
    const usage = isRecord(modelMetrics) ? readRecord(modelMetrics, 'usage') : undefined;
    if (!isRecord(modelMetrics) || !usage) return [];
    const requests = readCount(readRecord(modelMetrics, 'requests') ?? {}, 'count');
    return [{ model, requests, usage: convertCopilotUsage(usage, readNumber(modelMetrics, 'totalNanoAiu')) }];
  });

const haveTotalsGrown = (models: readonly ModelTotal[], before: readonly ModelTotal[]): boolean =>
  before.every(({ model, requests = 0 }) =>
    models.some((each) => each.model === model && (each.requests ?? 0) >= requests),
  );

function addModelTotals(first: readonly ModelTotal[], second: readonly ModelTotal[]): readonly ModelTotal[] {
  const totalByModel = new Map(first.map((each) => [each.model, each]));
  for (const addedTotal of second) {
    const existingTotal = totalByModel.get(addedTotal.model);
    totalByModel.set(addedTotal.model, existingTotal ? addModelTotal(existingTotal, addedTotal) : addedTotal);
  }
  return [...totalByModel.values()];
}

function addModelTotal(first: ModelTotal, second: ModelTotal): ModelTotal {
  const charge = (first.usage.costUsd ?? 0) + (second.usage.costUsd ?? 0);
  const addCounts = (field: 'inputTokens' | 'outputTokens' | 'cacheReadTokens' | 'cacheWriteTokens'): number =>
    first.usage[field] + second.usage[field];
  return {
    ...(first.model !== undefined && { model: first.model }),
    requests: (first.requests ?? 0) + (second.requests ?? 0),
    usage: {
      accounting: first.usage.accounting,
      source: 'reported',
      inputTokens: addCounts('inputTokens'),
      outputTokens: addCounts('outputTokens'),
      cacheReadTokens: addCounts('cacheReadTokens'),
      cacheWriteTokens: addCounts('cacheWriteTokens'),
      ...(charge > 0 && { costUsd: charge }),
    },
  };
}
