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
  makeOverloadedError,
  makeRateLimitError,
  reply,
  type Behaviour,
  type Reply,
  type ScriptedCall,
} from '../servers/behaviour';
import { splitReply } from '../servers/behaviour';
import type { Json } from '../servers/json';
import type { ModelServer, RecordedRequest } from '../servers/modelServer';
import type { InjectedFault, RealAgent } from './agents';
import { makeAgentFolders, runAgent, setUp, runCommand, type AgentFolders } from './agentRun';
import { findExplanation } from './differences';
import { FILES, RUNNING_FILE, SESSIONS, type SessionProcess, type Step } from './sessions';
import { compareTexts, listConversationTexts, listRequestTexts, type Difference, type SentText } from './texts';
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
export class ScriptedSessionModel {
  readonly requests: { readonly record: RecordedRequest; readonly answer: Reply }[] = [];
  private next = 0;
  private readonly failedSteps = new Set<Step>();
  /** Requests whose answer was cut off. */
  readonly brokenRequests = new Set<RecordedRequest>();
  private tellDone = (): void => undefined;
  readonly done = new Promise<void>((resolve) => (this.tellDone = resolve));

  constructor(
    private readonly work: string,
    private readonly process: SessionProcess,
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
      return makeFailingBehaviour(step.fault, this.answer(record, step));
    }
    this.next++;
    const answer = this.answer(record, step ?? { text: 'There is nothing more.' });
    this.requests.push({ record, answer });
    if (this.next >= steps.length) this.tellDone();
    return answer;
  };

  /** Answers a subagent. A subagent of Gemini CLI ends with a call. */
  private subagent({ body }: RecordedRequest): Reply {
    const subagentAnswer = 'The other one has looked.';
    const completionTool = listTools(body).find(({ name }) => name === 'complete_task');
    const call = completionTool && makeCall(completionTool, { command: subagentAnswer, work: this.work });
    return { ...getThinking(body), ...(call ? callsTool(call) : reply(subagentAnswer)) };
  }

  private answer({ body }: RecordedRequest, { text, reads = [], runs = [], delegates }: Step): Reply {
    const tools = listTools(body);
    const shell = tools.find(({ name }) => SHELL_TOOL.test(name));
    const readTool = tools.find(({ name }) => READ_TOOL.test(name)) ?? shell;
    const { work } = this;
    const other = delegates === true ? tools.find(({ name }) => SUBAGENT_TOOL.test(name)) : undefined;
    const calls: ScriptedCall[] = [
      ...reads.flatMap((file) =>
        readTool ? [makeCall(readTool, { command: `cat ${file}`, file: join(work, file), work })] : [],
      ),
      ...runs.flatMap((command) => (shell ? [makeCall(shell, { command, work })] : [])),
      ...(other ? [makeDelegation(other, work, body)] : []),
    ];
    return { ...getThinking(body), ...(calls.length > 0 ? { ...callsTool(...calls), text } : reply(text)) };
  }
}

const makeFailingBehaviour = (fault: InjectedFault, answer: Reply): Behaviour => {
  if (fault === '429') return makeRateLimitError(1);
  if (fault === '529') return makeOverloadedError();
  return { ...answer, fault: { after: 1, kind: fault } };
};

const SUBAGENT_TOOL = /^(?:agent|task|(?:run_)?subagent|(?:spawn|invoke)_agent)$/i;

/** Calls the tool that starts a subagent. */
function makeDelegation(tool: Tool, work: string, body: Json): ScriptedCall {
  const call = makeCall(tool, { command: 'Look at the first file.', work });
  const kinds = ['generalist', 'general-purpose', 'general'];
  // Gemini CLI lists the kinds of subagents only in its system prompt.
  const searchedTexts = [JSON.stringify(tool), JSON.stringify(body)];
  const subagentKind =
    searchedTexts.flatMap((one) => kinds.filter((each) => one.includes(each)))[0] ?? 'general-purpose';
  const input = Object.entries(call.input).map(([name, value]) => [
    name,
    /type|agent_name/i.test(name) ? subagentKind : value,
  ]);
  return { ...call, input: Object.fromEntries(input) as object };
}

const listAnswerTexts = ({ calls = [], thinking, ...answer }: Reply): SentText[] => [
  ...(thinking === undefined ? [] : [{ role: 'assistant', kind: 'thinking', text: thinking } as const]),
  ...splitReply(answer).map((text): SentText => ({ role: 'assistant', kind: 'text', text })),
  ...listConversationTexts(
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
async function readStoredConversation(
  bed: AgentFolders,
  env: Readonly<Record<string, string>>,
): Promise<Conversation | string> {
  const { conversations, problems } = await findConversations({ platform: process.platform, env, homedir: bed.home });
  const rootConversations = conversations.filter(({ parent }) => parent === undefined);
  const [first] = rootConversations;
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
const MAX_ATTEMPTS = 60;
const TRY_EVERY_MS = 500;

/** Resolves once a command runs, or after {@link MAX_ATTEMPTS}. */
async function waitUntilRunning({ work }: AgentFolders): Promise<void> {
  for (let attempts = 0; attempts < MAX_ATTEMPTS && !existsSync(join(work, RUNNING_FILE)); attempts++)
    await setTimeout(TRY_EVERY_MS);
}

/** Resolves once the answer is stored, or after {@link MAX_ATTEMPTS}. */
export async function waitForStoredAnswer(
  bed: AgentFolders,
  env: Readonly<Record<string, string>>,
  answer: string,
): Promise<void> {
  for (let tries = 0; tries < MAX_ATTEMPTS; tries++) {
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
      const agentFolders = makeAgentFolders(root, FILES);
      execFileSync('git', ['init', '-q', '-b', 'main'], { cwd: agentFolders.work });
      // One server serves all processes, so that answer IDs are unique.
      const { window, countTokens } = options;
      const vendor = await startVendor({ wire, window, countTokens, takesUnpaired: true }, () => reply('ok'));
      for (const [at, process] of session.processes.entries()) {
        const name = session.processes.length > 1 ? `${session.name}, process ${at + 1}` : session.name;
        const { home = {} } = session;
        const result = await compareProcess(
          { agent, wire, bed: agentFolders, vendor, home, name, isAgain: at > 0 },
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
    readonly bed: AgentFolders;
    readonly vendor: ModelServer;
    readonly home: Readonly<Record<string, unknown>>;
    readonly name: string;
    readonly isAgain: boolean;
  },
  process: SessionProcess,
  { dist, window, limitSeconds, say }: ReadingOptions,
): Promise<ReadingResult | undefined> {
  const { task, before, steps, args, isInterrupted = false, typedText, isCompaction = false } = process;
  before?.(bed.work);
  rmSync(join(bed.work, RUNNING_FILE), { force: true });
  const model = new ScriptedSessionModel(bed.work, process);
  vendor.play(model.script);
  const env = setUp(bed, agent, { address: vendor.url, wire, window }, home);
  const prompt = isAgain ? agent.resumePrompt : undefined;
  const untilAnswerStored = model.done.then(() => waitForStoredAnswer(bed, env, steps.at(-1)?.text ?? ''));
  const terminalOption = prompt !== undefined && { inTerminal: { prompt, types: task, until: untilAnswerStored } };
  const inputOption = typedText !== undefined && {
    input: async (stdin: Writable): Promise<void> => {
      const type = (content: string): void =>
        void stdin.write(`${JSON.stringify({ type: 'user', message: { role: 'user', content } })}\n`);
      type(task);
      await waitUntilRunning(bed);
      type(typedText);
      await untilAnswerStored;
      stdin.end();
    },
  };
  const ended = await runAgent(bed, env, {
    ...{ dist, agent, wire, task, isAgain, limitSeconds },
    ...terminalOption,
    ...inputOption,
    ...(args && { args }),
    ...(isInterrupted && { interrupt: waitUntilRunning(bed) }),
  });
  if (agent.endArguments) await runCommand([join(bed.bin, agent.command), ...agent.endArguments], bed.work, env, 60);
  if (isCompaction || (isInterrupted && model.requests.length > 0)) return undefined;
  const resultFields = { agent: agent.name, wire, session: name };
  const makeFailedResult = (problem: string): ReadingResult => ({
    ...resultFields,
    requests: model.requests.length,
    texts: 0,
    explained: [],
    unexplained: [],
    problem,
  });
  const lastRequest = model.requests.at(-1);
  if (!lastRequest || model.requests.length < steps.length) {
    say(ended.output.slice(-1_500));
    const refusals = vendor.requests.flatMap(({ path, refusal }) =>
      refusal === undefined ? [] : [`${path}: ${refusal}`],
    );
    return makeFailedResult(
      `exit ${ended.code} after ${model.requests.length} of ${steps.length} requests; ${refusals.slice(0, 2).join('; ')}`,
    );
  }
  const conversation = await readStoredConversation(bed, env);
  if (typeof conversation === 'string') return makeFailedResult(conversation);
  const sentTexts = [...listRequestTexts(lastRequest.record.body), ...listAnswerTexts(lastRequest.answer)];
  const readTexts = listConversationTexts(conversation.messages);
  const differences = compareTexts(sentTexts, readTexts);
  const explained: (Difference & { why: string })[] = [];
  const unexplained: Difference[] = [];
  for (const difference of differences) {
    const explanation = findExplanation(agent.name, difference, readTexts);
    if (explanation === undefined) unexplained.push(difference);
    else explained.push({ ...difference, why: explanation });
  }
  return { ...resultFields, requests: model.requests.length, texts: sentTexts.length, explained, unexplained };
}
