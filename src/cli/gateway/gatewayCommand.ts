import { once } from 'node:events';
import { getErrorCode } from '../../core/errors';
import { OWN_FILE_KINDS } from '../../storage/ownFiles';
import { parseAddress, UsageError } from '../args';
import { EXIT_CODE, type CliIo, type ExitCode } from '../io';
import { checkWritableOwnFile } from '../output';
import { parseGatewayLine, type GatewayArguments } from './arguments';
import { hideSecretInAddress } from '../../gateway/announcement';
import { formatClosingLines } from './closingLine';
import { deferSignals } from './deferredSignals';
import { storeAddress, readStoredAddress } from './storedAddress';
import { startGatewayService, formatSummariesLine, type GatewayService } from './service';

/** By route, the vendor's URL, to which agents append paths. */
const VENDOR_ADDRESSES: Readonly<Record<string, string>> = {
  anthropic: 'https://api.anthropic.com',
  openai: 'https://api.openai.com',
  gemini: 'https://generativelanguage.googleapis.com',
  openrouter: 'https://openrouter.ai/api',
};

/** Runs the gateway until it is interrupted. */
export async function runGatewayCommand(argv: readonly string[], io: CliIo): Promise<ExitCode> {
  const args = parseGatewayLine('gateway', argv);
  const endController = new AbortController();
  const endGateway = (): void => {
    endController.abort();
  };
  if (io.signal.aborted) endGateway();
  io.signal.addEventListener('abort', endGateway);
  // Closing the terminal sends SIGHUP.
  const signals = deferSignals(endGateway);
  try {
    const service = await startTemporaryOrPersistentGateway(args, io, endGateway);
    io.stdout(formatVariablesToSet(service, args));
    const summaries = formatSummariesLine(args);
    if (summaries !== undefined) io.stderr(`${summaries}\n`);
    if (!endController.signal.aborted) await once(endController.signal, 'abort');
    await service.close();
    io.stderr(`${formatClosingLines(service)}\n`);
    return EXIT_CODE.done;
  } finally {
    signals.release();
    io.signal.removeEventListener('abort', endGateway);
  }
}

const startTemporaryOrPersistentGateway = async (
  args: GatewayArguments,
  io: CliIo,
  endGateway: () => void,
): Promise<GatewayService> =>
  args.addressFile === undefined
    ? startGatewayService(listRouteAddresses(args, io.env), args, io, { canRecall: false })
    : startPersistentGateway(
        await checkWritableOwnFile('--address-file', args.addressFile, OWN_FILE_KINDS.address),
        args,
        io,
        endGateway,
      );

/** Returns the text that tells the user at the start what to configure in agents. */
function formatVariablesToSet(service: GatewayService, { addressFile, announce }: GatewayArguments): string {
  const addressLines =
    addressFile === undefined
      ? service.routes.flatMap((route) => listAgentVariableLines(route, service.gateway.url(route)))
      : Object.entries(listBaseAddresses(service)).map(
          ([route, url]) => `  ${route.padEnd(12)}${announce === undefined ? url : hideSecretInAddress(url)}`,
        );
  const instructions =
    addressFile === undefined
      ? 'The gateway runs until you end it with Ctrl+C. Set in the shell of an agent:'
      : `The gateway runs until you close this terminal or press Ctrl+C. Its base URLs stay the same${announce === undefined ? '' : '; "Open a Gateway for Agent Extensions…" copies them'}:`;
  return [instructions, ...addressLines, ''].join('\n');
}

/**
 * Starts a gateway that keeps its URL.
 * @throws UsageError if its port is in use
 */
async function startPersistentGateway(
  path: string,
  args: GatewayArguments,
  io: CliIo,
  endGateway: () => void,
): Promise<GatewayService> {
  const storedAddress = await readStoredAddress(path);
  const port = args.port ?? storedAddress?.port;
  const servedAgent = { canRecall: false, name: 'Agent extensions', end: endGateway, baseAddresses: listBaseAddresses };
  try {
    const service = await startGatewayService(
      listRouteAddresses(args, io.env, storedAddress?.port),
      { ...args, ...(port !== undefined && { port }) },
      io,
      { ...servedAgent, ...(storedAddress && { secret: storedAddress.secret }) },
    );
    const { secret } = service.gateway;
    if (storedAddress?.port !== service.gateway.port) await storeAddress(path, { port: service.gateway.port, secret });
    return service;
  } catch (error) {
    if (getErrorCode(error) !== 'EADDRINUSE') throw error;
    throw new UsageError(
      `Port ${port ?? 0} of 127.0.0.1, which agents use, is taken by another program, which gets their requests and keys. End that program, or delete ${path} to get a new address at the next start.`,
    );
  }
}

/** Agents' extensions append "/chat/completions" to these URLs in OpenAI's format. */
const listBaseAddresses = ({ gateway, routes }: Pick<GatewayService, 'gateway' | 'routes'>): Record<string, string> =>
  Object.fromEntries(
    routes.map((route) => [
      route,
      route === 'anthropic' || route === 'gemini' ? gateway.url(route) : `${gateway.url(route)}/v1`,
    ]),
  );

/**
 * Returns URLs by route: those of vendors, of the variables for vendors' SDKs, and of `--upstream`.
 * @param ownPort port that would lead back to the gateway
 * @throws UsageError
 */
export function listRouteAddresses(
  args: Pick<GatewayArguments, 'upstreams'>,
  env: CliIo['env'],
  ownPort?: number,
): Map<string, URL> {
  const routes = makeUpstreamByRoute(args);
  for (const route of Object.keys(VENDOR_ADDRESSES)) {
    const [addressFromEnvironment] = Object.keys(makeAgentVariables(route, '')).flatMap((name) => env[name] ?? []);
    if (
      addressFromEnvironment === undefined ||
      !URL.canParse(addressFromEnvironment) ||
      args.upstreams.some((upstream) => upstream.startsWith(`${route}=`))
    )
      continue;
    // Remove the version, because the SDK appends it.
    const address = new URL(addressFromEnvironment.replace(/\/v1\/?$/, ''));
    if (ownPort === undefined || address.hostname !== '127.0.0.1' || address.port !== String(ownPort))
      routes.set(route, address);
  }
  return routes;
}

/** @throws UsageError */
export function makeUpstreamByRoute({ upstreams }: Pick<GatewayArguments, 'upstreams'>): Map<string, URL> {
  const routes = new Map(Object.entries(VENDOR_ADDRESSES).map(([route, address]) => [route, new URL(address)]));
  for (const upstream of upstreams) {
    const [, route, address] = /^([a-z][a-z0-9-]*)=(.+)$/.exec(upstream) ?? [];
    if (route === undefined || address === undefined) {
      throw new UsageError(
        `--upstream must be a name and an address, such as anthropic=https://example.com, not "${upstream}".`,
      );
    }
    routes.set(route, parseAddress('--upstream', address));
  }
  return routes;
}

function listAgentVariableLines(route: string, url: string): string[] {
  const namedVariables = Object.entries(makeAgentVariables(route, url));
  return namedVariables.length > 0
    ? namedVariables.map(([name, value]) => `  export ${name}=${value}`)
    : [`  (${route}) ${url}`];
}

export function makeAgentVariables(route: string, url: string): Record<string, string> {
  switch (route) {
    case 'anthropic':
      return { ANTHROPIC_BASE_URL: url };
    case 'openai':
      return { OPENAI_BASE_URL: `${url}/v1`, OPENAI_API_BASE: `${url}/v1` };
    case 'gemini':
      return { GOOGLE_GEMINI_BASE_URL: url };
    default:
      return {};
  }
}
