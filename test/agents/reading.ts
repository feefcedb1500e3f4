/**
 * Compares our reading of an agent's stored session with its requests. Every text of the last
 * request must occur exactly once, in order and with its role, and nothing else may occur, except
 * for {@link DIFFERENCES}.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Writable } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import { readConversationFile } from '../../src/conversations/readFile';
import { ConversationReadError } from '../../src/conversations/readError';
import { findConversations } from '../../src/conversations/stores/find';
import type { Conversation } from '../../src/conversations/types';
import type { WireName } from '../../src/gateway/wires/wire';
import {
  callsTool,
  overloaded,
  rateLimited,
  reply,
  type Behaviour,
  type Reply,
  type ScriptedCall,
} from '../servers/behaviour';
import { splitReply } from '../servers/behaviour';
import type { Json } from '../servers/json';
import type { ModelServer, RecordedRequest } from '../servers/modelServer';
import type { FaultKind, RealAgent } from './agents';
import { makeBed, runAgent, setUp, runCommand, type Bed } from './agentRun';
import { findExplanation } from './differences';
import { FILES, RUNNING, SESSIONS, type Process, type Step } from './sessions';
import { compareTexts, textsOfConversation, textsOfRequest, type Difference, type SentText } from './texts';
import {
  makeCall,
  classifyRequest,
  READ_TOOL,
  SHELL_TOOL,
  startVendor,
  getThinking,
  listTools,
  type Tool,
} from './upstream';

/** A model that answers each request of the task with the next step. */
export class Model {
  readonly requests: { readonly record: RecordedRequest; readonly answer: Reply }[] = [];
  private next = 0;
  private readonly failedSteps = new Set<Step>();
  /** Requests whose answer was cut off. */
  readonly brokenRequests = new Set<RecordedRequest>();
  private tellDone = (): void => undefined;
  readonly done = new Promise<void>((resolve) => (this.tellDone = resolve));

  constructor(
    private readonly work: string,
    private readonly process: Process,
  ) {}

  readonly script = (record: RecordedRequest): Behaviour => {
    const kind = classifyRequest(record.body);
    if (kind === 'summary') return reply('<summary>\nBoth files were read.\n</summary>');
    if (kind === 'small') return reply('A short answer');
    const { steps, task } = this.process;
    // A subagent's request does not contain the task.
    if (!JSON.stringify(record.body).includes(JSON.stringify(task).slice(1, -1))) return this.subagent(record);
    const step = steps[this.next];
    if (step?.fault !== undefined && !this.failedSteps.has(step)) {
      this.failedSteps.add(step);
      this.brokenRequests.add(record);
      return failing(step.fault, this.answer(record, step));
    }
    this.next++;
    const answer = this.answer(record, step ?? { text: 'There is nothing more.' });
    this.requests.push({ record, answer });
    if (this.next >= steps.length) this.tellDone();
    return answer;
  };

  /** Answers a subagent. Gemini CLI's ends with a call. */
  private subagent({ body }: RecordedRequest): Reply {
    const looked = 'The other one has looked.';
    const end = listTools(body).find(({ name }) => name === 'complete_task');
    const call = end && makeCall(end, { command: looked, work: this.work });
    return { ...getThinking(body), ...(call ? callsTool(call) : reply(looked)) };
  }

  private answer({ body }: RecordedRequest, { text, reads = [], runs = [], delegates }: Step): Reply {
    const tools = listTools(body);
    const shell = tools.find(({ name }) => SHELL_TOOL.test(name));
    const read = tools.find(({ name }) => READ_TOOL.test(name)) ?? shell;
    const { work } = this;
    const other = delegates === true ? tools.find(({ name }) => DELEGATE.test(name)) : undefined;
    const calls: ScriptedCall[] = [
      ...reads.flatMap((file) =>
        read ? [makeCall(read, { command: `cat ${file}`, file: join(work, file), work })] : [],
      ),
      ...runs.flatMap((command) => (shell ? [makeCall(shell, { command, work })] : [])),
      ...(other ? [makeDelegation(other, work, body)] : []),
    ];
    return { ...getThinking(body), ...(calls.length > 0 ? { ...callsTool(...calls), text } : reply(text)) };
  }
}

const failing = (fault: FaultKind, answer: Reply): Behaviour => {
  if (fault === '429') return rateLimited(1);
  if (fault === '529') return overloaded();
  return { ...answer, fault: { after: 1, kind: fault } };
};

const DELEGATE = /^(?:agent|task|(?:run_)?subagent|(?:spawn|invoke)_agent)$/i;

/** Calls the tool that starts a subagent. */
function makeDelegation(tool: Tool, work: string, body: Json): ScriptedCall {
  const call = makeCall(tool, { command: 'Look at the first file.', work });
  const kinds = ['generalist', 'general-purpose', 'general'];
  // Gemini CLI lists the kinds of subagents only in its system prompt.
  const words = [JSON.stringify(tool), JSON.stringify(body)];
  const kind = words.flatMap((one) => kinds.filter((each) => one.includes(each)))[0] ?? 'general-purpose';
  const input = Object.entries(call.input).map(([name, value]) => [name, /type|agent_name/i.test(name) ? kind : value]);
  return { ...call, input: Object.fromEntries(input) as object };
}

const textsOfAnswer = ({ calls = [], thinking, ...answer }: Reply): SentText[] => [
  ...(thinking === undefined ? [] : [{ role: 'assistant', kind: 'thinking', text: thinking } as const]),
  ...splitReply(answer).map((text): SentText => ({ role: 'assistant', kind: 'text', text })),
  ...textsOfConversation(
    calls.map(({ name, input }) => ({ role: 'assistant', content: [{ type: 'tool_use', id: '', name, input }] })),
  ),
];

/** A session's result, or why the session could not be compared. */
export interface ReadingResult {
  readonly agent: string;
  readonly wire: WireName;
  readonly session: string;
  readonly requests: number;
  readonly texts: number;
  readonly explained: readonly (Difference & { readonly why: string })[];
  readonly unexplained: readonly Difference[];
  readonly problem?: string;
}

/** Reads the newest conversation without a parent. */
async function readStoredConversation(bed: Bed, env: Readonly<Record<string, string>>): Promise<Conversation | string> {
  const { conversations, problems } = await findConversations({ platform: process.platform, env, homedir: bed.home });
  const own = conversations.filter(({ parent }) => parent === undefined);
  const [first] = own;
  if (!first)
    return `no stored session was found${problems.map(({ path, reason }) => `; ${path}: ${reason}`).join('')}`;
  try {
    return readConversationFile(first.path);
  } catch (error) {
    if (error instanceof ConversationReadError) return `${first.path}: ${error.message}`;
    throw error;
  }
}

/**
 * Number of attempts to find the last answer, which an agent in a terminal writes before it exits.
 */
const TRIES = 60;
const TRY_EVERY_MS = 500;

/** Resolves once a command runs, or after {@link TRIES}. */
async function waitUntilRunning({ work }: Bed): Promise<void> {
  for (let tries = 0; tries < TRIES && !existsSync(join(work, RUNNING)); tries++) await setTimeout(TRY_EVERY_MS);
}

/** Resolves once the answer is stored, or after {@link TRIES}. */
export async function waitForStoredAnswer(
  bed: Bed,
  env: Readonly<Record<string, string>>,
  answer: string,
): Promise<void> {
  for (let tries = 0; tries < TRIES; tries++) {
    const conversation = await readStoredConversation(bed, env);
    if (typeof conversation !== 'string' && JSON.stringify(conversation.messages).includes(answer)) return;
    await setTimeout(TRY_EVERY_MS);
  }
}

export interface ReadingOptions {
  readonly dist: string;
  readonly window: number;
  readonly countTokens: (text: string) => number;
  readonly limitSeconds: number;
  readonly say: (line: string) => void;
  readonly inFolder: <T>(work: (root: string) => Promise<T>) => Promise<T>;
}

/** Runs the agent's sessions, and compares after each process. */
export async function compareReading(
  agent: RealAgent,
  wire: WireName,
  options: ReadingOptions,
): Promise<ReadingResult[]> {
  const results: ReadingResult[] = [];
  for (const session of SESSIONS.filter(({ agents }) => agents?.includes(agent.name) !== false))
    await options.inFolder(async (root) => {
      const bed = makeBed(root, FILES);
      execFileSync('git', ['init', '-q', '-b', 'main'], { cwd: bed.work });
      // One server serves all processes, so that answer IDs are unique.
      const { window, countTokens } = options;
      const vendor = await startVendor({ wire, window, countTokens, takesUnpaired: true }, () => reply('ok'));
      for (const [at, process] of session.processes.entries()) {
        const name = session.processes.length > 1 ? `${session.name}, process ${at + 1}` : session.name;
        const { home = {} } = session;
        const result = await compareProcess(
          { agent, wire, bed, vendor, home, name, isAgain: at > 0 },
          process,
          options,
        );
        if (result) results.push(result);
      }
      await vendor.close();
    });
  return results;
}

async function compareProcess(
  {
    agent,
    wire,
    bed,
    vendor,
    home,
    name,
    isAgain,
  }: {
    readonly agent: RealAgent;
    readonly wire: WireName;
    readonly bed: Bed;
    readonly vendor: ModelServer;
    readonly home: Readonly<Record<string, unknown>>;
    readonly name: string;
    readonly isAgain: boolean;
  },
  process: Process,
  { dist, window, limitSeconds, say }: ReadingOptions,
): Promise<ReadingResult | undefined> {
  const { task, before, steps, args, isInterrupted = false, typedText, isCompaction = false } = process;
  before?.(bed.work);
  rmSync(join(bed.work, RUNNING), { force: true });
  const model = new Model(bed.work, process);
  vendor.play(model.script);
  const env = setUp(bed, agent, { address: vendor.url, wire, window }, home);
  const prompt = isAgain ? agent.resumePrompt : undefined;
  const until = model.done.then(() => waitForStoredAnswer(bed, env, steps.at(-1)?.text ?? ''));
  const inTerminal = prompt !== undefined && { inTerminal: { prompt, types: task, until } };
  const typing = typedText !== undefined && {
    input: async (stdin: Writable): Promise<void> => {
      const type = (content: string): void =>
        void stdin.write(`${JSON.stringify({ type: 'user', message: { role: 'user', content } })}\n`);
      type(task);
      await waitUntilRunning(bed);
      type(typedText);
      await until;
      stdin.end();
    },
  };
  const ended = await runAgent(bed, env, {
    ...{ dist, agent, wire, task, isAgain, limitSeconds },
    ...inTerminal,
    ...typing,
    ...(args && { args }),
    ...(isInterrupted && { interrupt: waitUntilRunning(bed) }),
  });
  if (agent.endArguments) await runCommand([join(bed.bin, agent.command), ...agent.endArguments], bed.work, env, 60);
  if (isCompaction || (isInterrupted && model.requests.length > 0)) return undefined;
  const common = { agent: agent.name, wire, session: name };
  const failed = (problem: string): ReadingResult => ({
    ...common,
    requests: model.requests.length,
    texts: 0,
    explained: [],
    unexplained: [],
    problem,
  });
  const last = model.requests.at(-1);
  if (!last || model.requests.length < steps.length) {
    say(ended.output.slice(-1_500));
    const refusals = vendor.requests.flatMap(({ path, refusal }) =>
      refusal === undefined ? [] : [`${path}: ${refusal}`],
    );
    return failed(
      `exit ${ended.code} after ${model.requests.length} of ${steps.length} requests; ${refusals.slice(0, 2).join('; ')}`,
    );
  }
  const conversation = await readStoredConversation(bed, env);
  if (typeof conversation === 'string') return failed(conversation);
  const sent = [...textsOfRequest(last.record.body), ...textsOfAnswer(last.answer)];
  const read = textsOfConversation(conversation.messages);
  const differences = compareTexts(sent, read);
  const explained: (Difference & { why: string })[] = [];
  const unexplained: Difference[] = [];
  for (const one of differences) {
    const why = findExplanation(agent.name, one, read);
    if (why === undefined) unexplained.push(one);
    else explained.push({ ...one, why });
  }
  return { ...common, requests: model.requests.length, texts: sent.length, explained, unexplained };
}
