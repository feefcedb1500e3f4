import { once } from 'node:events';
import { constants } from 'node:os';
import { join } from 'node:path';
import spawn from 'cross-spawn';
import { getErrorCode } from '../../core/errors';
import { RECALL_ROUTE } from '../../gateway/recall';
import { nodeFiles } from '../../storage/nodeFiles';
import { makeRunFolder, getRunsFolder } from '../../storage/runFolders';
import { UsageError } from '../args';
import type { CliIo } from '../io';
import { checkStoreFolder } from '../output';
import { findGatewayAgent, GATEWAY_COMMANDS } from './agents';
import {
  NO_PROXY_VARIABLES,
  UnsupportedError,
  addLoopbackHosts,
  type AgentLaunch,
  type PreparedAgent,
} from './agents/agent';
import { formatDestinations } from './agents/projectTrust';
import { parseGatewayLine, type GatewayArguments } from './arguments';
import { formatClosingLines } from './closingLine';
import { makeUpstreamByRoute, listRouteAddresses, makeAgentVariables } from './gatewayCommand';
import { ENDING_SIGNALS, deferSignals, type DeferredSignals } from './deferredSignals';
import { startGatewayService, formatSummariesLine } from './service';

/** Agents show this name with the server's tools. */
const MCP_SERVER_NAME = 'context-condenser';
/** The terminal sends other signals to the agent directly. */
const FORWARDED_SIGNALS = ['SIGTERM', 'SIGHUP'] as const;

/**
 * Runs the agent with this terminal, passes on signals, and returns its exit code. Changes none of
 * its files.
 */
export async function runAgentCommand(argv: readonly string[], io: CliIo): Promise<number> {
  const args = parseGatewayLine('run', argv);
  const store = await checkStoreFolder(args.store, io);
  const agent = await prepareAgent(args, store, io);
  // The agent receives the same signal, and we exit after the agent.
  const signals = deferSignals();
  const restoreConsole = silenceConsole();
  try {
    return await runWithDeferredSignals({ ...args, store }, agent, signals, io);
  } finally {
    restoreConsole();
    signals.release();
  }
}

/**
 * Keeps dependencies from writing to the agent's screen, such as SDK warnings about old models.
 * @returns a function that undoes this
 */
function silenceConsole(): () => void {
  const { log, info, warn, error } = console;
  Object.assign(console, Object.fromEntries(['log', 'info', 'warn', 'error'].map((name) => [name, () => undefined])));
  return () => void Object.assign(console, { log, info, warn, error });
}

async function runWithDeferredSignals(
  args: GatewayArguments & { readonly store: string },
  agent: PreparedAgent,
  signals: DeferredSignals,
  io: CliIo,
): Promise<number> {
  const overrides = parseUpstreamByRoute(args);
  const routes = new Map([...agent.routes, ...overrides]);
  const sourceByRoute = new Map([
    ...(agent.sourceByRoute ?? []),
    ...[...overrides.keys()].map((route) => [route, '--upstream'] as const),
  ]);
  // Don't use the temporary folder: Gemini CLI ignores settings in places that others can write to.
  const folder = await makeRunFolder(nodeFiles, args.store);
  const agentName = findGatewayAgent(args.agent ?? '')?.name ?? args.rest[0];
  const service = await startGatewayService(routes, args, io, {
    ...agent,
    ...(agentName !== undefined && { name: agentName }),
  });
  try {
    const { gateway } = service;
    io.stderr(`${formatDestinations(routes, sourceByRoute, agent.untrusted, agent.trust)}\n`);
    const summaries = formatSummariesLine(args);
    if (summaries !== undefined) io.stderr(`${summaries}\n`);
    const launch = await agent.launch({
      url: (route) => gateway.url(route),
      ticketUrl: (route) => gateway.ticketUrl(route),
      file: folder.write,
      recall: {
        name: MCP_SERVER_NAME,
        command: process.execPath,
        args: [join(io.assets, 'cli.cjs'), 'mcp'],
        env: { CONTEXT_CONDENSER_RECALL: gateway.url(RECALL_ROUTE), ...makeRunAsNodeVariables(io.env) },
      },
    });
    const earlySignal = signals.getFirstSignal();
    if (earlySignal !== undefined) return 128 + constants.signals[earlySignal];
    const { code, signal } = await spawnAgent(launch, io);
    await service.endSummaries();
    if (signal !== undefined) io.stderr(`${describeEndBySignal(args.agent ?? launch.command, signal)}\n`);
    io.stderr(`${formatClosingLines(service)}\n`);
    if (args.hold) await waitForEnter(io);
    // Shells report a signal as 128 plus its number.
    return code ?? 128 + (signal === undefined ? 0 : constants.signals[signal]);
  } finally {
    await service.close();
    await folder.remove();
  }
}

/**
 * VS Code closes a terminal when its program ends. Waiting for Enter lets the user read the last
 * lines.
 */
async function waitForEnter(io: CliIo): Promise<void> {
  if (!process.stdin.isTTY) return;
  io.stderr('Press Enter to close this terminal.\n');
  const waitController = new AbortController();
  const endEvents = [
    ...['data', 'end'].map((event) => once(process.stdin, event, waitController)),
    ...ENDING_SIGNALS.map((signal) => once(process, signal, waitController)),
  ];
  await Promise.race(endEvents.map((one) => one.catch(() => undefined)));
  waitController.abort();
  process.stdin.pause();
}

/** Parses the URLs given on the command line, which override the agent's settings. */
const parseUpstreamByRoute = ({ upstreams }: GatewayArguments): Map<string, URL> =>
  new Map(
    [...makeUpstreamByRoute({ upstreams })].filter(([route]) =>
      upstreams.some((upstream) => upstream.startsWith(`${route}=`)),
    ),
  );

async function prepareAgent(args: GatewayArguments, store: string, io: CliIo): Promise<PreparedAgent> {
  const { agent: name, rest, upstreams } = args;
  if (name === undefined) return prepareOtherCommand(rest, upstreams, io.env);
  const agent = findGatewayAgent(name);
  if (!agent) {
    const names = GATEWAY_COMMANDS.join(', ');
    throw new UsageError(
      `Unknown agent "${name}". Known agents are ${names}. To run any other command with the usual variables: context-condenser run -- ${name} …`,
    );
  }
  try {
    return await agent.prepare(rest, {
      ...io,
      cwd: process.cwd(),
      runs: getRunsFolder(store),
      trustProject: args.trustProject,
    });
  } catch (error) {
    if (error instanceof UnsupportedError) throw new UsageError(`${agent.name} was not started. ${error.message}`);
    throw error;
  }
}

/** For a command that is no known agent, sets the variables of vendors' SDKs. */
function prepareOtherCommand(
  [command, ...args]: readonly string[],
  upstreams: readonly string[],
  env: CliIo['env'],
): PreparedAgent {
  if (command === undefined) {
    throw new UsageError('Missing agent: context-condenser run <agent> …, or context-condenser run -- <command> ….');
  }
  const routes = listRouteAddresses({ upstreams }, env);
  const environmentSources = [...routes.keys()].flatMap((route) => {
    const name = Object.keys(makeAgentVariables(route, '')).find((variable) => env[variable] !== undefined);
    return name === undefined ? [] : [[route, name] as const];
  });
  return {
    routes,
    sourceByRoute: new Map(environmentSources),
    canRecall: false,
    launch: ({ url }) =>
      Promise.resolve({
        command,
        args,
        env: Object.assign({}, ...[...routes.keys()].map((route) => makeAgentVariables(route, url(route)))) as Record<
          string,
          string
        >,
      }),
  };
}

function describeEndBySignal(command: string, signal: NodeJS.Signals): string {
  const agent = findGatewayAgent(command);
  const endedText = `Context Condenser: ${agent?.name ?? command} was ended by ${signal}. Its session is where the agent keeps it`;
  if (!agent?.resumeArguments) return `${endedText}, complete.`;
  const resumeCommand = [command, ...agent.resumeArguments].join(' ');
  return `${endedText}: "context-condenser run ${resumeCommand}" continues it, and so does "${resumeCommand}" on its own.`;
}

function spawnAgent(
  { command, args, env }: AgentLaunch,
  io: CliIo,
): Promise<{ readonly code?: number; readonly signal?: NodeJS.Signals }> {
  return new Promise((resolve, reject) => {
    // On Windows agents are scripts, and cmd.exe would interpret quotes, spaces and other
    // characters in arguments.
    const child = spawn(command, args, {
      stdio: 'inherit',
      env: { ...dropRunAsNodeVariable(io.env), ...env, ...makeNoProxyEnvironment(io.env) },
    });
    const stopFunctions = FORWARDED_SIGNALS.map((signal) => {
      const passSignal = (): void => {
        child.kill(signal);
      };
      process.on(signal, passSignal);
      return () => process.off(signal, passSignal);
    });
    const stopForwarding = (): void => {
      for (const stop of stopFunctions) stop();
    };
    child.once('error', (error) => {
      stopForwarding();
      const isCommandMissing = getErrorCode(error) === 'ENOENT';
      reject(isCommandMissing ? new UsageError(`The command "${command}" was not found.`) : error);
    });
    child.once('exit', (code, signal) => {
      stopForwarding();
      resolve({ ...(code !== null && { code }), ...(signal !== null && { signal }) });
    });
  });
}

/**
 * Makes VS Code's executable run as Node: our server needs it, the agent's children must not get
 * it.
 */
const RUN_AS_NODE_VARIABLE = 'ELECTRON_RUN_AS_NODE';

const makeRunAsNodeVariables = (env: CliIo['env']): Record<string, string> => {
  const value = env[RUN_AS_NODE_VARIABLE];
  return value === undefined ? {} : { [RUN_AS_NODE_VARIABLE]: value };
};

const dropRunAsNodeVariable = (env: CliIo['env']): CliIo['env'] =>
  Object.fromEntries(Object.entries(env).filter(([name]) => name !== RUN_AS_NODE_VARIABLE));

/** Bypasses proxies between the agent and us. */
function makeNoProxyEnvironment(env: CliIo['env']): Record<string, string> {
  return Object.fromEntries(NO_PROXY_VARIABLES.map((name) => [name, addLoopbackHosts(env[name])]));
}
