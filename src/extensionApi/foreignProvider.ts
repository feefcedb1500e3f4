/** A provider of another extension as one of ours: its changes become edits by the same way as all others. */
import { SUMMARY_ORIGIN } from '../core/messages/firewall';
import { contentsOf, type Content } from '../core/messages/content';
import type { ApiMessage, ContentType, Path } from '../core/messages/types';
import { validate } from '../core/condense/config';
import type { CutRequest } from '../core/condense/cutRequest';
import { Draft } from '../core/condense/draft';
import { applyEdits, lastByPlace } from '../core/condense/edits';
import { summaryMessage } from '../core/condense/summary/summaryMessage';
import type {
  CondensationOptions,
  CondensationProvider,
  ConversationContext,
  ProviderResult,
  StepReport,
} from '../core/condense/types';
import type { Change, CutChange, ProviderEstimate, ProviderInput, SummaryChange } from './api';
import { parseEstimate, parseResult, type ParsedProvider } from './parse';

/** @param provider as it was parsed when the other extension registered it */
export function foreignProvider({
  provider,
  usesModel,
  configSchema,
  config: schema,
}: ParsedProvider): CondensationProvider {
  const { id, name, description, version } = provider;
  const ask = async (view: View, config: unknown, options: CondensationOptions): Promise<ParsedChanges> => {
    const signal = signalOf(options);
    return parseResult(await settled(() => provider.condense(inputOf(view, config, options), signal), signal), name);
  };
  const apply = (view: View, changes: readonly Change[], draft: Draft): number => {
    let refused = 0;
    for (const group of grouped(changes)) {
      const isCut = group.kind === 'cut';
      const saved = isCut ? cutPlace(view, group, draft, name) : summarize(view, group, draft, name);
      if (saved === 0) refused += isCut ? group.requests.length : 1;
    }
    return refused;
  };

  /** What it would come to; the manager asks for tokens and cost one after the other, of the same context. */
  const estimates = new WeakMap<ConversationContext, Promise<ProviderEstimate>>();
  const estimateOf = (
    context: ConversationContext,
    config: unknown,
    options: CondensationOptions,
  ): Promise<ProviderEstimate> => {
    const known = estimates.get(context);
    if (known) return known;
    const made = makeEstimate(context, config, options);
    estimates.set(context, made);
    return made;
  };
  const makeEstimate = async (
    context: ConversationContext,
    config: unknown,
    options: CondensationOptions,
  ): Promise<ProviderEstimate> => {
    const view = viewOf(context);
    if (provider.estimate) {
      const signal = signalOf(options);
      const told = await settled(() => provider.estimate?.(inputOf(view, config, options), signal), signal);
      return parseEstimate(told, name);
    }
    const draft = new Draft(context.messages, context.counter, context.edits);
    const { changes, cost } = await ask(view, config, options);
    apply(view, changes, draft);
    return { tokensAfter: draft.tokens, cost };
  };

  return {
    id,
    name,
    description,
    version,
    getCapabilities: () => ({
      supportsLossless: false,
      supportsBatchMode: usesModel,
      supportsIndividualMode: !usesModel,
      supportsMultiPass: false,
      supportsLLMSummarization: usesModel,
      estimatedSpeed: usesModel ? 'slow' : 'fast',
    }),
    getConfigSchema: () => configSchema,
    validateConfig: (config) => validate(schema, config),

    async condense(context, config, options): Promise<ProviderResult> {
      const { cost: expected } = usesModel ? await estimateOf(context, config, options) : { cost: 0 };
      const { maxCost } = options;
      if (maxCost !== undefined && (expected ?? Infinity) > maxCost) {
        const price = expected === undefined ? 'Its cost is not known' : `It would cost about $${expected.toFixed(4)}`;
        const detail = `${price}; at most $${maxCost} may be spent on a condensation.`;
        return { edits: [], steps: [], cost: 0, unchanged: { reason: 'over-budget', detail } };
      }
      const started = performance.now();
      const view = viewOf(context);
      const { changes, cost, notes } = await ask(view, config, options);
      const draft = new Draft(context.messages, context.counter, context.edits);
      const tokensBefore = draft.tokens;
      const refused = apply(view, changes, draft);
      const step: StepReport = {
        name,
        tokensBefore,
        tokensAfter: draft.tokens,
        edits: draft.edits.length,
        timeMs: performance.now() - started,
        cost,
        outcome: { kind: 'done' },
      };
      const left =
        refused === 0 ? [] : [`${refused} of ${changes.length} changes would save nothing and were left out.`];
      return {
        edits: draft.edits,
        steps: [step],
        cost,
        notes: [...notes, ...left],
        ...(usesModel && expected !== undefined && { estimatedCost: expected }),
      };
    },
    async estimateReduction(context, config, options) {
      const { tokensAfter } = await estimateOf(context, config, options);
      const tokensBefore = context.counter.messages(viewOf(context).messages);
      return { tokensBefore, tokensAfter, steps: [] };
    },
    estimateCost: async (context, config, options) => (await estimateOf(context, config, options)).cost,
  };
}

const signalOf = ({ signal }: CondensationOptions): AbortSignal => signal ?? new AbortController().signal;

type ParsedChanges = ReturnType<typeof parseResult>;

/** What the other extension sees, and where each message stands in the original. */
interface View {
  readonly context: ConversationContext;
  readonly messages: readonly ApiMessage[];
  readonly ranges: readonly Range[];
}

interface Range {
  readonly start: number;
  readonly end: number;
  readonly isSummary: boolean;
}

function viewOf(context: ConversationContext): View {
  const { messages, origins } = applyEdits(context.messages, context.edits);
  const summaries = lastByPlace(context.edits)
    .filter((edit) => edit.kind === 'summary')
    .sort((a, b) => a.start - b.start);
  let next = 0;
  const ranges = origins.map((origin): Range => {
    const summary = origin === SUMMARY_ORIGIN ? summaries[next++] : undefined;
    return summary
      ? { start: summary.start, end: summary.end, isSummary: true }
      : { start: origin, end: origin + 1, isSummary: false };
  });
  return { context, messages, ranges };
}

const inputOf = (
  { messages, context }: View,
  config: unknown,
  { targetTokens, maxCost, onProgress }: CondensationOptions,
): ProviderInput => ({
  messages: structuredClone(messages),
  config,
  targetTokens,
  maxCost,
  system: context.system,
  countTokens: (text) => context.counter.text(text),
  onProgress: (progress) => onProgress?.(progress),
});

/** The result of foreign work, or the signal's reason as soon as it's aborted: others need not listen to it. */
async function settled<T>(work: () => T | Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  let onAbort = (): void => undefined;
  const aborted = new Promise<never>((_resolve, reject) => {
    onAbort = (): void => {
      reject(signal.reason as Error);
    };
  });
  signal.addEventListener('abort', onAbort);
  try {
    return await Promise.race([work(), aborted]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

/** Cuts of one place are made at once: their offsets speak of the text before any of them. */
interface CutGroup {
  readonly kind: 'cut';
  readonly message: number;
  readonly path: Path;
  readonly reason: string;
  readonly requests: CutRequest[];
}

function grouped(changes: readonly Change[]): (CutGroup | SummaryChange)[] {
  const cuts = new Map<string, CutGroup>();
  const groups: (CutGroup | SummaryChange)[] = [];
  for (const change of changes) {
    if (change.kind === 'summary') {
      groups.push(change);
      continue;
    }
    const { message, path, reason } = change;
    const key = JSON.stringify([message, path]);
    const known = cuts.get(key) ?? { kind: 'cut', message, path, reason, requests: [] };
    if (!cuts.has(key)) groups.push(known);
    cuts.set(key, known);
    known.requests.push(requestOf(change));
  }
  return groups;
}

const requestOf = ({ start, end, what }: CutChange): CutRequest => ({ start, end, marker: what });

/** @throws Error where there is nothing that may be cut. */
function cutPlace(view: View, { message, path, reason, requests }: CutGroup, draft: Draft, step: string): number {
  const range = view.ranges[message];
  const shown = view.messages[message];
  const where = `message ${message}, ${path.join('.')}`;
  if (!range || !shown) throw new Error(`There is no ${where}.`);
  if (range.isSummary) throw new Error(`${where}: a summary is replaced by another one, not cut.`);
  if (range.start === draft.task) throw new Error(`${where}: the first user message stays as it is.`);
  const contents = contentsOf(shown).filter((content) => samePath(content.path, path));
  const type = contentTypeOf(contents, requests);
  if (type === undefined) throw new Error(`${where}: there is no text from ${spanOf(requests)} that may be cut.`);
  return draft.cut(step, { message: range.start, path }, requests, { contentType: type, reason, strict: false });
}

const samePath = (a: Path, b: Path): boolean => a.length === b.length && a.every((key, index) => key === b[index]);

/** The type of the content that holds all the slices; undefined where one of them lies in none. */
function contentTypeOf(contents: readonly Content[], requests: readonly CutRequest[]): ContentType | undefined {
  const holders = requests.map(({ start, end }) =>
    contents.find((content) => start >= content.start && end <= content.end && start < end),
  );
  return holders.every((holder) => holder !== undefined) ? holders[0]?.type : undefined;
}

const spanOf = (requests: readonly CutRequest[]): string =>
  requests.map(({ start, end }) => `${start} to ${end}`).join(', ');

/** @throws Error where the range is none. */
function summarize(view: View, { start, end, text, reason }: SummaryChange, draft: Draft, step: string): number {
  const first = view.ranges[start];
  const last = view.ranges[end - 1];
  if (!first || !last || end <= start) throw new Error(`There are no messages from ${start} to ${end}.`);
  if (draft.task >= first.start && draft.task < last.end) throw new Error('The first user message stays as it is.');
  return draft.summarize(step, { start: first.start, end: last.end }, summaryMessage(text), { reason });
}
