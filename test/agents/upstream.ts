/**
 * Runs a strict server with a scripted model for a real agent's task. The model calls the tools
 * that the agent's requests declare, so one script serves all agents.
 */
import { randomBytes } from 'node:crypto';
import type { WireName } from '../../src/gateway/wires/wire';
import { bigTask } from '../generators/bigTask';
import { startAnthropicServer } from '../servers/anthropicServer';
import { never, overloaded, rateLimited, reply, type Behaviour, type ScriptedCall } from '../servers/behaviour';
import { startGeminiServer } from '../servers/geminiServer';
import { isObject, objects, text, type Json } from '../servers/json';
import type { ModelServer, RecordedRequest } from '../servers/modelServer';
import { startOpenAIServer } from '../servers/openaiServer';
import type { FaultKind } from './agents';
import { findMarkers } from '../../src/core/messages/markers';

/** `ours` is the gateway's request for a summary. */
export type RequestKind = 'main' | 'summary' | 'small' | 'ours';

/** A received request and its outcome. */
export interface Seen {
  readonly kind: RequestKind;
  readonly record: RecordedRequest;
  /** The fault with which the script answered; undefined if it answered normally. */
  readonly fault: FaultKind | undefined;
}

export interface Upstream {
  readonly server: ModelServer;
  readonly seen: readonly Seen[];
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
  readonly faults: readonly FaultKind[];
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
 * Matches the prompts of agents' own summaries; the last one is Pi's for a turn that it cuts
 * (`compaction.ts`, `TURN_PREFIX_…`).
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
  const given = [
    ...objects(tools),
    ...objects(input).flatMap((item) => (item['type'] === 'additional_tools' ? objects(item['tools']) : [])),
  ];
  return given.flatMap((tool): Tool[] => {
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
  if (SUMMARY_PROMPT.test(lastWords(body))) return 'summary';
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
function lastWords(body: Json): string {
  const last = listItems(body).at(-1);
  if (!last || last['role'] === 'tool' || text(last['type']).endsWith('_output')) return '';
  const content = last['content'] ?? last['parts'];
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
  const known = choice ?? schema;
  const { type, items, properties, required } = known;
  if (known['const'] !== undefined) return known['const'];
  if (Array.isArray(known['enum'])) return (known['enum'] as readonly unknown[])[0];
  const types = Array.isArray(type) ? (type as readonly unknown[]) : [type];
  const kind = text(types.find((each) => each !== 'null')).toLowerCase();
  if (kind === 'object' || isObject(properties)) {
    const wanted = Array.isArray(required) ? (required as readonly unknown[]) : [];
    const all = Object.entries(isObject(properties) ? properties : {});
    // If no property is required, the first one with a suitable name is given.
    const chosen =
      wanted.length > 0
        ? all.filter(([key]) => wanted.includes(key))
        : all.filter(([key]) => SUITABLE_NAME.test(key)).slice(0, 1);
    return Object.fromEntries(chosen.map(([key, value]) => [key, makeSampleValue(value, key, hint)]));
  }
  if (kind === 'array')
    return /^(command|cmd)$/i.test(name) ? ['bash', '-lc', hint(name)] : [makeSampleValue(items, name, hint)];
  if (kind === 'boolean') return false;
  if (kind === 'integer' || kind === 'number') return 1;
  return hint(name);
}

/** Answers a check that demands structured output: nothing was found. */
function answerStructured({ generationConfig: config }: Json): string | undefined {
  const schema = isObject(config) ? (config['responseJsonSchema'] ?? config['responseSchema']) : undefined;
  if (schema === undefined) return undefined;
  const found = makeSampleValue(schema, '', () => 'Nothing was found.');
  return JSON.stringify(found, (_field, value: unknown) => (typeof value === 'number' ? 0 : value));
}

const SUITABLE_NAME = /command|cmd|path|file|message|prompt/i;

/** Creates a call that runs a command or reads a file. */
export function makeCall(
  tool: Tool,
  what: { readonly command: string; readonly file?: string; readonly work: string },
): ScriptedCall {
  const hint = (name: string): string =>
    /path|file|uri/i.test(name)
      ? (what.file ?? what.work)
      : /dir|cwd/i.test(name)
        ? what.work
        : /^(command|cmd|script|input|commands)$/i.test(name)
          ? what.command
          : 'The next step';
  const input = makeSampleValue(tool.schema, '', hint);
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
function toCommand({ name, input }: ScriptedCall): { command: string; file?: string } {
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
      const from = JSON.stringify([filePath, oldString, newString]);
      const script = `const [file, from, to] = ${from}; const fs = require('fs'); fs.writeFileSync(file, fs.readFileSync(file, 'utf8').replace(from, () => to))`;
      return { command: `node -e ${quoteForShell(script)}` };
    }
    default:
      throw new Error(`No command for ${name}.`);
  }
}

/** Lists the task's calls for any agent, one item per answer. */
function listTaskSteps(work: string, calls: number): { text: string; calls: { command: string; file?: string }[] }[] {
  return bigTask(work, 7, calls).steps.map((step) => ({ text: step.text, calls: step.calls.map(toCommand) }));
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
  const common = { script, sealKey: SEAL_KEY, maxContextTokens: window, countTokens };
  if (wire === 'anthropic') return startAnthropicServer({ ...common, strict: { turns: true, systemMessages: true } });
  if (wire === 'gemini')
    return startGeminiServer({ ...common, strict: { signatures: false, pairs: takesUnpaired !== true } });
  return startOpenAIServer(common);
}

const SEAL_KEY = randomBytes(16);

/** Shares of the task after which the model recalls removed content, if there is any. */
const RECALL_AT = [0.5, 0.8];

export async function startUpstream(options: UpstreamOptions): Promise<Upstream> {
  const { work, calls, faults } = options;
  const steps = listTaskSteps(work, calls);
  const seen: Seen[] = [];
  const faultAt = new Map(
    faults.map((fault, index) => [Math.ceil(((index + 1) * steps.length) / (faults.length + 1)), fault]),
  );
  const said = (words: string): { readonly text?: string } => (options.isTerse === true ? {} : { text: words });
  const asked: string[] = [];
  let tellAsked = (): void => undefined;
  const isAsked = new Promise<void>((resolve) => (tellAsked = resolve));
  const wanted = RECALL_AT.map((share) => Math.floor(share * steps.length));
  let next = 0;
  let made = 0;
  let main = 0;
  let held: { readonly calls: number; readonly tell: (goOn: () => void) => void } | undefined;
  let paused: typeof held;

  const script = (record: RecordedRequest): Behaviour => {
    const { body } = record;
    const tools = listTools(body);
    const shell = tools.find(({ name }) => SHELL_TOOL.test(name));
    const read = tools.find(({ name }) => READ_TOOL.test(name));
    const kind = classifyRequest(body);
    const add = (fault?: FaultKind): void => void seen.push({ kind, record, fault });
    if (kind === 'ours') {
      add();
      return options.ownSummary ?? reply(`<summary>\n${OWN_SUMMARY}\n</summary>`);
    }
    if (kind === 'summary') {
      add();
      return reply('<summary>\nThe user asked to put the project in order; some files are done, go on.\n</summary>');
    }
    if (kind === 'small') {
      add();
      return reply(answerStructured(body) ?? 'A short answer');
    }
    main++;
    tellAsked();
    const fault = faultAt.get(main);
    faultAt.delete(main);
    add(fault);
    if (held && made >= held.calls) {
      held.tell(() => (held = undefined));
      return never();
    }
    if (fault === '429') return rateLimited(1);
    if (fault === '529') return overloaded();
    const recall = tools.find(({ name }) => RECALL_TOOL.test(name));
    const reference = recall && wanted.some((at) => next >= at) ? findNewReference(body, asked) : undefined;
    if (recall && reference !== undefined && fault === undefined) {
      wanted.shift();
      asked.push(reference);
      const { name, namespace } = recall;
      const call = { id: callId(), name, input: { references: [reference] } };
      return {
        ...getThinking(body),
        kind: 'reply',
        ...said('I need that again.'),
        calls: [{ ...call, ...(namespace !== undefined && { namespace }) }],
      };
    }
    const step = steps[next];
    if (!step) return reply('All of it is done.');
    const answer = {
      ...getThinking(body),
      kind: 'reply' as const,
      ...said(step.text),
      calls: step.calls.map(({ command, file }, index) => {
        // Every second read of a whole file uses the agent's own tool.
        const tool = file !== undefined && read && (next + index) % 2 === 0 ? read : (shell ?? read);
        if (!tool) throw new Error('no tool');
        return makeCall(tool, { command, work, ...(file !== undefined && { file }) });
      }),
    };
    if (fault !== undefined) return { ...answer, fault: { after: 1, kind: fault } };
    next++;
    made += step.calls.length;
    return paused && made >= paused.calls ? { ...answer, firstByte: new Promise<void>(paused.tell) } : answer;
  };

  const server = options.server ?? (await startVendor(options, script));
  server.play(script);
  return {
    server,
    seen,
    made: () => made,
    firstRequest: isAsked,
    hold: (calls) => new Promise((tell) => (held = { calls, tell })),
    pause: (calls) =>
      new Promise((resolve) => {
        const tell = (goOn: () => void): void => {
          paused = undefined;
          resolve(goOn);
        };
        paused = { calls, tell };
      }),
    recalled: () => {
      const all = seen.map(({ record }) => JSON.stringify(listItems(record.body)));
      return {
        asked: asked.length,
        answered: asked.filter((reference) => all.some((items) => items.includes(`[ref ${reference}: `))).length,
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
