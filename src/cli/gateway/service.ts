/** A gateway with its engine, as the command line starts it. */
import { appendFileSync, constants, openSync, writeSync } from 'node:fs';
import { realpath, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { loadPriceTable } from '../../api/prices';
import { AGENT_LIST } from '../../core/agents';
import { usesIn } from '../../core/condense/report/use';
import { CondensationManager, createProviders } from '../../core/condense';
import { errorCode, errorMessage } from '../../core/errors';
import { askingTools } from '../../core/messages/personsAnswers';
import { MessageCounter } from '../../core/tokens/messageCounter';
import { LiveCondenser } from '../../gateway/liveCondenser';
import { newSecret } from '../../gateway/access';
import { announce } from '../../gateway/announcement';
import { liveRoute } from '../../gateway/liveRoute';
import { recallRoute, RECALL_ROUTE } from '../../gateway/recall';
import type { RunSummary } from '../../gateway/runFigures';
import { startGateway, type Gateway } from '../../gateway/server';
import { ConversationSpending, type ConversationLimits, type LimitNotice } from '../../live/conversationSpending';
import { LiveConversations } from '../../live/liveConversations';
import type { LiveSettings, WhenNotEnough } from '../../live/types';
import { loadTokenCounter } from '../../storage/assets';
import { nodeFiles } from '../../storage/nodeFiles';
import { LOG_HEADER, OWN } from '../../storage/ownFiles';
import { claimFolder } from '../../storage/ownFolder';
import { Spending } from '../../storage/spending';
import { UsageError } from '../args';
import { readConfig } from '../config';
import type { CliIo } from '../io';
import { ownFile, ownStore, refused } from '../output';
import type { GatewayArguments } from './arguments';
import { limitWords } from './limitWords';
import { formatTokens, namesOf } from '../../core/condense/report/report';
import { whyNot } from '../../core/condense/fallback';

/** A gateway that runs, and what it was good for. */
export interface Service {
  readonly gateway: Gateway;
  /** The names of its routes. */
  readonly routes: readonly string[];
  summary(): RunSummary;
  /** Condensations so far. */
  condensations(): number;
  /** What a person is to know of the cost. */
  readonly told: readonly LimitNotice[];
  /** What became of ledgers that were not used for long, in sentences. */
  readonly pruned: readonly string[];
  close(): Promise<void>;
}

/** Who is served. */
export interface ServedAgent {
  readonly canRecall: boolean;
  /** Windows that its settings give to models, in tokens, by the model's id. */
  readonly windows?: ReadonlyMap<string, number>;
  /** As people know it; absent: any agent. */
  readonly name?: string;
  /** Of an address that was told before. */
  readonly secret?: string;
  /** Set where any agent may be given the address: windows are told the addresses, and may end the gateway. */
  readonly baseAddresses?: (service: Pick<Service, 'gateway' | 'routes'>) => Record<string, string>;
  readonly end?: () => void;
}

/**
 * Starts a gateway.
 * @param agent `canRecall`: whether the agents behind it can ask for what was taken out; else only what stands elsewhere in the view
 * goes, unless a provider was chosen.
 * @throws UsageError where the provider's configuration is wrong.
 */
export async function startService(
  routes: ReadonlyMap<string, URL>,
  args: GatewayArguments,
  io: CliIo,
  { canRecall, windows, name, secret, baseAddresses, end }: ServedAgent,
): Promise<Service> {
  const store = await ownStore(args.store, io);
  const log = await logger(args.log, io);
  const folder = args.announce === undefined ? undefined : resolve(args.announce);
  if (folder !== undefined) await refused('--announce', () => claimFolder(nodeFiles, folder, 'Nothing was started.'));
  const counter = new MessageCounter(await loadTokenCounter(io.assets));
  const manager = new CondensationManager(counter, createProviders());
  const settings = await settingsOf(args, manager, canRecall, io);
  let isPaused = false;
  const live = new LiveConversations({
    manager,
    counter,
    settings: () => ({ ...settings, isPaused }),
    root: store,
  });
  const spendingFile =
    args.spending === undefined
      ? join(store, 'spending.jsonl')
      : await ownFile('--spending', args.spending, OWN.spending);
  const costs = spendingIn(args, spendingFile, log);
  let condensations = 0;
  const pruned: string[] = [];
  live.on((event) => {
    if (event.kind === 'condensed') {
      condensations++;
      const { reason, tokensBefore, tokensAfter } = event.decision;
      const by = namesOf(event.outcome, (id) => manager.providerName(id));
      log(`condensed with ${by} (${reason}): ${formatTokens(tokensBefore)} to ${formatTokens(tokensAfter)} tokens`);
    } else if (event.kind === 'not-condensed') log(`not condensed (${event.reason}): ${whyNot(event.outcome)}`);
    else if (event.kind === 'problem' || event.kind === 'exhausted') log(event.message);
    else if (event.kind === 'pruned') {
      log(event.message);
      pruned.push(event.message);
    } else if (event.kind === 'careful')
      log(
        `${usesIn(event.use)} times in ${event.use.turns} turns the agent asked again for what was removed: Lossless condenses from now on`,
      );
  });
  const prices = await loadPriceTable().catch((error: unknown) => {
    log(`Prices are not known: ${errorMessage(error)}`);
    return undefined;
  });
  const condenser = new LiveCondenser({
    live,
    counter,
    addresses: routes,
    report: log,
    ...(prices && { prices }),
    ...(windows && { windows }),
    askingTools: askingTools(AGENT_LIST.filter((agent) => agent.name === name)),
    ...(args.window !== undefined && { window: args.window }),
    threshold: args.threshold,
    canRecall,
    spending: costs.spending,
  });
  // Its name is a second secret: agents know the first one.
  const liveName = `live-${newSecret()}`;
  const starting = startGateway({
    routes,
    ...(!args.off && { condenser }),
    ...(args.port !== undefined && { port: args.port }),
    ...(secret !== undefined && { secret }),
    own: new Map<string, (body: unknown, signal: AbortSignal) => Promise<unknown>>([
      ...(canRecall ? ([[RECALL_ROUTE, recallRoute(live)]] as const) : []),
      [
        liveName,
        liveRoute(live, {
          spending: costs.desk,
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
  const gateway = await starting.catch((error: unknown) => {
    if (errorCode(error) !== 'EADDRINUSE' || secret !== undefined) throw error;
    throw new UsageError(
      `Port ${args.port} of 127.0.0.1 is taken by another program. Nothing was started; name another --port, or none for any that is free.`,
    );
  });
  const names = [...routes.keys()];
  const takeBack =
    folder === undefined
      ? undefined
      : await announce(folder, {
          pid: process.pid,
          address: gateway.url(liveName),
          folder: process.cwd(),
          ...(name !== undefined && { agent: name }),
          ...(baseAddresses && { addresses: baseAddresses({ gateway, routes: names }) }),
        });
  return {
    gateway,
    routes: names,
    summary: () => condenser.summary(),
    condensations: () => condensations,
    told: costs.desk.told,
    pruned,
    close: async () => {
      await takeBack?.();
      live.dispose();
      await gateway.close();
      await Promise.all([live.settled(), condenser.settled()]);
    },
  };
}

/** The count of what the requests cost, the user's limits on it, and what is told of them. */
function spendingIn(args: GatewayArguments, file: string, log: (line: string) => void) {
  let limits = args.limits;
  const told: LimitNotice[] = [];
  const listeners: (() => void)[] = [];
  const spending = new ConversationSpending({
    spending: new Spending(file),
    limits: () => limits,
    words: limitWords(args.announce !== undefined),
    tell: (notice) => {
      told.push(notice);
      for (const listener of listeners) listener();
    },
    warn: log,
  });
  const desk = {
    told,
    onTold: (listener: () => void) => void listeners.push(listener),
    set: (changed: ConversationLimits) => {
      limits = changed;
    },
  };
  return { spending, desk };
}

async function settingsOf(
  args: GatewayArguments,
  manager: CondensationManager,
  canRecall: boolean,
  io: CliIo,
): Promise<LiveSettings> {
  const isChosen = args.provider !== undefined || args.preset !== undefined;
  const provider = manager.getProvider(args.provider ?? (args.preset === undefined ? 'lossless' : 'smart'));
  const note = (sentence: string): void => {
    io.stderr(`Note: ${sentence}\n`);
  };
  const config = isChosen || args.config !== undefined ? await readConfig(args, provider, note) : undefined;
  return {
    provider: provider.id,
    ...following(args.whenNotEnough ?? (isChosen ? 'nothing' : undefined)),
    onArrival: args.onArrival,
    noiseOnArrival: args.noiseOnArrival,
    ...(args.largeResultPercent !== undefined && { largeResultPercent: args.largeResultPercent }),
    config: config ?? (canRecall || isChosen ? undefined : { strictOnly: true }),
    coldPercent: 50,
    mayUseNative: false,
  };
}

/** Absent: the engine decides by what the agent can recall. */
const following = (whenNotEnough: WhenNotEnough | undefined): Pick<LiveSettings, 'whenNotEnough'> =>
  whenNotEnough === undefined ? {} : { whenNotEnough };

/**
 * Lines with their time in a file that its user alone can read; nowhere without one. Never content, keys or the secret.
 * @throws UsageError where it can't be written
 */
async function logger(file: string | undefined, io: CliIo): Promise<(line: string) => void> {
  if (file === undefined) return () => undefined;
  // What a pipe or a device gets can't be lost.
  const isFile = (await stat(file).catch(() => undefined))?.isFile() !== false;
  const path = isFile ? await ownFile('--log', await realpath(file).catch(() => file), OWN.log) : file;
  let write: (text: string) => void;
  try {
    write = isFile
      ? (text) => {
          appendFileSync(path, text, { mode: 0o600 });
        }
      : pipeWriter(path);
    write(isFile && !(await hasContent(path)) ? `${io.now().toISOString()} ${LOG_HEADER}\n` : '');
  } catch (error) {
    throw new UsageError(
      `--log: ${file} can't be written (${errorCode(error) ?? 'unknown error'}). Nothing was started.`,
    );
  }
  return (line) => {
    write(`${io.now().toISOString()} ${line.replace(/\s+/g, ' ')}\n`);
  };
}

/**
 * Writes to a pipe or a device without ever waiting for it: nobody may read at the other end.
 * @throws the system's error where nobody reads now, or it can't be written
 */
function pipeWriter(path: string): (text: string) => void {
  const pipe = openSync(path, constants.O_WRONLY | constants.O_APPEND | constants.O_NONBLOCK);
  return (text) => {
    try {
      writeSync(pipe, text);
    } catch {
      // A reader that is slow, or gone, costs the line and not the gateway.
    }
  };
}

const hasContent = async (path: string): Promise<boolean> => ((await stat(path).catch(() => undefined))?.size ?? 0) > 0;
