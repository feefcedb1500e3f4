/**
 * Tests real agents, as part of the long tests. Each agent works on a task of 120 tool calls with a
 * window of 100,000 tokens, once alone and once with `context-condenser run`. The vendor is strict,
 * counts o200k tokens times 1.5, and fails now and then. Afterwards the agent resumes its session
 * without us.
 * Usage: `node test/agents/run.mjs [NAME[:WIRE] …] [--calls N] [--parts
 * task,packed,identical,faults,stopped,summaries,reading,account] [--faults
 * 429,529,cut,error,no-end] [--json FILE] [--window N] [--terse] [--record FOLDER]
 * [--lossless-alone]`. With `--terse`, the model writes no text besides its calls. `--record`
 * writes all requests to the vendor to one file per run. With `--lossless-alone`, each task is also
 * run with `--when-not-enough nothing`.
 */
import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import * as http from 'node:http';
import type { AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import * as zlib from 'node:zlib';
import { loadPriceTable } from '../../src/api/prices';
import { computeCallCost } from '../../src/core/cost/callCost';
import { MessageCounter } from '../../src/core/tokens/messageCounter';
import { createLimitMessages } from '../../src/cli/gateway/limitMessages';
import { filterHeaders } from '../../src/gateway/headers';
import { RESPONSE_AT_SPENDING_LIMIT } from '../../src/gateway/server';
import { findKnownRequest } from '../../src/gateway/wires';
import type { WireName } from '../../src/gateway/wires/wire';
import { loadTokenCounter } from '../../src/storage/assets';
import { bigTask } from '../generators/bigTask';
import { neverAnswer, makeErrorResponse, type Behaviour } from '../servers/behaviour';
import { countBreaks } from './breaks';
import { listItems, classifyRequest, OWN_SUMMARY, startUpstream, listTools } from './upstream';
import type { SeenRequest, Upstream, UpstreamOptions } from './upstream';
import {
  listChangedFiles,
  hashFiles,
  install,
  INSTALLED,
  listLeakingFiles,
  makeAgentFolders,
  runAgent,
  setUp,
  normalizeName,
  runCommand,
  type AgentFolders,
  type RunResult,
} from './agentRun';
import { KEY, REAL_AGENTS, type InjectedFault, type RealAgent } from './agents';
import { compareAccount, listDifferingFields, PRICED_MODELS, formatTotals } from './account';
import { findAccountExplanation } from './differences';
import { compareReading, type ReadingOptions, type ReadingResult } from './reading';
import { formatDifference } from './texts';
import { MARKER_START } from '../../src/core/messages/markers';

/** Number of vendor tokens per o200k token. */
const TOKEN_FACTOR = 1.5;
/** Faults that occur during the task, except those that would end it for the agent. */
const FAULTS: readonly InjectedFault[] = ['429', '529', 'cut'];
/** Faults that are tested one at a time. */
const SEPARATE_FAULTS: readonly InjectedFault[] = [...FAULTS, 'error', 'no-end'];
const TASK = 'Go through the whole project and put it in order.';
const RESUME_PROMPT = 'Please look at the first file once more.';
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    calls: { type: 'string', default: '120' },
    parts: { type: 'string', default: 'task,identical,faults' },
    faults: { type: 'string' },
    json: { type: 'string' },
    record: { type: 'string' },
    /** Additional options of `run`, such as `--options='--target 40'`. */
    options: { type: 'string', default: '' },
    window: { type: 'string', default: '100000' },
    terse: { type: 'boolean', default: false },
    'lossless-alone': { type: 'boolean', default: false },
    wires: { type: 'boolean', default: false },
    keep: { type: 'boolean', default: false },
    limit: { type: 'string', default: '900' },
    dist: { type: 'string', default: 'dist' },
  },
});
const calls = Number(values.calls);
const WINDOW = Number(values.window);
const limitSeconds = Number(values.limit);
const dist = resolve(values.dist);
const selectedParts = new Set(values.parts.split(','));

const counter = new MessageCounter(await loadTokenCounter(dist));
const countTokens = (text: string): number => Math.ceil(counter.countText(text) * TOKEN_FACTOR);
const prices = await loadPriceTable();

const results = { passed: 0, failed: 0, skipped: 0 };
const report: Record<string, unknown>[] = [];
const say = (line: string): void => {
  console.log(line);
};
/** Reports a condition that does not hold, and counts the checks. */
const check = (what: string, holds: boolean, detail = ''): void => {
  results[holds ? 'passed' : 'failed']++;
  if (!holds) say(`  FAILED: ${what}${detail === '' ? '' : ` (${detail})`}`);
};

/** Creates a folder for the work, and removes it afterwards. */
async function runInFolder<T>(work: (root: string) => Promise<T>): Promise<T> {
  // The folder is not in the system's temporary folder, because Gemini CLI ignores settings in
  // places that others can write to.
  const bedsFolder = join(INSTALLED, 'beds');
  mkdirSync(bedsFolder, { recursive: true });
  const root = mkdtempSync(join(bedsFolder, 'agent-'));
  try {
    return await work(root);
  } finally {
    if (values.keep) say(`  kept: ${root}`);
    else rmSync(root, { recursive: true, force: true, maxRetries: 5 });
  }
}

interface TaskRun {
  readonly bed: AgentFolders;
  readonly ended: RunResult;
  readonly upstream: Upstream;
  /** Hashes of the files in the home folder, before and after the agent ran. */
  readonly before: ReadonlyMap<string, string>;
  readonly after: ReadonlyMap<string, string>;
}

/** Runs a task in its own home folder. */
async function runTask(
  root: string,
  agent: RealAgent,
  wire: WireName,
  options: Partial<UpstreamOptions> & {
    readonly runOptions?: readonly string[];
    readonly lead?: (address: string) => string;
    /** The window in the agent's configuration. Default: the vendor's. */
    readonly configuredWindow?: number;
  },
): Promise<TaskRun> {
  const work = join(root, 'work');
  const callCount = options.calls ?? calls;
  const agentFolders = makeAgentFolders(root, bigTask(work, 7, callCount).files);
  execFileSync('git', ['init', '-q', '-b', 'main'], { cwd: agentFolders.work });
  const upstream = await startUpstream({
    wire,
    work,
    calls: callCount,
    window: WINDOW,
    countTokens,
    faults: [],
    isTerse: values.terse,
    ...options,
  });
  const address = options.lead?.(upstream.server.url) ?? upstream.server.url;
  const env = setUp(agentFolders, agent, {
    address,
    wire,
    window: options.configuredWindow ?? options.window ?? WINDOW,
  });
  const { runOptions } = options;
  const hashesBefore = hashFiles(agentFolders.home, root);
  const ended = await runAgent(agentFolders, env, {
    dist,
    agent,
    wire,
    task: TASK,
    limitSeconds,
    ...(runOptions && { runOptions }),
  });
  return { bed: agentFolders, ended, upstream, before: hashesBefore, after: hashFiles(agentFolders.home, root) };
}

/** With `--record`, writes all requests that the vendor received, one per line. */
function keepRequests(name: string, { upstream }: Pick<TaskRun, 'upstream'>): void {
  if (values.record === undefined) return;
  mkdirSync(values.record, { recursive: true });
  const lines = upstream.server.requests.map((one) => JSON.stringify({ kind: classifyRequest(one.body), ...one }));
  writeFileSync(join(values.record, `${name}.jsonl`), lines.join('\n'));
}

function computeFigures({ upstream, ended }: TaskRun, { replacedResults }: RealAgent, wire: WireName) {
  const listedModel = prices.lookup(PRICED_MODELS[wire]);
  const usages = upstream.server.requests.flatMap(({ path, usage }) => {
    const known = findKnownRequest('POST', path.replace(/\?.*/, ''));
    const body = wire === 'gemini' ? { usageMetadata: usage } : { usage };
    return (usage && known?.wire.usage(body, undefined)) ?? [];
  });
  const { seen } = upstream;
  const breaks = countBreaks(seen, replacedResults);
  const refusedRequests = upstream.server.requests.filter(
    ({ status = 0 }) => status === 400 || status === 413 || status === 422,
  );
  return {
    code: ended.code,
    seconds: Math.round(ended.seconds),
    requests: upstream.server.requests.length,
    calls: upstream.made(),
    refused: refusedRequests.filter(({ body }) => classifyRequest(body) !== 'small').length,
    /**
     * Rejected checks and titles, which the agent sends in a form that its vendor does not accept.
     */
    refusedSmall: refusedRequests.filter(({ body }) => classifyRequest(body) === 'small').length,
    refusals: refusedRequests.map(({ refusal, path }) => `${path.split('?')[0] ?? ''}: ${refusal ?? ''}`).slice(0, 3),
    breaks: breaks.all,
    ownBreaks: breaks.own,
    summaries: seen.filter(({ kind }) => kind === 'summary').length,
    largest: Math.max(
      0,
      ...usages.map(
        (usage) =>
          usage.inputTokens + (usage.accounting === 'anthropic' ? usage.cacheReadTokens + usage.cacheWriteTokens : 0),
      ),
    ),
    cost: usages.reduce((sum, usage) => sum + (computeCallCost(usage, listedModel?.prices) ?? NaN), 0),
  };
}

/** Reads the last lines of `run`, and its log. */
function readReport({ ended, bed }: TaskRun) {
  const line = /Context Condenser: \d.*/.exec(ended.output)?.[0] ?? '';
  const logFile = join(bed.store, 'log');
  const log = existsSync(logFile)
    ? readFileSync(logFile, 'utf8')
        .split('\n')
        .map((each) => each.slice(25))
    : [];
  return {
    line,
    condensations: Number(/\((\d+) condensation/.exec(line)?.[1] ?? 0),
    /** Rejections that the gateway repaired, so that the agent never saw them. */
    repaired: log.filter((each) => /^problem \S+ The vendor refused a/.test(each)).length,
    problems: log.filter(
      (each) =>
        !/^(passed|condensed|not condensed)/.test(each) &&
        each !== '' &&
        !/aborted|connection to the vendor was lost/.test(each),
    ),
  };
}

const makeRunOptions = (root: string): string[] => [
  ...['--window', String(WINDOW), '--log', join(root, 'store', 'log')],
  ...values.options.split(' ').filter((word) => word !== ''),
];

/**
 * Runs the same task without a provider that follows Lossless, to compare costs and requests with
 * the default.
 */
async function checkLosslessAlone(agent: RealAgent, wire: WireName, faults: readonly InjectedFault[]): Promise<void> {
  await runInFolder(async (root) => {
    const run = await runTask(root, agent, wire, {
      faults,
      runOptions: [...makeRunOptions(root), '--when-not-enough', 'nothing'],
    });
    await run.upstream.close();
    keepRequests(`${agent.name}-${wire}-lossless`, run);
    const figures = computeFigures(run, agent, wire);
    const gatewayReport = readReport(run);
    report.push({
      agent: agent.name,
      wire,
      losslessAlone: figures,
      reported: gatewayReport,
      recalled: run.upstream.recalled(),
    });
    say(`  nothing follows Lossless: ${JSON.stringify(figures)}\n  ${gatewayReport.line}`);
    check('it ends well where nothing follows Lossless', run.ended.code === 0 && figures.calls === calls);
  });
}

async function checkTask(agent: RealAgent, wire: WireName): Promise<void> {
  const faults = FAULTS.filter((fault) => !agent.fatalFaults.includes(fault));
  // These are the files that the agent leaves in its home folder without us.
  const plain = await runInFolder(async (root) => {
    const run = await runTask(root, agent, wire, { window: 10 * WINDOW });
    await run.upstream.close();
    if (run.ended.code !== 0 || run.upstream.made() < calls)
      say(`  with room for all: exit ${run.ended.code}, ${run.upstream.made()} calls; ${run.ended.output.slice(-300)}`);
    keepRequests(`${agent.name}-${wire}-room`, run);
    const { refusedSmall, refusals, requests } = computeFigures(run, agent, wire);
    report.push({ agent: agent.name, wire, room: { code: run.ended.code, requests, refusedSmall, refusals } });
    return {
      refusedSmall,
      after: run.after,
      changed: listChangedFiles(run.before, run.after),
      resumed: await resumeSession(run, agent, wire),
    };
  });
  const runAlone = await runInFolder(async (root) => {
    const run = await runTask(root, agent, wire, { faults });
    await run.upstream.close();
    keepRequests(`${agent.name}-${wire}-alone`, run);
    if (run.ended.code !== 0 || run.upstream.made() < calls) say(run.ended.output.slice(-800));
    return {
      ...computeFigures(run, agent, wire),
      shapes: new Set([...plain.after.keys(), ...run.after.keys()].map(normalizeName)),
      changed: new Set([...plain.changed, ...listChangedFiles(run.before, run.after)]),
      // These files are the same after each run without us, so they must be the same with us.
      settled: new Map([...run.after].filter(([name, hash]) => plain.after.get(name) === hash)),
    };
  });
  await runInFolder(async (root) => {
    const run = await runTask(root, agent, wire, { faults, runOptions: makeRunOptions(root) });
    await run.upstream.close();
    keepRequests(`${agent.name}-${wire}-run`, run);
    const { bed, ended, upstream } = run;
    const here = computeFigures(run, agent, wire);
    const reported = readReport(run);
    const recalled = upstream.recalled();
    const { after } = run;
    const resumedRun = await resumeSession(run, agent, wire);
    const { shapes, changed, settled, ...without } = runAlone;
    report.push({ agent: agent.name, wire, alone: without, with: here, reported, recalled, resumed: resumedRun });
    say(
      `  alone: ${JSON.stringify(without)}\n  with:  ${JSON.stringify(here)}\n  ${reported.line}\n  recalled ${JSON.stringify(recalled)}, resumed ${JSON.stringify(resumedRun)}, ${JSON.stringify(reported.problems.slice(0, 4))}`,
    );
    if (ended.code !== 0) say(ended.output.slice(-1_500));
    check('it ends well', ended.code === 0 && here.calls === calls, `${ended.code}, ${here.calls} calls`);
    check(
      'the agent sees no refusal but those of its checks that it sees alone, too',
      here.refused <= reported.repaired && here.refused + here.refusedSmall - reported.repaired <= plain.refusedSmall,
      `${here.refused} and ${here.refusedSmall}, ${reported.repaired} mended, alone ${plain.refusedSmall}: ${here.refusals.join('; ')}`,
    );
    check(
      'the prefix breaks with a condensation or where the agent itself rewrites',
      here.breaks <= reported.condensations + here.ownBreaks,
      `${here.breaks} breaks, ${here.ownBreaks} of the agent's own, ${reported.condensations} condensations`,
    );
    check(
      'what is asked for is recalled',
      recalled.asked > 0 && recalled.asked === recalled.answered,
      `${JSON.stringify(recalled)}; offered: ${listTools(upstream.seen.at(-1)?.record.body ?? {})
        .map(({ name }) => name)
        .join(', ')}`,
    );
    const config = Object.keys(agent.files({ address: 'x', wire, window: 1, home: bed.home }));
    // Files that the agent installs may be incomplete when it exits.
    const isInstalled = (name: string): boolean => agent.installedFiles?.test(name) === true;
    const unexpectedFiles = [...after.keys()].filter(
      (name) =>
        !shapes.has(normalizeName(name)) &&
        !config.includes(name) &&
        agent.serverLogs?.test(name) !== true &&
        agent.keptResults?.test(name) !== true &&
        !isInstalled(name),
    );
    check(
      'its home has no file that the agent alone would not have',
      unexpectedFiles.length === 0,
      unexpectedFiles.slice(0, 5).join(', '),
    );
    const unexpectedChanges = [...listChangedFiles(run.before, after)].filter((name) => !changed.has(name));
    check(
      'no file of it was changed that the agent alone leaves as it is',
      unexpectedChanges.length === 0,
      unexpectedChanges.join(', '),
    );
    const differingFiles = [...settled].filter(([name, hash]) => after.has(name) && after.get(name) !== hash);
    const unexpectedDifferences = differingFiles
      .map(([name]) => name)
      .filter((name) => !config.includes(name) && !isInstalled(name));
    check(
      'what each run alone leaves the same is the same',
      unexpectedDifferences.length === 0,
      unexpectedDifferences.slice(0, 5).join(', '),
    );
    const installedFiles = [...after].filter(([name]) => isInstalled(name) && plain.after.has(name));
    const identicalCount = installedFiles.filter(([name, hash]) => plain.after.get(name) === hash).length;
    say(
      `  home: ${after.size} files, ${run.before.size} before, ${settled.size} the same in each run${installedFiles.length > 0 ? `; of ${installedFiles.length} that it installed alone and here, ${identicalCount} the same` : ''}`,
    );
    // A file that is the same without us is not ours: bytes in unpacked binaries can look like our
    // addresses.
    const leaks = listLeakingFiles(bed.home).filter((name) => settled.get(name) !== after.get(name));
    check('no file of it knows the gateway', leaks.length === 0, leaks.join(', '));
    check(
      'the session goes on without us',
      // If the agent has summarized the session, it continues from the summary.
      (resumedRun.code === 0 && (resumedRun.items > 10 || here.summaries > 0)) || plain.resumed.code !== 0,
      JSON.stringify(resumedRun),
    );
  });
  if (values['lossless-alone']) await checkLosslessAlone(agent, wire, faults);
}

/** Runs a second task in the same session, without us and with an unlimited window. */
async function resumeSession({ bed }: TaskRun, agent: RealAgent, wire: WireName) {
  const window = 100 * WINDOW;
  const takesUnpaired = agent.doublesResults === true;
  const upstreamOptions = { wire, work: bed.work, calls: 1, window, countTokens, faults: [], takesUnpaired };
  const upstream = await startUpstream(upstreamOptions);
  const env = setUp(bed, agent, { address: upstream.server.url, wire, window });
  const prompt = agent.resumePrompt;
  const terminalOption = prompt !== undefined && {
    inTerminal: { prompt, types: RESUME_PROMPT, until: upstream.firstRequest },
  };
  const resumeTask = { dist, agent, wire, task: RESUME_PROMPT, isAgain: true, limitSeconds: 120 };
  const runResult = await runAgent(bed, env, { ...resumeTask, ...terminalOption });
  if (agent.endArguments) await runCommand([join(bed.bin, agent.command), ...agent.endArguments], bed.work, env, 60);
  await upstream.close();
  keepRequests(`${agent.name}-${wire}-resumed-${Date.now()}`, { upstream });
  if (runResult.code !== 0) say(runResult.output.slice(-1_500));
  const firstRequest = upstream.seen.find(({ kind }) => kind === 'main');
  const items = firstRequest ? listItems(firstRequest.record.body) : [];
  return { code: runResult.code, items: items.length, markers: JSON.stringify(items).split(MARKER_START).length - 1 };
}

/** A body with its `Content-Encoding`, which is absent if the body is uncompressed. */
interface EncodedBody {
  readonly body: Buffer;
  readonly encoding?: string;
}

const CODEC_BY_ENCODING: Readonly<
  Record<string, { readonly pack: (body: Buffer) => Buffer; unpack: (body: Buffer) => Buffer }>
> = {
  gzip: { pack: zlib.gzipSync, unpack: zlib.gunzipSync },
  deflate: { pack: zlib.deflateSync, unpack: zlib.inflateSync },
  br: {
    // With the default quality, a body of this size would take seconds.
    pack: (body) => zlib.brotliCompressSync(body, { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 4 } }),
    unpack: zlib.brotliDecompressSync,
  },
  zstd: { pack: zlib.zstdCompressSync, unpack: zlib.zstdDecompressSync },
};

/** Compresses each body with the next encoding. */
function createCompressor(): (sent: EncodedBody) => EncodedBody {
  const names = Object.keys(CODEC_BY_ENCODING);
  let count = 0;
  return ({ body }) => {
    const encoding = names[count++ % names.length] ?? '';
    return { body: CODEC_BY_ENCODING[encoding]?.pack(body) ?? body, encoding };
  };
}

const decompress = ({ body, encoding = '' }: EncodedBody): EncodedBody => ({
  body: CODEC_BY_ENCODING[encoding]?.unpack(body) ?? body,
});

/**
 * Relays the requests and records them, so that those before and after the gateway can be compared.
 * `change` alters each body.
 */
async function startRecordingProxy(
  to: () => string,
  change: (sent: EncodedBody) => EncodedBody = (sent) => sent,
): Promise<{ url: string; bodies: string[]; packings: string[]; close: () => void }> {
  const bodies: string[] = [];
  const encodings: string[] = [];
  const server = http.createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const encoding = request.headers['content-encoding'];
      const receivedBody = { body: Buffer.concat(chunks), ...(encoding !== undefined && { encoding }) };
      const forwardedBody = receivedBody.body.length === 0 ? receivedBody : change(receivedBody);
      if (request.method === 'POST') {
        bodies.push(createHash('sha256').update(forwardedBody.body).digest('hex'));
        encodings.push((forwardedBody.encoding ?? receivedBody.encoding) || 'none');
      }
      const address = new URL(`${to()}${request.url ?? ''}`);
      const headers = filterHeaders(request, ['host', 'content-length', 'content-encoding']);
      if (forwardedBody.encoding !== undefined) headers.push('Content-Encoding', forwardedBody.encoding);
      const forwardedRequest = http.request(
        address,
        {
          method: request.method ?? 'GET',
          headers: ['Host', address.host, ...headers, 'Content-Length', String(forwardedBody.body.length)],
        },
        (answer) => {
          response.writeHead(answer.statusCode ?? 502, answer.headers);
          answer.on('error', () => response.destroy());
          answer.pipe(response);
        },
      );
      forwardedRequest.on('error', () => response.destroy());
      forwardedRequest.end(forwardedBody.body);
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    bodies,
    packings: encodings,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** Runs a task through a standalone gateway, with a tap before and after it. */
async function runBetweenProxies(
  root: string,
  agent: RealAgent,
  wire: WireName,
  gatewayOptions: readonly string[],
  task: Partial<UpstreamOptions> & { readonly told?: number },
  change?: { readonly before: (sent: EncodedBody) => EncodedBody; readonly behind: (sent: EncodedBody) => EncodedBody },
) {
  let vendor = '';
  const proxyBehind = await startRecordingProxy(() => vendor, change?.behind);
  const store = join(root, 'store');
  const gateway = spawn(
    process.execPath,
    [join(dist, 'cli.cjs'), 'gateway', '--store', store, '--upstream', `x=${proxyBehind.url}`, ...gatewayOptions],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  );
  let stderrText = '';
  gateway.stderr.on('data', (chunk) => (stderrText += String(chunk)));
  let stdoutText = '';
  for await (const chunk of gateway.stdout) {
    stdoutText += String(chunk);
    if (stdoutText.includes('(x) ')) break;
  }
  const address = /\(x\) (\S+)/.exec(stdoutText)?.[1] ?? '';
  const proxyBefore = await startRecordingProxy(() => address, change?.before);
  const run = await runTask(root, agent, wire, {
    ...task,
    lead: (url) => {
      vendor = url;
      return proxyBefore.url;
    },
  });
  await run.upstream.close();
  gateway.kill('SIGINT');
  await once(gateway, 'exit');
  for (const proxy of [proxyBefore, proxyBehind]) proxy.close();
  return { run, before: proxyBefore, behind: proxyBehind, closing: stderrText };
}

/**
 * Checks that requests pass unchanged if the gateway is off, or if nothing is due and new results
 * are kept.
 */
async function checkIdentical(agent: RealAgent, wire: WireName): Promise<void> {
  for (const options of [['--off'], ['--window', '100000000', '--on-arrival', 'off']]) {
    await runInFolder(async (root) => {
      const task = { calls: 20, window: 10 * WINDOW };
      const { run, before, behind } = await runBetweenProxies(root, agent, wire, options, task);
      const identicalCount = before.bodies.filter((hash, at) => hash === behind.bodies[at]).length;
      say(
        `  ${options[0] ?? ''}: ${before.bodies.length} bodies, ${identicalCount} identical, exit code ${run.ended.code}`,
      );
      report.push({ agent: agent.name, wire, options, bodies: before.bodies.length, same: identicalCount });
      check(
        'every body is the same',
        identicalCount === before.bodies.length && identicalCount > 0 && identicalCount === behind.bodies.length,
      );
    });
  }
}

/** Checks that compressed requests are condensed, and forwarded in the same encoding. */
async function checkCompressed(agent: RealAgent, wire: WireName): Promise<void> {
  await runInFolder(async (root) => {
    const options = ['--window', String(WINDOW)];
    const changes = { before: createCompressor(), behind: decompress };
    // With a smaller reported window, Continue would compact, and then send a request that starts
    // with an answer (1.5.47).
    const task = { faults: [], told: 10 * WINDOW };
    const { run, before, behind, closing } = await runBetweenProxies(root, agent, wire, options, task, changes);
    const figures = computeFigures(run, agent, wire);
    const line = /Context Condenser: \d.*/.exec(closing)?.[0] ?? '';
    // The gateway shortens and resends a request that the vendor rejected as too long, so the
    // vendor may receive more requests than the agent sent.
    const compressedCount = behind.packings.filter((packing) => before.packings.includes(packing)).length;
    say(
      `  packed: ${before.packings.length} bodies, ${compressedCount} of ${behind.packings.length} packed behind the gateway`,
    );
    say(`  ${JSON.stringify(figures)}\n  ${line}`);
    report.push({
      agent: agent.name,
      wire,
      packed: figures,
      bodies: before.packings.length,
      kept: compressedCount,
      line,
    });
    check('it ends well with packed requests', run.ended.code === 0 && figures.calls === calls, `${run.ended.code}`);
    check(
      'every body is still packed behind the gateway',
      compressedCount === behind.packings.length && compressedCount > 0,
    );
    check('packed requests are condensed', /\((?!0 )\d+ condensations?\)/.test(line), line);
  });
}

/** Runs the task with each fault, with and without us, to check that we don't make it worse. */
async function checkFaults(agent: RealAgent, wire: WireName): Promise<void> {
  for (const fault of SEPARATE_FAULTS.filter((each) => values.faults?.split(',').includes(each) !== false)) {
    const outcomes: { code: number | string; calls: number }[] = [];
    for (const runOptions of [undefined, ['--window', '40000']]) {
      await runInFolder(async (root) => {
        const run = await runTask(root, agent, wire, {
          calls: 20,
          faults: [fault],
          ...(runOptions && { runOptions }),
        });
        await run.upstream.close();
        outcomes.push({ code: run.ended.code, calls: run.upstream.made() });
      });
    }
    const [alone, by] = outcomes;
    say(
      `  ${fault}: alone exit ${alone?.code ?? '?'}, ${alone?.calls ?? 0} calls; with us exit ${by?.code ?? '?'}, ${by?.calls ?? 0} calls`,
    );
    report.push({ agent: agent.name, wire, fault, alone, with: by });
    check(
      `${fault} is no worse than alone`,
      (alone?.code !== 0 || by?.code === 0) && (by?.calls ?? 0) >= (alone?.calls ?? 0),
    );
  }
}

/**
 * Checks that the agent shows our message when a spending limit is reached, and does not retry
 * endlessly.
 */
async function checkStopped(agent: RealAgent, wire: WireName): Promise<void> {
  await runInFolder(async (root) => {
    const message = `Context Condenser: ${createLimitMessages(true).stopped.conversation('$2.01', '$2.00')}`;
    const paths: string[] = [];
    const server = http.createServer((request, response) => {
      const path = (request.url ?? '').replace(/\?.*/, '');
      if (findKnownRequest(request.method ?? '', path)?.purpose !== 'count') paths.push(path);
      request.resume().on('end', () => {
        response.writeHead(RESPONSE_AT_SPENDING_LIMIT.status, {
          'content-type': 'application/json',
          connection: 'close',
        });
        response.end(JSON.stringify({ type: 'error', error: { type: RESPONSE_AT_SPENDING_LIMIT.type, message } }));
      });
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const agentFolders = makeAgentFolders(root, new Map([['notes.md', '# notes\n']]));
    const env = setUp(agentFolders, agent, { address, wire, window: WINDOW });
    const runResult = await runAgent(agentFolders, env, { dist, agent, wire, task: TASK, limitSeconds: 120 });
    server.close();
    server.closeAllConnections();
    const requestCount = paths.filter((path) => findKnownRequest('POST', path)).length;
    const isShown = runResult.output.replace(/\s+/g, ' ').includes('used up your budget');
    say(
      `  asked ${requestCount} times, exit ${runResult.code}, ${runResult.seconds.toFixed(0)} s, words shown: ${isShown}`,
    );
    report.push({ agent: agent.name, wire, stopped: { asked: requestCount, code: runResult.code, isShown } });
    if (!isShown) say(runResult.output.slice(-1_500));
    check('what is stopped is not sent again and again', requestCount <= MAX_ASKED, `${requestCount} requests`);
    check('it ends by itself and shows why', isShown && typeof runResult.code === 'number');
  });
}

/**
 * Test cases: the agent's own model summarizes in the background, never answers, rejects the
 * request, or must not be asked.
 */
const SUMMARY_CASES: readonly {
  readonly name: string;
  readonly options: readonly string[];
  readonly ownSummary?: Behaviour;
  /** Whether the vendor received the right number of summary requests. */
  readonly asked: (count: number) => boolean;
  readonly says: RegExp;
}[] = [
  {
    name: 'background',
    options: ['--max-cost-per-condensation', 'none'],
    asked: (count) => count > 0,
    says: /The agent’s model was asked \d+ times? for a summary/,
  },
  {
    name: 'canceled',
    options: ['--max-cost-per-condensation', 'none'],
    ownSummary: neverAnswer(),
    asked: (count) => count > 0,
    says: /A summary was (being written when the agent ended, so it was canceled|abandoned)/,
  },
  {
    name: 'failed',
    options: ['--max-cost-per-condensation', 'none'],
    ownSummary: makeErrorResponse(403, 'permission_error', 'Not with this key.'),
    asked: (count) => count > 0,
    says: /A conversation was not summarized: .*The vendor refused to write a summary \(403, permission\)/,
  },
  {
    name: 'over the limit',
    options: [],
    asked: (count) => count === 0,
    says: /A conversation was not summarized: .*The price of \S+ is not known, and at most \$0\.50 may be spent/,
  },
];

async function checkSummaries(agent: RealAgent, wire: WireName): Promise<void> {
  for (const { name, options, ownSummary, asked, says } of SUMMARY_CASES) {
    await runInFolder(async (root) => {
      const window = ['--window', String(WINDOW), '--log', join(root, 'store', 'log')];
      const runOptions = [...window, '--provider', 'native', ...options];
      const taskRun = await runTask(root, agent, wire, { runOptions, ...(ownSummary && { ownSummary }) });
      await taskRun.upstream.close();
      keepRequests(`${agent.name}-${wire}-summaries-${name.replaceAll(' ', '-')}`, taskRun);
      const { seen } = taskRun.upstream;
      const here = computeFigures(taskRun, agent, wire);
      const reported = readReport(taskRun);
      const ownRequestCount = seen.filter(({ kind }) => kind === 'ours').length;
      const containsSummary = ({ kind, record }: SeenRequest): boolean =>
        kind === 'main' && JSON.stringify(record.body).includes(OWN_SUMMARY);
      const requestsWithSummary = seen.filter(containsSummary).length;
      const messageCount = taskRun.ended.output.match(new RegExp(says, 'g'))?.length ?? 0;
      say(
        `  ${name}: exit ${taskRun.ended.code}, ${here.calls} calls, ${here.requests} requests, ${ownRequestCount} of them ours, ${requestsWithSummary} with a summary, ${here.breaks} breaks (${here.ownBreaks} its own), ${here.summaries} summaries of its own, ${here.refused} refused, largest ${here.largest}; told ${messageCount} times\n  ${reported.line}`,
      );
      report.push({
        agent: agent.name,
        wire,
        summaries: name,
        with: here,
        ours: ownRequestCount,
        applied: requestsWithSummary,
        told: messageCount,
        reported,
      });
      if (taskRun.ended.code !== 0 || messageCount !== 1) say(taskRun.ended.output.slice(-1_500));
      const endsWell = taskRun.ended.code === 0 && here.calls === calls;
      check(`${name}: it ends well`, endsWell, `${taskRun.ended.code}, ${here.calls} calls`);
      check(`${name}: the model is asked as often as it may be`, asked(ownRequestCount), `${ownRequestCount}`);
      check(
        `${name}: it stands in the requests once it is there`,
        name === 'background' ? requestsWithSummary > 0 : requestsWithSummary === 0,
      );
      const isMessageCountRight = name === 'canceled' ? messageCount > 0 : messageCount === 1;
      check(`${name}: it is told once`, isMessageCountRight, `${messageCount} times`);
      check(
        `${name}: the prefix breaks with a condensation or where the agent itself rewrites`,
        here.breaks <= reported.condensations + here.ownBreaks,
        `${here.breaks} breaks, ${here.ownBreaks} its own, ${reported.condensations} condensations`,
      );
      const reportedRequests = Number(/Context Condenser: (\d+) request/.exec(reported.line)?.[1] ?? NaN);
      const agentRequests = here.requests - ownRequestCount;
      check(
        `${name}: our requests are none of the agent's`,
        reportedRequests <= agentRequests,
        `${reportedRequests} reported, ${agentRequests} seen`,
      );
      const log = readFileSync(join(taskRun.bed.store, 'log'), 'utf8');
      check(`${name}: the log holds no key`, !log.includes(KEY));
    });
  }
}

/**
 * Maximum requests of a task that is rejected immediately: the task's own, a title's and a check's.
 */
const MAX_ASKED = 4;

/**
 * Returns the agents on the command line. `NAME` selects the first wire, or all wires with
 * `--wires`; `NAME:WIRE` selects one.
 */
function listSelectedAgents(): [RealAgent, WireName][] {
  const selections = positionals.length > 0 ? positionals : REAL_AGENTS.map(({ name }) => name);
  return selections.flatMap((one) => {
    const [name, wire] = one.split(':');
    const agent = REAL_AGENTS.find((each) => each.name === name);
    if (!agent) throw new Error(`"${one}" is none of ${REAL_AGENTS.map((each) => each.name).join(', ')}`);
    const wires =
      wire === undefined
        ? values.wires
          ? agent.wires
          : agent.wires.slice(0, 1)
        : agent.wires.filter((each) => each === wire);
    return wires.map((each): [RealAgent, WireName] => [agent, each]);
  });
}

/** Checks that what we read from the agent's sessions equals what it sent. */
async function checkReading(agent: RealAgent, wire: WireName): Promise<void> {
  const options: ReadingOptions = { dist, window: WINDOW, countTokens, limitSeconds: 180, say, inFolder: runInFolder };
  const sessions = await compareReading(agent, wire, options);
  for (const { session, unexplained, problem, requests } of sessions) {
    for (const difference of unexplained) say(`  ${session}: ${formatDifference(difference)}`);
    check(session, unexplained.length === 0 && problem === undefined, problem ?? `${unexplained.length} differences`);
    if (values.keep) say(`  ${session}: ${requests} requests`);
  }
  const sum = (count: (one: ReadingResult) => number): number => sessions.reduce((all, one) => all + count(one), 0);
  say(
    `  ${sum(({ requests }) => requests)} requests, ${sessions.length} of them compared, ${sum(({ texts }) => texts)} texts; differences: ${sum(({ explained }) => explained.length)} explained, ${sum(({ unexplained }) => unexplained.length)} unexplained`,
  );
  report.push({ agent: agent.name, wire, reading: sessions });
}

/** Checks that the account of the agent's files equals what its vendor was asked for. */
async function checkAccount(agent: RealAgent, wire: WireName): Promise<void> {
  await runInFolder(async (root) => {
    const results = await compareAccount(root, agent, wire, { dist, countTokens, prices, say });
    for (const result of results) {
      const fields = listDifferingFields(result);
      const explanation =
        fields.length === 0 ? undefined : findAccountExplanation(agent.name, wire, result.part, fields);
      const { vendor, broken, unrecorded, unpriced } = result;
      say(
        `  ${result.part}: ${formatTotals(vendor)}${broken.requests > 0 ? `; broken off: ${formatTotals(broken)}` : ''}${unrecorded > 0 ? `; written down nowhere: ${unrecorded}` : ''}${unpriced > 0 ? `; without a price so far: ${unpriced}` : ''}`,
      );
      if (fields.length > 0)
        say(`    account: ${formatTotals(result.account)}${explanation === undefined ? '' : `: ${explanation}`}`);
      check(result.part, (fields.length === 0 || explanation !== undefined) && vendor.requests > 0, fields.join(', '));
    }
    report.push({ agent: agent.name, wire, account: results });
  });
}

const CHECK_BY_PART = {
  task: checkTask,
  packed: checkCompressed,
  identical: checkIdentical,
  faults: checkFaults,
  stopped: checkStopped,
  summaries: checkSummaries,
  reading: checkReading,
  account: checkAccount,
};
for (const [agent, wire] of listSelectedAgents()) {
  const reason = await install(agent);
  if (reason !== undefined) {
    say(`SKIPPED ${agent.name}: ${reason}`);
    results.skipped++;
    continue;
  }
  for (const [name, part] of Object.entries(CHECK_BY_PART)) {
    if (!selectedParts.has(name)) continue;
    say(`${agent.name}:${wire}, ${name}`);
    await part(agent, wire);
  }
}
if (values.json !== undefined) writeFileSync(values.json, JSON.stringify(report, null, 1));
say(`${results.passed} passed, ${results.failed} failed${results.skipped > 0 ? `, ${results.skipped} skipped` : ''}`);
process.exitCode = results.failed > 0 ? 1 : 0;
