/**
 * Measures how much later the first byte arrives through the gateway than through a plain proxy in
 * the same run. Both are separate processes, and the vendor answers immediately. Twenty concurrent
 * conversations are measured, too.
 */
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import * as http from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { megabytes, millis, table } from './table';

export interface GatewayPoint {
  readonly tokens: number;
  readonly kind: string;
  readonly requests: number;
  readonly proxy: Quantiles;
  readonly gateway: Quantiles;
  /** Time that the gateway adds for the same body. */
  readonly added: Quantiles;
  /** CPU time of the gateway in milliseconds per request. */
  readonly cpuMs: number;
  /** Resident memory of the gateway at the end, in bytes. */
  readonly memory: number;
}

interface Quantiles {
  readonly median: number;
  readonly p99: number;
}

const SIZES = [50_000, 200_000, 800_000];
/**
 * The conversations run one after another, so that each keeps its size. The first requests of each
 * are not counted.
 */
const CONVERSATIONS = 10;
const WARM_UP = 5;
const REQUESTS = 20;
const PARALLEL_CONVERSATIONS = 20;
const REQUESTS_PER_PARALLEL_CONVERSATION = 10;
/**
 * Window as a multiple of the conversation's tokens: the conversation is condensed once and then
 * fits.
 */
const CONDENSING_WINDOW_FACTOR = 1.6;
/** Approximate number of o200k tokens per character in these conversations. */
const TOKENS_PER_CHAR = 0.3;

const PROXY_SOURCE = `
const http = require('http');
const to = new URL(process.argv[1]);
const agent = new http.Agent({ keepAlive: true });
const server = http.createServer((request, response) => {
  const onward = http.request({ host: to.hostname, port: to.port, path: request.url, method: request.method, headers: request.headers, agent }, (answer) => {
    response.writeHead(answer.statusCode, answer.headers);
    answer.pipe(response);
  });
  request.pipe(onward);
});
server.listen(0, '127.0.0.1', () => console.log('(x) http://127.0.0.1:' + server.address().port));
`;

/** Starts a process that prints its URL after "(x) ". */
async function startServing(args: readonly string[]): Promise<{ child: ChildProcess; url: string }> {
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let printedText = '';
  for await (const chunk of child.stdout) {
    printedText += String(chunk);
    const url = /\(x\) (\S+)/.exec(printedText)?.[1];
    if (url !== undefined) return { child, url };
  }
  throw new Error(`It did not start: ${printedText}`);
}

const makeFileText = (chars: number, seed: number): string => {
  const allLines: string[] = [];
  for (let lineIndex = 0, length = 0; length < chars; lineIndex++) {
    const line = `${lineIndex + 1}: const value_${seed}_${lineIndex} = compute(${(seed * 7919 + lineIndex * 104729) % 99991}, "text");`;
    allLines.push(line);
    length += line.length + 1;
  }
  return allLines.join('\n');
};

/** Creates a step of a task that reads a file; every fourth file was read before. */
const step = (task: string, at: number): unknown[] => [
  {
    role: 'assistant',
    content: [
      { type: 'text', text: `Step ${at}.` },
      {
        type: 'tool_use',
        id: `toolu_${task}_${at}`,
        name: 'Read',
        input: { file_path: `/src/file${at % 4 === 3 ? at - 2 : at}.ts` },
      },
    ],
  },
  {
    role: 'user',
    content: [
      {
        type: 'tool_result',
        tool_use_id: `toolu_${task}_${at}`,
        content: makeFileText(6_000, at % 4 === 3 ? at - 2 : at),
      },
    ],
  },
];

/** A conversation that grows by one step per body. */
class GrowingConversation {
  private readonly messages: unknown[];
  private steps = 0;

  constructor(
    private readonly task: string,
    tokens: number,
  ) {
    this.messages = [{ role: 'user', content: `Put the project in order: ${task}` }];
    for (let chars = 0; chars * TOKENS_PER_CHAR < tokens; chars += 6_200) this.grow();
  }

  body(): Buffer {
    this.grow();
    const tools = [{ name: 'Read', input_schema: { type: 'object' } }];
    const head = { model: 'claude-sonnet-4-5', max_tokens: 8_000, stream: true, system: 'You are an agent.', tools };
    return Buffer.from(JSON.stringify({ ...head, messages: this.messages }));
  }

  private grow(): void {
    this.messages.push(...step(this.task, this.steps++));
  }
}

const agent = new http.Agent({ keepAlive: true });

/** Returns the milliseconds until the first byte of the response's body. */
const measureFirstByteMs = (url: string, body: Buffer): Promise<number> =>
  new Promise((resolve, reject) => {
    const startedMs = performance.now();
    const headers = { 'content-type': 'application/json', 'content-length': body.length };
    const request = http.request(`${url}/v1/messages`, { method: 'POST', agent, headers }, (answer) => {
      answer.once('data', () => {
        resolve(performance.now() - startedMs);
      });
      answer.resume();
    });
    request.on('error', reject);
    request.end(body);
  });

function computeQuantiles(values: readonly number[]): Quantiles {
  const sortedValues = values.toSorted((a, b) => a - b);
  // The rank is the nearest one: of a hundred values, the 99th percentile is the last but one.
  const getQuantile = (share: number): number => sortedValues[Math.ceil(sortedValues.length * share) - 1] ?? NaN;
  return { median: getQuantile(0.5), p99: getQuantile(0.99) };
}

/** Reads CPU time and memory of a process; works only on Linux. */
function readProcessUsage(pid: number | undefined): { readonly cpuMs: number; readonly memory: number } {
  try {
    const fields =
      readFileSync(`/proc/${pid ?? 0}/stat`, 'utf8')
        .split(') ')[1]
        ?.split(' ') ?? [];
    const pages = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid ?? 0}/status`, 'utf8'))?.[1];
    // A clock tick is a hundredth of a second.
    return { cpuMs: (Number(fields[11]) + Number(fields[12])) * 10, memory: Number(pages) * 1024 };
  } catch {
    return { cpuMs: NaN, memory: NaN };
  }
}

/** Measures both cases: nothing is due, and the conversation was condensed before. */
export async function benchGateway(): Promise<GatewayPoint[]> {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-bench-'));
  let lastVendorBody = Buffer.alloc(0);
  const vendor = http.createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      lastVendorBody = Buffer.concat(chunks);
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end('event: ping\ndata: {"type":"ping"}\n\n');
    });
  });
  const children: ChildProcess[] = [];
  try {
    execFileSync(process.execPath, ['esbuild.mjs', '--production', '--outdir', join(folder, 'dist')], {
      stdio: 'inherit',
    });
    await new Promise<void>((resolve) => vendor.listen(0, '127.0.0.1', resolve));
    const address = `http://127.0.0.1:${(vendor.address() as AddressInfo).port}`;
    const proxy = await startServing(['-e', PROXY_SOURCE, address]);
    children.push(proxy.child);
    const startGateway = async (window: number) => {
      const options = [
        '--upstream',
        `x=${address}`,
        '--store',
        join(folder, `store-${window}`),
        '--window',
        String(window),
      ];
      const gatewayProcess = await startServing([join(folder, 'dist', 'cli.cjs'), 'gateway', ...options]);
      children.push(gatewayProcess.child);
      return gatewayProcess;
    };
    const points: GatewayPoint[] = [];
    for (const tokens of SIZES) {
      for (const kind of ['nothing due', 'condensed before']) {
        // The first request condenses, because it is above 75 % of the window.
        const gateway = await startGateway(
          kind === 'condensed before' ? Math.floor(tokens * CONDENSING_WINDOW_FACTOR) : 100_000_000,
        );
        const rounds: Round[] = [];
        for (let conversationIndex = 0; conversationIndex < CONVERSATIONS; conversationIndex++) {
          const conversation = new GrowingConversation(`${kind} ${tokens}, number ${conversationIndex}`, tokens);
          rounds.push(...(await runRounds([conversation], REQUESTS, proxy.url, gateway, () => lastVendorBody)));
        }
        points.push(...summarizeRounds(tokens, kind, rounds, readProcessUsage(gateway.child.pid).memory));
        gateway.child.kill('SIGKILL');
      }
    }
    const gateway = await startGateway(99_000_000);
    const conversations = Array.from(
      { length: PARALLEL_CONVERSATIONS },
      (_, at) => new GrowingConversation(`one of many, number ${at}`, 50_000),
    );
    const rounds = await runRounds(conversations, REQUESTS_PER_PARALLEL_CONVERSATION, proxy.url, gateway);
    points.push(
      ...summarizeRounds(
        50_000,
        `${PARALLEL_CONVERSATIONS} at once`,
        rounds,
        readProcessUsage(gateway.child.pid).memory,
      ),
    );
    return points;
  } finally {
    for (const child of children) child.kill('SIGKILL');
    vendor.close();
    vendor.closeAllConnections();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The times of one round, in which the same body goes through proxy and gateway. */
interface Round {
  readonly proxy: readonly number[];
  readonly gateway: readonly number[];
  readonly cpuMs: number;
  /**
   * True if the gateway condensed, because the vendor's request does not extend the previous one.
   */
  readonly condenses: boolean;
}

/**
 * Measures rounds with these conversations.
 * @param sent returns the last body to the vendor; given only if a single conversation is measured,
 *   so that rounds that condense are recognized.
 */
async function runRounds(
  conversations: readonly GrowingConversation[],
  requests: number,
  proxy: string,
  { child, url }: { child: ChildProcess; url: string },
  sent?: () => Buffer,
): Promise<Round[]> {
  const rounds: Round[] = [];
  let bodyBefore: Buffer | undefined;
  let cpuMsBefore = readProcessUsage(child.pid).cpuMs;
  for (let round = 0; round < WARM_UP + requests; round++) {
    const bodies = conversations.map((conversation) => conversation.body());
    const proxyTimes = await Promise.all(bodies.map((body) => measureFirstByteMs(proxy, body)));
    const gatewayTimes = await Promise.all(bodies.map((body) => measureFirstByteMs(url, body)));
    const cpuMs = readProcessUsage(child.pid).cpuMs - cpuMsBefore;
    cpuMsBefore += cpuMs;
    const vendorBody = sent?.();
    const condenses = vendorBody !== undefined && bodyBefore !== undefined && !isContinuation(bodyBefore, vendorBody);
    bodyBefore = vendorBody;
    if (round >= WARM_UP) rounds.push({ proxy: proxyTimes, gateway: gatewayTimes, cpuMs, condenses });
  }
  return rounds;
}

/**
 * Returns a point for rounds after a condensation, and another for rounds that condense, if there
 * are any.
 */
function summarizeRounds(tokens: number, kind: string, rounds: readonly Round[], memory: number): GatewayPoint[] {
  const summarize = (name: string, some: readonly Round[]): GatewayPoint[] => {
    const times = { proxy: some.flatMap((one) => one.proxy), gateway: some.flatMap((one) => one.gateway) };
    const requests = times.gateway.length;
    if (requests === 0) return [];
    return [
      {
        tokens,
        kind: name,
        requests,
        proxy: computeQuantiles(times.proxy),
        gateway: computeQuantiles(times.gateway),
        added: computeQuantiles(times.gateway.map((time, at) => time - (times.proxy[at] ?? NaN))),
        cpuMs: some.reduce((sum, one) => sum + one.cpuMs, 0) / requests,
        memory,
      },
    ];
  };
  const quietRounds = rounds.filter(({ condenses }) => !condenses);
  const condensingRounds = rounds.filter(({ condenses }) => condenses);
  return [...summarize(kind, quietRounds), ...summarize('condenses', condensingRounds)];
}

/** Two brackets follow the last element of the list. */
const CLOSING_LENGTH = ']}'.length;
const isContinuation = (before: Buffer, now: Buffer): boolean => {
  const head = before.subarray(0, before.length - CLOSING_LENGTH);
  return now.length >= head.length && now.subarray(0, head.length).equals(head);
};

const formatQuantiles = ({ median, p99 }: Quantiles): string => `${millis(median)} / ${millis(p99)}`;

export const gatewayTable = (points: readonly GatewayPoint[]): string =>
  table(
    ['what', 'tokens', 'requests', 'proxy', 'gateway', 'added', 'processor', 'memory'],
    points.map(({ kind, tokens, requests, proxy, gateway, added, cpuMs, memory }) => [
      kind,
      tokens,
      requests,
      formatQuantiles(proxy),
      formatQuantiles(gateway),
      formatQuantiles(added),
      millis(cpuMs),
      megabytes(memory),
    ]),
  );
