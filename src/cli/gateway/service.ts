import { appendFileSync, constants, openSync, writeSync } from 'node:fs';
import { realpath, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { loadPriceTable } from '../../api/prices';
import { AGENT_LIST } from '../../core/agents';
import type { SpendingLimitNames } from '../../core/condense/summarizer';
import { countUsesOfRemoved } from '../../core/condense/ledger/use';
import { CondensationManager, createProviders, type OutcomeSummary } from '../../core/condense';
import { getErrorCode, getErrorMessage } from '../../core/errors';
import { listToolsAskingPerson } from '../../core/messages/personsAnswers';
import { MessageCounter } from '../../core/tokens/messageCounter';
import { LiveCondenser } from '../../gateway/liveCondenser';
import { createSecret } from '../../gateway/access';
import { announceGateway } from '../../gateway/announcement';
import { createLiveRoute } from '../../gateway/liveRoute';
import { createRecallRoute, RECALL_ROUTE } from '../../gateway/recall';
import type { GatewayRunSummary } from '../../gateway/runFigures';
import { GatewaySummaries, type SummaryFigures } from '../../gateway/summaries';
import { startGateway, type Gateway } from '../../gateway/server';
import { ConversationSpending, type ConversationLimits, type LimitNotice } from '../../live/conversationSpending';
import { LiveConversations } from '../../live/liveConversations';
import type { LiveSettings, WhenNotEnough } from '../../live/types';
import { loadTokenCounter } from '../../storage/assets';
import { nodeFiles } from '../../storage/nodeFiles';
import { LOG_HEADER, OWN_FILE_KINDS } from '../../storage/ownFiles';
import { claimOwnFolder } from '../../storage/ownFolder';
import { Spending, type SpendingLimits } from '../../storage/spending';
import { UsageError } from '../args';
import { readConfig } from '../config';
import type { CliIo } from '../io';
import { checkWritableOwnFile, checkStoreFolder, rethrowAsUsageError } from '../output';
import type { GatewayArguments, SummaryCostLimits } from './arguments';
import { createLimitMessages } from './limitMessages';
import { formatTokens } from '../../core/format';
import { listProviderNames } from '../../core/condense/report/report';
import { explainWhyNothingRemoved } from '../../core/condense/fallback';

export interface GatewayService {
  readonly gateway: Gateway;
  readonly routes: readonly string[];
  summary(): GatewayRunSummary;
  condensations(): number;
  /** Returns the figures of summaries; undefined if no summaries are allowed. */
  summaries(): SummaryFigures | undefined;
  /** Cancels pending summaries. Resolves when their costs are recorded. */
  endSummaries(): Promise<void>;
  readonly notices: readonly LimitNotice[];
  readonly pruned: readonly string[];
  close(): Promise<void>;
}

export interface ServedAgent {
  readonly canRecall: boolean;
  /** Context windows in tokens, by model ID, from the agent's settings. */
  readonly windows?: ReadonlyMap<string, number>;
  /** The agent's display name; absent if any agent may connect. */
  readonly name?: string;
  /** The secret of an earlier gateway, so that its URL stays the same. */
  readonly secret?: string;
  /**
   * Set for a gateway that agents share: VS Code windows receive its URLs, by route, and may end
   * it.
   */
  readonly baseAddresses?: (service: Pick<GatewayService, 'gateway' | 'routes'>) => Record<string, string>;
  readonly end?: () => void;
}

/**
 * @param agent if its `canRecall` is false and no provider was chosen, only content that the view
 * repeats is removed
 * @throws UsageError if the provider's configuration is invalid
 */
export async function startGatewayService(
  routes: ReadonlyMap<string, URL>,
  args: GatewayArguments,
  io: CliIo,
  { canRecall, windows, name, secret, baseAddresses, end }: ServedAgent,
): Promise<GatewayService> {
  const store = await checkStoreFolder(args.store, io);
  const log = await createLogger(args.log, io);
  const announcementFolder = args.announce === undefined ? undefined : resolve(args.announce);
  if (announcementFolder !== undefined)
    await rethrowAsUsageError('--announce', () =>
      claimOwnFolder(nodeFiles, announcementFolder, 'Nothing was started.'),
    );
  const counter = new MessageCounter(await loadTokenCounter(io.assets));
  const spendingFile =
    args.spending === undefined
      ? join(store, 'spending.jsonl')
      : await checkWritableOwnFile('--spending', args.spending, OWN_FILE_KINDS.spending);
  const storedSpending = new Spending(spendingFile);
  const summaries =
    args.summaries &&
    new GatewaySummaries({
      counter,
      spending: storedSpending,
      limits: makeSummaryLimits(args.summaries),
      limitNames: LIMIT_OPTION_NAMES,
    });
  const manager = new CondensationManager(counter, createProviders(summaries && { select: summaries.select }));
  const settings = await createLiveSettings(args, manager, canRecall, io);
  let isPaused = false;
  const liveConversations = new LiveConversations({
    manager,
    counter,
    settings: () => ({ ...settings, isPaused }),
    root: store,
  });
  const gatewaySpending = createGatewaySpending(args, storedSpending, log);
  let condensations = 0;
  const pruneMessages: string[] = [];
  liveConversations.on((event) => {
    if (event.kind === 'condensed') {
      condensations++;
      const { reason, tokensBefore, tokensAfter } = event.decision;
      const providerNames = listProviderNames(event.outcome, (id) => manager.getProviderDisplayName(id));
      log(
        `condensed with ${providerNames} (${reason}): ${formatTokens(tokensBefore)} to ${formatTokens(tokensAfter)} tokens`,
      );
    } else if (event.kind === 'not-condensed') {
      const { reason, outcome, givenUp } = event;
      log(
        `not condensed (${reason}): ${givenUp === undefined ? explainWhyNothingRemoved(outcome) : `abandoned, because ${givenUp}`}`,
      );
      if (summaries && manager.mayCallModel(settings.provider, settings.config))
        gatewaySpending.reportUnwrittenSummary(outcome, givenUp);
    } else if (event.kind === 'preparing') {
      if (event.isPreparing) log('a summary is being prepared');
    } else if (event.kind === 'problem' || event.kind === 'exhausted') log(event.message);
    else if (event.kind === 'pruned') {
      log(event.message);
      pruneMessages.push(event.message);
    } else if (event.kind === 'careful')
      log(
        `${countUsesOfRemoved(event.use)} times in ${event.use.turns} turns the agent asked again for what was removed: Lossless condenses from now on`,
      );
  });
  const prices = await loadPriceTable().catch((error: unknown) => {
    log(`Prices are not known: ${getErrorMessage(error)}`);
    return undefined;
  });
  const condenser = new LiveCondenser({
    live: liveConversations,
    counter,
    addresses: routes,
    report: log,
    ...(prices && { prices }),
    ...(windows && { windows }),
    askingTools: listToolsAskingPerson(AGENT_LIST.filter((agent) => agent.name === name)),
    ...(args.window !== undefined && { window: args.window }),
    threshold: args.threshold,
    canRecall,
    spending: gatewaySpending.spending,
    ...(summaries && { summaries }),
  });
  // Use a separate secret here, because agents know the secret in the other URLs.
  const liveName = `live-${createSecret()}`;
  const gatewayStart = startGateway({
    routes,
    ...(!args.off && { condenser }),
    ...(args.port !== undefined && { port: args.port }),
    ...(secret !== undefined && { secret }),
    ownRoutes: new Map<string, (body: unknown, signal: AbortSignal) => Promise<unknown>>([
      ...(canRecall ? ([[RECALL_ROUTE, createRecallRoute(liveConversations)]] as const) : []),
      [
        liveName,
        createLiveRoute(liveConversations, {
          spending: gatewaySpending.spendingNotices,
          ...(!args.off && {
            pause: (wanted: boolean) => {
              isPaused = wanted;
            },
          }),
          end,
        }),
      ],
    ]),
    report: ({ kind, route = '', detail }) => {
      log([kind, route, detail].filter((part) => part !== '').join(' '));
    },
  });
  const gateway = await gatewayStart.catch((error: unknown) => {
    if (getErrorCode(error) !== 'EADDRINUSE' || secret !== undefined) throw error;
    throw new UsageError(
      `Port ${args.port} of 127.0.0.1 is taken by another program. Nothing was started; name another --port, or none for any that is free.`,
    );
  });
  const routeNames = [...routes.keys()];
  const withdrawAnnouncement =
    announcementFolder === undefined
      ? undefined
      : await announceGateway(announcementFolder, {
          pid: process.pid,
          address: gateway.url(liveName),
          folder: process.cwd(),
          ...(name !== undefined && { agent: name }),
          ...(baseAddresses && { addresses: baseAddresses({ gateway, routes: routeNames }) }),
        });
  return {
    gateway,
    routes: routeNames,
    summary: () => condenser.summary(),
    condensations: () => condensations,
    summaries: () => summaries?.figures,
    endSummaries: async () => {
      if (liveConversations.endPreparations(ABANDONED_BECAUSE_AGENT_ENDED) > 0)
        gatewaySpending.tell({ words: SUMMARY_CANCELED_TEXT, about: 'summary' });
      await summaries?.waitUntilSettled();
    },
    notices: gatewaySpending.spendingNotices.notices,
    pruned: pruneMessages,
    close: async () => {
      await withdrawAnnouncement?.();
      liveConversations.dispose();
      await gateway.close();
      await Promise.all([
        liveConversations.waitUntilSettled(),
        condenser.waitUntilSettled(),
        summaries?.waitUntilSettled(),
      ]);
    },
  };
}

function createGatewaySpending(args: GatewayArguments, storedSpending: Spending, log: (line: string) => void) {
  let limits = args.limits;
  const notices: LimitNotice[] = [];
  const listeners: (() => void)[] = [];
  const addNotice = (notice: LimitNotice): void => {
    notices.push(notice);
    for (const listener of listeners) listener();
  };
  const conversationSpending = new ConversationSpending({
    spending: storedSpending,
    limits: () => limits,
    messages: createLimitMessages(args.announce !== undefined),
    tell: addNotice,
    warn: log,
  });
  const reportUnwrittenSummary = (outcome: OutcomeSummary, givenUp: string | undefined): void => {
    const text = givenUp === undefined ? describeUnwrittenSummary(outcome) : describeAbandonedSummary(givenUp);
    if (text === undefined || notices.some((notice) => notice.about === 'summary')) return;
    addNotice({ words: text, about: 'summary' });
  };
  const spendingNotices = {
    notices,
    onNotice: (listener: () => void) => void listeners.push(listener),
    setLimits: (changed: ConversationLimits) => {
      limits = changed;
    },
  };
  return {
    spending: conversationSpending,
    spendingNotices,
    tell: addNotice,
    reportUnwrittenSummary,
  };
}

/**
 * Returns undefined if the agent ended, because {@link SUMMARY_CANCELED_TEXT} already reports that.
 */
const describeAbandonedSummary = (why: string): string | undefined =>
  why === ABANDONED_BECAUSE_AGENT_ENDED
    ? undefined
    : `A summary was abandoned, because ${why}. It may have cost something.`;

const ABANDONED_BECAUSE_AGENT_ENDED = 'the agent ended';
const SUMMARY_CANCELED_TEXT = 'A summary was being written when the agent ended, so it was canceled.';

/** Returns undefined if the user need not know of it. The agent's requests continue in any case. */
function describeUnwrittenSummary(outcome: OutcomeSummary): string | undefined {
  const isMissing = outcome.kind === 'failed' || (outcome.kind === 'unchanged' && outcome.reason === 'over-budget');
  return isMissing
    ? `A conversation was not summarized: ${explainWhyNothingRemoved(outcome)} The agent’s requests go on; what no longer fits is removed without a summary.`
    : undefined;
}

const makeSummaryLimits = ({ perDay }: SummaryCostLimits): SpendingLimits => ({ perConversation: 0, perDay });

/**
 * The options named in messages about a limit. Summaries of a gateway have no limit per
 * conversation.
 */
const LIMIT_OPTION_NAMES: SpendingLimitNames = {
  condensation: '--max-cost-per-condensation',
  conversation: '--max-cost-per-condensation',
  day: '--max-condensing-cost-per-day',
  unknownPrice: 'To allow it nevertheless, use --max-cost-per-condensation none, without a limit for the day.',
};

/** Names the summarizing model, its credentials and the cost limits. */
export function formatSummariesLine({ summaries }: Pick<GatewayArguments, 'summaries'>): string | undefined {
  if (!summaries) return undefined;
  const { perCondensation, perDay } = summaries;
  const limitText = perCondensation === undefined ? 'without a limit' : `at most $${perCondensation.toFixed(2)} each`;
  const dayLimitText = perDay > 0 ? `, at most $${perDay.toFixed(2)} a day` : '';
  return `Context Condenser: Summaries are written by the agent’s own model, over its own address and key, which pays for them: ${limitText}${dayLimitText}.`;
}

async function createLiveSettings(
  args: GatewayArguments,
  manager: CondensationManager,
  canRecall: boolean,
  io: CliIo,
): Promise<LiveSettings> {
  const isChosen = args.provider !== undefined || args.preset !== undefined;
  const provider = manager.getProvider(args.provider ?? (args.preset === undefined ? 'lossless' : 'smart'));
  const writeNote = (sentence: string): void => {
    io.stderr(`Note: ${sentence}\n`);
  };
  const config = isChosen || args.config !== undefined ? await readConfig(args, provider, writeNote) : undefined;
  if (!args.summaries && manager.mayCallModel(provider.id, config ?? {}))
    writeNote('steps that need a model are skipped; --max-cost-per-condensation lets them ask the agent’s own.');
  return {
    provider: provider.id,
    ...makeFollowUpSettings(args.whenNotEnough ?? (isChosen ? 'nothing' : undefined)),
    newResults: args.newResults,
    newResultsNoise: args.newResultsNoise,
    ...(args.largeResultPercent !== undefined && { largeResultPercent: args.largeResultPercent }),
    config: config ?? (canRecall || isChosen ? undefined : { strictOnly: true }),
    coldPercent: 50,
    mayUseNative: false,
    // Summaries start at the same fill level as in VS Code's chat
    // (contextCondenser.agent.backgroundPercent).
    ...(args.summaries && {
      waitMs: 0,
      backgroundPercent: 60,
      ...(args.summaries.perCondensation !== undefined && { maxCost: args.summaries.perCondensation }),
    }),
  };
}

/**
 * If the option is absent, the engine decides, depending on whether the agent has the recall tool.
 */
const makeFollowUpSettings = (whenNotEnough: WhenNotEnough | undefined): Pick<LiveSettings, 'whenNotEnough'> =>
  whenNotEnough === undefined ? {} : { whenNotEnough };

/**
 * Never logs content, keys or the secret.
 * @throws UsageError if the file isn't writable
 */
async function createLogger(file: string | undefined, io: CliIo): Promise<(line: string) => void> {
  if (file === undefined) return () => undefined;
  // Pipes and devices need a different kind of writing than files.
  const isFile = (await stat(file).catch(() => undefined))?.isFile() !== false;
  const logPath = isFile
    ? await checkWritableOwnFile('--log', await realpath(file).catch(() => file), OWN_FILE_KINDS.log)
    : file;
  let writeToLog: (text: string) => void;
  try {
    writeToLog = isFile
      ? (text) => {
          appendFileSync(logPath, text, { mode: 0o600 });
        }
      : createPipeWriter(logPath);
    writeToLog(isFile && !(await isNonEmptyFile(logPath)) ? `${io.now().toISOString()} ${LOG_HEADER}\n` : '');
  } catch (error) {
    throw new UsageError(
      `--log: ${file} can't be written (${getErrorCode(error) ?? 'unknown error'}). Nothing was started.`,
    );
  }
  return (line) => {
    writeToLog(`${io.now().toISOString()} ${line.replace(/\s+/g, ' ')}\n`);
  };
}

/**
 * Doesn't block if there is no reader.
 * @throws the system's error if there is no reader at the start
 */
function createPipeWriter(path: string): (text: string) => void {
  const pipe = openSync(path, constants.O_WRONLY | constants.O_APPEND | constants.O_NONBLOCK);
  return (text) => {
    try {
      writeSync(pipe, text);
    } catch {
      // If the reader is slow or missing, drop the line instead of blocking the gateway.
    }
  };
}

const isNonEmptyFile = async (path: string): Promise<boolean> =>
  ((await stat(path).catch(() => undefined))?.size ?? 0) > 0;
