/**
 * Compares our account of an agent's files with what its vendor counted. The agent works on a task
 * with rejections and a broken answer, resumes and forks the session, delegates to a subagent, and
 * compacts by hand and by itself.
 */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import type { PriceTable } from '../../src/api/prices';
import { computeCallCost } from '../../src/core/cost/callCost';
import { countPromptTokens, type Usage } from '../../src/core/cost/usage';
import { findKnownRequest } from '../../src/gateway/wires';
import type { WireName } from '../../src/gateway/wires/wire';
import { bigTask } from '../generators/bigTask';
import { reply } from '../servers/behaviour';
import type { RecordedRequest } from '../servers/modelServer';
import { makeAgentFolders, runAgent, setUp, runCommand, type AgentTask, type AgentFolders } from './agentRun';
import type { RealAgent } from './agents';
import type { Compactor, ProtocolPeer } from './compactors';
import { ScriptedSessionModel, waitForStoredAnswer } from './reading';
import type { Step } from './sessions';
import { classifyRequest, startUpstream, startVendor } from './upstream';

/** The model on each wire, with the names that agents and the price table use. */
export const PRICED_MODELS = {
  anthropic: { vendor: 'anthropic', seller: 'anthropic', model: 'claude-sonnet-4-5' },
  chat: { vendor: 'openai', seller: 'openai', model: 'gpt-5.1' },
  responses: { vendor: 'openai', seller: 'openai', model: 'gpt-5.1' },
  gemini: { vendor: 'vertex', seller: 'google', model: 'gemini-2.5-pro' },
} as const;

const WINDOW = 1_000_000;
const SMALL_WINDOW = 60_000;
/** Number of calls in the task that fills the small window. */
const MANY_CALLS = 40;

interface Phase {
  readonly name: string;
  readonly steps?: readonly Step[];
  readonly task?: string;
  readonly isAgain?: boolean;
  readonly isFork?: boolean;
  readonly isSmall?: boolean;
  readonly isCompaction?: boolean;
}

const WORK_STEPS: readonly Step[] = [
  { text: 'I look.', reads: ['src/index.ts'], runs: ['ls -la'] },
  { text: 'I look again.', runs: ['cat package.json README.md'] },
  { text: 'That was it.' },
];
const RESUME_STEPS: readonly Step[] = [{ text: 'Once more.', runs: ['ls'] }, { text: 'Done.' }];

function listPhases(agent: RealAgent): readonly Phase[] {
  const { compaction, compactor, fatalFaults } = agent;
  const survivableFaults = (['429', '529', 'error', 'cut'] as const).filter((fault) => !fatalFaults.includes(fault));
  return [
    { name: 'task', task: 'Go through the whole project and put it in order.', steps: WORK_STEPS },
    { name: 'resume', task: 'Please look at the first file once more.', steps: RESUME_STEPS, isAgain: true },
    ...(agent.fork
      ? [
          { name: 'fork', task: 'Once more, in another way.', steps: RESUME_STEPS, isAgain: true, isFork: true },
          { name: 'fork of the fork', task: 'And in a third way.', steps: RESUME_STEPS, isAgain: true, isFork: true },
        ]
      : []),
    ...(compaction === undefined && compactor === undefined
      ? []
      : [
          { name: 'compaction by hand', task: compaction ?? '', isAgain: true, isCompaction: true },
          { name: 'after the compaction', task: 'Go on, please.', steps: RESUME_STEPS, isAgain: true },
        ]),
    ...(agent.canDelegate === true
      ? [
          {
            name: 'subagent',
            task: 'Let another one look at it.',
            // The second step waits, because the subagent may run concurrently.
            steps: [
              { text: 'I ask another one.', delegates: true },
              { text: 'I wait for it.', runs: ['sleep 3'] },
              { text: 'It has looked.' },
            ],
          },
        ]
      : []),
    ...survivableFaults.map((fault) => ({
      name: `retry after ${fault}`,
      task: `Look at it while the vendor has trouble (${fault}).`,
      steps: [{ text: 'I look.', runs: ['ls'] }, { text: 'Is it there?', runs: ['ls src'], fault }, { text: 'It is.' }],
    })),
    ...(agent.smallWindow ? [{ name: 'compaction by itself', isSmall: true }] : []),
  ];
}

interface UsageTotals {
  readonly requests: number;
  readonly input: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly output: number;
  readonly cost: number;
}

const NO_USAGE: UsageTotals = { requests: 0, input: 0, cacheRead: 0, cacheWrite: 0, output: 0, cost: 0 };

/** A phase's cost as the vendor counted it, and according to our account. */
export interface AccountResult {
  readonly part: string;
  readonly code: number | string;
  readonly vendor: UsageTotals;
  /** Requests with a partial answer, which the agent may not have recorded. */
  readonly broken: UsageTotals;
  /** Number of requests that the agent does not record; they are in none of the sums. */
  readonly unrecorded: number;
  readonly account: UsageTotals;
  readonly unpriced: number;
}

export interface AccountOptions {
  readonly dist: string;
  readonly countTokens: (text: string) => number;
  readonly prices: PriceTable;
  readonly say: (line: string) => void;
}

/** Runs the agent's sessions in one home folder, and compares after each process. */
export async function compareAccount(
  root: string,
  agent: RealAgent,
  wire: WireName,
  options: AccountOptions,
): Promise<AccountResult[]> {
  const { dist, countTokens, say } = options;
  const { files } = bigTask(join(root, 'work'), 7, MANY_CALLS);
  const agentFolders = makeAgentFolders(root, files);
  execFileSync('git', ['init', '-q', '-b', 'main'], { cwd: agentFolders.work });
  // One server serves all phases, so that answer IDs are unique.
  const vendorOptions = { wire, countTokens, window: WINDOW, takesUnpaired: true };
  const vendor = await startVendor(vendorOptions, () => reply('ok'));
  const results: AccountResult[] = [];
  let totalsBefore: UsageTotals = NO_USAGE;
  for (const phase of listPhases(agent)) {
    const firstRequestIndex = vendor.requests.length;
    const isSmall = phase.isSmall === true;
    const { task = 'Read every file of the project.', isAgain = false } = phase;
    const model = new ScriptedSessionModel(agentFolders.work, { task, steps: phase.steps ?? [] });
    if (isSmall) {
      await startUpstream({ ...vendorOptions, work: agentFolders.work, calls: MANY_CALLS, faults: [], server: vendor });
    } else vendor.play(model.script);
    const names = PRICED_MODELS[wire];
    const window = isSmall ? SMALL_WINDOW : WINDOW;
    const setting = { address: vendor.url, wire, window, model: names.model, seller: names.seller };
    const env = {
      ...setUp(agentFolders, agent, setting, isSmall ? agent.smallWindow?.files : {}),
      ...(isSmall && agent.smallWindow?.env),
    };
    const insertModelNames = (args: readonly string[]): readonly string[] =>
      args.map((arg) => (arg === 'scripted' ? names.model : arg === 'local' ? names.seller : arg));
    const untilAnswerStored = model.done.then(() =>
      waitForStoredAnswer(agentFolders, env, phase.steps?.at(-1)?.text ?? ''),
    );
    const prompt = isAgain ? agent.resumePrompt : undefined;
    const compactor = phase.isCompaction === true ? agent.compactor : undefined;
    const runResult = await runAgent(agentFolders, env, {
      ...{ dist, agent, wire, task, isAgain, limitSeconds: isSmall ? 240 : 90 },
      ...(prompt !== undefined && { inTerminal: { prompt, types: task, until: untilAnswerStored } }),
      args: (args) =>
        insertModelNames(
          compactor?.args ?? (phase.isFork === true ? (agent.fork?.(args, agentFolders.home) ?? args) : args),
        ),
      ...(compactor &&
        makeCompactionInput(compactor, { home: agentFolders.home, model: names.model, seller: names.seller }, say)),
    });
    if (agent.endArguments)
      await runCommand([join(agentFolders.bin, agent.command), ...agent.endArguments], agentFolders.work, env, 60);
    const accountTotals = await readAccount(agentFolders, dist);
    const { whole, broken, unrecorded } = sumVendorUsage(
      vendor.requests.slice(firstRequestIndex),
      model.brokenRequests,
      agent,
      wire,
      options,
    );
    results.push({
      ...{ part: phase.name, code: runResult.code, vendor: whole, broken, unrecorded },
      account: subtractSums(accountTotals.sums, totalsBefore),
      unpriced: accountTotals.unpriced,
    });
    totalsBefore = accountTotals.sums;
    if ((runResult.code !== 0 && !compactor) || whole.requests === 0) say(runResult.output.slice(-1_000));
  }
  await vendor.close();
  return results;
}

/** Makes an agent compact with its protocol, and then ends the agent. */
function makeCompactionInput(
  compactor: Compactor,
  names: Pick<ProtocolPeer, 'home' | 'model' | 'seller'>,
  say: (line: string) => void,
): Pick<AgentTask, 'input' | 'interrupt'> {
  let end = (): void => undefined;
  return {
    interrupt: new Promise<void>((resolve) => (end = resolve)),
    async input(stdin, output) {
      try {
        await compactor.compact({ stdin, output, ...names });
      } catch (error) {
        say(`    compaction: ${String(error)}`);
      }
      stdin.end();
      end();
    },
  };
}

/** Adds up the vendor's own counts. */
function sumVendorUsage(
  requests: readonly RecordedRequest[],
  brokenOff: ReadonlySet<RecordedRequest>,
  agent: RealAgent,
  wire: WireName,
  { prices }: AccountOptions,
): { readonly whole: UsageTotals; readonly broken: UsageTotals; readonly unrecorded: number } {
  const listedPrices = prices.lookup(PRICED_MODELS[wire])?.prices;
  const answeredRequests = requests.filter(({ usage }) => usage !== undefined);
  const isUnrecorded = ({ body }: RecordedRequest): boolean => {
    const kind = classifyRequest(body);
    return kind !== 'main' && kind !== 'ours' && agent.unrecordedKinds?.includes(kind) === true;
  };
  const sumRequestUsage = (of: readonly RecordedRequest[]): UsageTotals =>
    of
      .flatMap(({ path, usage }): Usage[] => {
        const knownRequest = findKnownRequest('POST', path.replace(/\?.*/, ''));
        const body = wire === 'gemini' ? { usageMetadata: usage } : { usage };
        const countedUsage = knownRequest?.wire.usage(body, undefined);
        return countedUsage ? [countedUsage] : [];
      })
      .reduce(
        (all, usage) => ({
          requests: all.requests + 1,
          input: all.input + countPromptTokens(usage),
          cacheRead: all.cacheRead + usage.cacheReadTokens,
          cacheWrite: all.cacheWrite + usage.cacheWriteTokens,
          output: all.output + usage.outputTokens,
          cost: all.cost + (computeCallCost(usage, listedPrices) ?? Number.NaN),
        }),
        NO_USAGE,
      );
  const recordedRequests = answeredRequests.filter((request) => !isUnrecorded(request));
  return {
    whole: sumRequestUsage(recordedRequests.filter((request) => !brokenOff.has(request))),
    broken: sumRequestUsage(recordedRequests.filter((request) => brokenOff.has(request))),
    unrecorded: answeredRequests.length - recordedRequests.length,
  };
}

async function readAccount(
  { work, home, store }: AgentFolders,
  dist: string,
): Promise<{ sums: UsageTotals; unpriced: number }> {
  const env = { PATH: process.env['PATH'] ?? '', HOME: home, CONTEXT_CONDENSER_STORE: store };
  const commandResult = await runCommand(
    [process.execPath, join(dist, 'cli.cjs'), 'account', '--json'],
    work,
    env,
    120,
  );
  const { total } = JSON.parse(commandResult.output.slice(commandResult.output.indexOf('{'))) as {
    readonly total: Readonly<
      Record<'requests' | 'fresh' | 'cacheWrite' | 'cacheRead' | 'output' | 'cost' | 'unpriced', number>
    >;
  };
  const { requests, fresh, cacheRead, cacheWrite, output, cost, unpriced } = total;
  return { sums: { requests, input: fresh + cacheWrite + cacheRead, cacheRead, cacheWrite, output, cost }, unpriced };
}

const subtractSums = (one: UsageTotals, other: UsageTotals): UsageTotals => ({
  requests: one.requests - other.requests,
  input: one.input - other.input,
  cacheRead: one.cacheRead - other.cacheRead,
  cacheWrite: one.cacheWrite - other.cacheWrite,
  output: one.output - other.output,
  cost: one.cost - other.cost,
});

/**
 * Lists the fields in which account and vendor differ, with costs compared to a millionth of a
 * dollar. Of a broken answer, an agent knows the beginning or nothing, so the account may be higher
 * by up to what such answers cost.
 */
export const listDifferingFields = ({ vendor, broken, account }: AccountResult): string[] =>
  (Object.keys(vendor) as (keyof UsageTotals)[]).filter(
    (field) => account[field] < vendor[field] - 1e-6 || account[field] > vendor[field] + broken[field] + 1e-6,
  );

export const formatTotals = ({ requests, input, cacheRead, cacheWrite, output, cost }: UsageTotals): string =>
  `${requests} requests, ${input} in (${cacheRead} read, ${cacheWrite} written), ${output} out, $${cost.toFixed(6)}`;
