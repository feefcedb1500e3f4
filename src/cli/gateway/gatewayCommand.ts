import { addressOf, UsageError } from '../args';
import { EXIT, type CliIo, type ExitCode } from '../io';
import { parseGatewayLine, type GatewayArguments } from './arguments';
import { closingLine } from './closingLine';
import { startService } from './service';

/** The vendors' own addresses, by route; what agents put behind them is theirs. */
export const VENDOR_ADDRESSES: Readonly<Record<string, string>> = {
  anthropic: 'https://api.anthropic.com',
  openai: 'https://api.openai.com',
  gemini: 'https://generativelanguage.googleapis.com',
};

/** `gateway`: one that stands alone until it is interrupted, and says what to set. */
export async function gatewayCommand(argv: readonly string[], io: CliIo): Promise<ExitCode> {
  const args = parseGatewayLine('gateway', argv);
  const routes = routesOf(args);
  const service = await startService(routes, args, io, { canRecall: false });
  const { gateway } = service;
  io.stdout(
    [
      'The gateway runs until you end it with Ctrl+C. Set in the shell of an agent:',
      ...[...routes.keys()].flatMap((route) => variablesOf(route, gateway.url(route))),
      '',
    ].join('\n'),
  );
  await new Promise<void>((resolve) => {
    const end = (): void => {
      resolve();
    };
    if (io.signal.aborted) end();
    io.signal.addEventListener('abort', end);
    process.once('SIGTERM', end);
  });
  await service.close();
  io.stderr(`${closingLine(service)}\n`);
  return EXIT.done;
}

/** Routes of the vendors, and those that were said. @throws UsageError */
export function routesOf({ upstreams }: Pick<GatewayArguments, 'upstreams'>): Map<string, URL> {
  const routes = new Map(Object.entries(VENDOR_ADDRESSES).map(([route, address]) => [route, new URL(address)]));
  for (const upstream of upstreams) {
    const [, route, address] = /^([a-z][a-z0-9-]*)=(.+)$/.exec(upstream) ?? [];
    if (route === undefined || address === undefined) {
      throw new UsageError(
        `--upstream is a name and an address, such as anthropic=https://example.com, not "${upstream}".`,
      );
    }
    routes.set(route, addressOf('--upstream', address));
  }
  return routes;
}

/** Variables that lead agents here, as lines for a shell. */
function variablesOf(route: string, url: string): string[] {
  const named = Object.entries(variables(route, url));
  return named.length > 0 ? named.map(([name, value]) => `  export ${name}=${value}`) : [`  (${route}) ${url}`];
}

/** The usual variables of a vendor's SDKs and agents. */
export function variables(route: string, url: string): Record<string, string> {
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
