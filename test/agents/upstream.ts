/**
 * Runs a strict server with a scripted model for a real agent's task. The model calls the tools
 * that the agent's requests declare, so one script serves all agents.
 */
import { randomBytes } from 'node:crypto';
import type { WireName } from '../../src/gateway/wires/wire';
import { bigTask } from '../generators/bigTask';
import { startAnthropicServer } from '../servers/anthropicServer';
import {
  neverAnswer,
  makeOverloadedError,
  makeRateLimitError,
  reply,
  type Behaviour,
  type ScriptedCall,
} from '../servers/behaviour';
import { startGeminiServer } from '../servers/geminiServer';
import { isObject, objects, text, type Json } from '../servers/json';
import type { ModelServer, RecordedRequest } from '../servers/modelServer';
import { startOpenAIServer } from '../servers/openaiServer';
import type { InjectedFault } from './agents';
import { findMarkers } from '../../src/core/messages/markers';

/** `ours` is the gateway's request for a summary. */
export type RequestKind = 'main' | 'summary' | 'small' | 'ours';

/** A received request and its outcome. */
export interface SeenRequest {
  readonly kind: RequestKind;
  readonly record: RecordedRequest;
  /** The fault with which the script answered; undefined if it answered normally. */
  readonly fault: InjectedFault | undefined;
}

export interface Upstream {
  readonly server: ModelServer;
  readonly seen: readonly SeenRequest[];
  /** Number of the task's tool calls that the model has made. */
  made(): number;
  /** Resolves with the task's first request. */
  readonly firstRequest: Promise<void>;
  /**
   * Leaves the task's requests unanswered after this many calls. Resolves to a function that ends
   * this.
   */
  hold(calls: number): Promise<() => void>;
  /**
   * Delays the answer with which this many calls are reached. Resolves to a function that sends it.
   */
  pause(calls: number): Promise<() => void>;
  /** Number of references that the model asked for, and of those whose text came back. */
  recalled(): { readonly asked: number; readonly answered: number };
  close(): Promise<void>;
}

export interface UpstreamOptions {
  readonly wire: WireName;
  /** The agent's working folder. */
  readonly work: string;
  readonly calls: number;
  /** Window in vendor tokens. */
  readonly window: number;
  readonly countTokens: (text: string) => number;
  /** Faults that each occur once, evenly distributed. */
  readonly faults: readonly InjectedFault[];
  /** Response to the gateway's summary request. Default: a summary. */
  readonly ownSummary?: Behaviour;
  /** True if the model writes no text besides its calls. */
  readonly isTerse?: boolean;
  /** Accepts unpaired calls and results (Gemini). */
  readonly takesUnpaired?: boolean;
  /** An existing server to continue on. Default: a new server. */
  readonly server?: ModelServer;
}

export const SHELL_TOOL =
  /^(bash|shell|shell_command|exec_command|execute_command|run_shell_command|run_command|run_commands|run_terminal_command|execute|exec|local_shell)$/i;
export const READ_TOOL = /^(read|read_file|read_files|readfile|view|view_file)$/i;
const RECALL_TOOL = /(^|[^a-z])recall$/i;
/**
 * Matches the prompts of agents' own summaries. The last alternative is Pi's prompt for a turn that
 * it splits (`compaction.ts`, `TURN_PREFIX_…`).
 */
const SUMMARY_PROMPT =
  /CONTEXT CHECKPOINT|hand-?off summary|(create|provide|write|produce|generate|update) (a|an|the|your)?\s*([\w-]+,? )*(summary|snapshot|recap)|summari[sz]e (the|this|our)|state_snapshot|anchored summary|Only summarize information explicitly present/i;

export interface Tool {
  readonly name: string;
  readonly namespace?: string;
  readonly schema: Json;
}

/**
 * Lists the declared tools; for newer Responses models, they are in an input item, in namespaces.
 */
export function listTools({ tools, input }: Json): Tool[] {
  const declaredTools = [
    ...objects(tools),
    ...objects(input).flatMap((item) => (item['type'] === 'additional_tools' ? objects(item['tools']) : [])),
  ];
  return declaredTools.flatMap((tool): Tool[] => {
    if (tool['type'] === 'namespace') {
      const namespace = text(tool['name']);
      return objects(tool['tools']).map((inner) => ({ ...parseTool(inner), namespace }));
    }
    if (tool['functionDeclarations'] !== undefined) return objects(tool['functionDeclarations']).map(parseTool);
    return [parseTool(isObject(tool['function']) ? tool['function'] : tool)];
  });
}

const parseTool = (tool: Json): Tool => {
  const schema = tool['input_schema'] ?? tool['parameters'] ?? tool['parametersJsonSchema'];
  return { name: text(tool['name']), schema: isObject(schema) ? schema : {} };
};

export const listItems = ({ messages, input, contents }: Json): readonly Json[] =>
  objects(messages ?? contents ?? input);

/** Finds a request's purpose by its tools and text. */
export function classifyRequest(body: Json): RequestKind {
  if (isOwnSummary(body)) return 'ours';
  if (SUMMARY_PROMPT.test(getNewestText(body))) return 'summary';
  return listTools(body).some(({ name }) => SHELL_TOOL.test(name) || READ_TOOL.test(name)) ? 'main' : 'small';
}

/**
 * Finds the gateway's summary prompt (src/core/condense/summary/prompt.ts), wherever each wire has
 * it.
 */
const isOwnSummary = ({ system, instructions, systemInstruction, messages }: Json): boolean =>
  JSON.stringify([system, instructions, systemInstruction, objects(messages)[0]]).includes(
    'You write the summary with which an AI coding agent goes on working',
  );

/** The summary returned to the gateway. */
export const OWN_SUMMARY = 'The user wants the project put in order; the first files are done, the others are open.';

/** Returns the text of the newest item; '' for a tool result. */
function getNewestText(body: Json): string {
  const lastItem = listItems(body).at(-1);
  if (!lastItem || lastItem['role'] === 'tool' || text(lastItem['type']).endsWith('_output')) return '';
  const content = lastItem['content'] ?? lastItem['parts'];
  return typeof content === 'string'
    ? content
    : objects(content)
        .map((part) => (part['type'] === 'tool_result' ? '' : text(part['text'])))
        .join('\n');
}

/** Creates a value that satisfies a JSON Schema; `hint` returns its texts. */
function makeSampleValue(schema: unknown, name: string, hint: (name: string) => unknown): unknown {
  if (!isObject(schema)) return 'x';
  const choice = [...objects(schema['anyOf']), ...objects(schema['oneOf'])].find(({ type }) => type !== 'null');
  const resolvedSchema = choice ?? schema;
  const { type, items, properties, required } = resolvedSchema;
  if (resolvedSchema['const'] !== undefined) return resolvedSchema['const'];
  if (Array.isArray(resolvedSchema['enum'])) return (resolvedSchema['enum'] as readonly unknown[])[0];
  const types = Array.isArray(type) ? (type as readonly unknown[]) : [type];
  const valueType = text(types.find((each) => each !== 'null')).toLowerCase();
  if (valueType === 'object' || isObject(properties)) {
    const requiredNames = Array.isArray(required) ? (required as readonly unknown[]) : [];
    const propertyEntries = Object.entries(isObject(properties) ? properties : {});
    // If no property is required, only the first one with a suitable name gets a value.
    const chosenProperties =
      requiredNames.length > 0
        ? propertyEntries.filter(([key]) => requiredNames.includes(key))
        : propertyEntries.filter(([key]) => SUITABLE_NAME.test(key)).slice(0, 1);
    return Object.fromEntries(chosenProperties.map(([key, value]) => [key, makeSampleValue(value, key, hint)]));
  }
  if (valueType === 'array')
    return /^(command|cmd)$/i.test(name) ? ['bash', '-lc', hint(name)] : [makeSampleValue(items, name, hint)];
  if (valueType === 'boolean') return false;
  if (valueType === 'integer' || valueType === 'number') return 1;
  return hint(name);
}

/** Answers a check that demands structured output: nothing was found. */
function answerStructured({ generationConfig: config }: Json): string | undefined {
  const schema = isObject(config) ? (config['responseJsonSchema'] ?? config['responseSchema']) : undefined;
  if (schema === undefined) return undefined;
  const sampleValue = makeSampleValue(schema, '', () => 'Nothing was found.');
  return JSON.stringify(sampleValue, (_field, value: unknown) => (typeof value === 'number' ? 0 : value));
}

const SUITABLE_NAME = /command|cmd|path|file|message|prompt/i;

/** Creates a call that runs a command or reads a file. */
export function makeCall(
  tool: Tool,
  what: { readonly command: string; readonly file?: string; readonly work: string },
): ScriptedCall {
  const getHint = (name: string): string =>
    /path|file|uri/i.test(name)
      ? (what.file ?? what.work)
      : /dir|cwd/i.test(name)
        ? what.work
        : /^(command|cmd|script|input|commands)$/i.test(name)
          ? what.command
          : 'The next step';
  const input = makeSampleValue(tool.schema, '', getHint);
  return {
    id: callId(),
    name: tool.name,
    input: isObject(input) ? input : {},
    ...(tool.namespace !== undefined && { namespace: tool.namespace }),
  };
}

/** Random IDs are unique across all servers of a session. */
const callId = (): string => `toolu_${randomBytes(9).toString('hex')}`;

const quoteForShell = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`;

/** Converts the task's calls of VS Code's tools to shell commands. */
function toShellCommand({ name, input }: ScriptedCall): { command: string; file?: string } {
  const { filePath, startLine, endLine, query, path, oldString, newString } = input as Readonly<Record<string, string>>;
  switch (name) {
    case 'read_file':
      return {
        command: `sed -n '${startLine ?? 1},${endLine ?? 1}p' ${quoteForShell(filePath ?? '')}`,
        file: filePath ?? '',
      };
    case 'grep_search':
      return { command: `grep -rnE ${quoteForShell(query ?? '')} src | head -40` };
    case 'list_dir':
      return { command: `ls -la ${quoteForShell(path ?? '.')}` };
    case 'replace_string_in_file': {
      const replacement = JSON.stringify([filePath, oldString, newString]);
      const script = `const [file, from, to] = ${replacement}; const fs = require('fs'); fs.writeFileSync(file, fs.readFileSync(file, 'utf8').replace(from, () => to))`;
      return { command: `node -e ${quoteForShell(script)}` };
    }
    default:
      throw new Error(`No command for ${name}.`);
  }
}

/** Lists the task's calls for any agent, one item per answer. */
function listTaskSteps(work: string, calls: number): { text: string; calls: { command: string; file?: string }[] }[] {
  return bigTask(work, 7, calls).steps.map((step) => ({ text: step.text, calls: step.calls.map(toShellCommand) }));
}

/** Starts a strict server; all servers of this process share one vendor's key. */
export function startVendor(
  {
    wire,
    window,
    countTokens,
    takesUnpaired,
  }: Pick<UpstreamOptions, 'wire' | 'window' | 'countTokens' | 'takesUnpaired'>,
  script: (record: RecordedRequest) => Behaviour,
): Promise<ModelServer> {
  const serverOptions = { script, sealKey: SEAL_KEY, maxContextTokens: window, countTokens };
  if (wire === 'anthropic')
    return startAnthropicServer({ ...serverOptions, strict: { turns: true, systemMessages: true } });
  if (wire === 'gemini')
    return startGeminiServer({ ...serverOptions, strict: { signatures: false, pairs: takesUnpaired !== true } });
  return startOpenAIServer(serverOptions);
}

const SEAL_KEY = randomBytes(16);

/** Shares of the task after which the model recalls removed content, if there is any. */
const RECALL_SHARES = [0.5, 0.8];

export async function startUpstream(options: UpstreamOptions): Promise<Upstream> {
  const { work, calls, faults } = options;
  const steps = listTaskSteps(work, calls);
  const seenRequests: SeenRequest[] = [];
  const faultByRequest = new Map(
    faults.map((fault, index) => [Math.ceil(((index + 1) * steps.length) / (faults.length + 1)), fault]),
  );
  const makeTextField = (words: string): { readonly text?: string } =>
    options.isTerse === true ? {} : { text: words };
  const askedReferences: string[] = [];
  let tellFirstRequest = (): void => undefined;
  const firstRequest = new Promise<void>((resolve) => (tellFirstRequest = resolve));
  const recallSteps = RECALL_SHARES.map((share) => Math.floor(share * steps.length));
  let next = 0;
  let madeCalls = 0;
  let mainRequests = 0;
  let heldAt: { readonly calls: number; readonly tell: (goOn: () => void) => void } | undefined;
  let pausedAt: typeof heldAt;

  const script = (record: RecordedRequest): Behaviour => {
    const { body } = record;
    const tools = listTools(body);
    const shell = tools.find(({ name }) => SHELL_TOOL.test(name));
    const readTool = tools.find(({ name }) => READ_TOOL.test(name));
    const kind = classifyRequest(body);
    const recordRequest = (fault?: InjectedFault): void => void seenRequests.push({ kind, record, fault });
    if (kind === 'ours') {
      recordRequest();
      return options.ownSummary ?? reply(`<summary>\n${OWN_SUMMARY}\n</summary>`);
    }
    if (kind === 'summary') {
      recordRequest();
      return reply('<summary>\nThe user asked to put the project in order; some files are done, go on.\n</summary>');
    }
    if (kind === 'small') {
      recordRequest();
      return reply(answerStructured(body) ?? 'A short answer');
    }
    mainRequests++;
    tellFirstRequest();
    const fault = faultByRequest.get(mainRequests);
    faultByRequest.delete(mainRequests);
    recordRequest(fault);
    if (heldAt && madeCalls >= heldAt.calls) {
      heldAt.tell(() => (heldAt = undefined));
      return neverAnswer();
    }
    if (fault === '429') return makeRateLimitError(1);
    if (fault === '529') return makeOverloadedError();
    const recallTool = tools.find(({ name }) => RECALL_TOOL.test(name));
    const reference =
      recallTool && recallSteps.some((at) => next >= at) ? findNewReference(body, askedReferences) : undefined;
    if (recallTool && reference !== undefined && fault === undefined) {
      recallSteps.shift();
      askedReferences.push(reference);
      const { name, namespace } = recallTool;
      const call = { id: callId(), name, input: { references: [reference] } };
      return {
        ...getThinking(body),
        kind: 'reply',
        ...makeTextField('I need that again.'),
        calls: [{ ...call, ...(namespace !== undefined && { namespace }) }],
      };
    }
    const step = steps[next];
    if (!step) return reply('All of it is done.');
    const answer = {
      ...getThinking(body),
      kind: 'reply' as const,
      ...makeTextField(step.text),
      calls: step.calls.map(({ command, file }, index) => {
        // Every second read of a whole file uses the agent's own tool.
        const tool = file !== undefined && readTool && (next + index) % 2 === 0 ? readTool : (shell ?? readTool);
        if (!tool) throw new Error('no tool');
        return makeCall(tool, { command, work, ...(file !== undefined && { file }) });
      }),
    };
    if (fault !== undefined) return { ...answer, fault: { after: 1, kind: fault } };
    next++;
    madeCalls += step.calls.length;
    return pausedAt && madeCalls >= pausedAt.calls
      ? { ...answer, firstByte: new Promise<void>(pausedAt.tell) }
      : answer;
  };

  const server = options.server ?? (await startVendor(options, script));
  server.play(script);
  return {
    server,
    seen: seenRequests,
    made: () => madeCalls,
    firstRequest: firstRequest,
    hold: (calls) => new Promise((tell) => (heldAt = { calls, tell })),
    pause: (calls) =>
      new Promise((resolve) => {
        const tell = (goOn: () => void): void => {
          pausedAt = undefined;
          resolve(goOn);
        };
        pausedAt = { calls, tell };
      }),
    recalled: () => {
      const requestTexts = seenRequests.map(({ record }) => JSON.stringify(listItems(record.body)));
      return {
        asked: askedReferences.length,
        answered: askedReferences.filter((reference) =>
          requestTexts.some((items) => items.includes(`[ref ${reference}: `)),
        ).length,
      };
    },
    close: () => server.close(),
  };
}

/** Returns thinking if the request enables it. */
export function getThinking({ thinking, include, generationConfig }: Json): { readonly thinking?: string } {
  const config = isObject(generationConfig) ? generationConfig['thinkingConfig'] : undefined;
  const isWanted =
    (isObject(thinking) && thinking['type'] !== 'disabled') ||
    (Array.isArray(include) && include.includes('reasoning.encrypted_content')) ||
    (isObject(config) && config['includeThoughts'] === true);
  return isWanted ? { thinking: 'What comes next follows from what was found.' } : {};
}

/** Finds a reference in a marker that was not asked for yet. */
function findNewReference(body: Json, asked: readonly string[]): string | undefined {
  const markers = findMarkers(JSON.stringify(listItems(body)));
  return markers.map(({ reference }) => reference).find((reference) => !asked.includes(reference));
}
