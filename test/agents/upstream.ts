/**
 * A strict server for a real agent's task with a scripted model. It calls the tools that the
 * agent's requests declare, so one script serves all agents.
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

/** `ours`: a summary for the gateway. */
export type RequestKind = 'main' | 'summary' | 'small' | 'ours';

/** A received request and its outcome. */
export interface Seen {
  readonly kind: RequestKind;
  readonly record: RecordedRequest;
  /** How the script handled it; undefined if answered. */
  readonly fault: FaultKind | undefined;
}

export interface Upstream {
  readonly server: ModelServer;
  readonly seen: readonly Seen[];
  /** Answered tool calls of the task. */
  made(): number;
  /** Resolves with the task's first request. */
  readonly asked: Promise<void>;
  /** After this many calls, requests of the task hang. Resolves to a function that resumes. */
  hold(calls: number): Promise<() => void>;
  /** After this many calls, an answer is delayed. Resolves to a function that releases it. */
  pause(calls: number): Promise<() => void>;
  /** Requested references, and those whose text came back. */
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
  /** Each occurs once, evenly distributed. */
  readonly faults: readonly FaultKind[];
  /** Response to a summary request of the gateway. Default: a summary. */
  readonly ownSummary?: Behaviour;
  /** The model writes no text besides calls. */
  readonly isTerse?: boolean;
  /** Accepts unpaired calls and results (Gemini). */
  readonly takesUnpaired?: boolean;
  /** Continues this script on another server. Default: a new server. */
  readonly server?: ModelServer;
}

export const SHELL =
  /^(bash|shell|shell_command|exec_command|execute_command|run_shell_command|run_command|run_commands|run_terminal_command|execute|exec|local_shell)$/i;
export const READ = /^(read|read_file|read_files|readfile|view|view_file)$/i;
const RECALL = /(^|[^a-z])recall$/i;
/**
 * Agents' own summary prompts; the last is Pi's for a turn that it cuts (`compaction.ts`,
 * `TURN_PREFIX_…`).
 */
const SUMMARY =
  /CONTEXT CHECKPOINT|hand-?off summary|(create|provide|write|produce|generate|update) (a|an|the|your)?\s*([\w-]+,? )*(summary|snapshot|recap)|summari[sz]e (the|this|our)|state_snapshot|anchored summary|Only summarize information explicitly present/i;

export interface Tool {
  readonly name: string;
  readonly namespace?: string;
  readonly schema: Json;
}

/** Declared tools; for newer Responses models they are in an input item, in namespaces. */
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

/** A request's purpose by its tools and text. */
export function classifyRequest(body: Json): RequestKind {
  if (isOwnSummary(body)) return 'ours';
  if (SUMMARY.test(lastWords(body))) return 'summary';
  return listTools(body).some(({ name }) => SHELL.test(name) || READ.test(name)) ? 'main' : 'small';
}

/**
 * The gateway's summary prompt (src/core/condense/summary/prompt.ts), at its place on each wire.
 */
const isOwnSummary = ({ system, instructions, systemInstruction, messages }: Json): boolean =>
  JSON.stringify([system, instructions, systemInstruction, objects(messages)[0]]).includes(
    'You write the summary with which an AI coding agent goes on working',
  );

/** The summary returned to the gateway. */
export const OWN_SUMMARY = 'The user wants the project put in order; the first files are done, the others are open.';

/** Text of the newest item; '' for a tool result. */
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

/** A value that satisfies a JSON Schema, with `hint` as text. */
function sample(schema: unknown, name: string, hint: (name: string) => unknown): unknown {
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
    // If nothing is required, gives what fits.
    const chosen =
      wanted.length > 0
        ? all.filter(([key]) => wanted.includes(key))
        : all.filter(([key]) => FITS.test(key)).slice(0, 1);
    return Object.fromEntries(chosen.map(([key, value]) => [key, sample(value, key, hint)]));
  }
  if (kind === 'array')
    return /^(command|cmd)$/i.test(name) ? ['bash', '-lc', hint(name)] : [sample(items, name, hint)];
  if (kind === 'boolean') return false;
  if (kind === 'integer' || kind === 'number') return 1;
  return hint(name);
}

/** An answer to a structured check: nothing found. */
function asSchema({ generationConfig: config }: Json): string | undefined {
  const schema = isObject(config) ? (config['responseJsonSchema'] ?? config['responseSchema']) : undefined;
  if (schema === undefined) return undefined;
  const found = sample(schema, '', () => 'Nothing was found.');
  return JSON.stringify(found, (_field, value: unknown) => (typeof value === 'number' ? 0 : value));
}

const FITS = /command|cmd|path|file|message|prompt/i;

/** A call that runs a command or reads a file. */
export function called(
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
  const input = sample(tool.schema, '', hint);
  return {
    id: callId(),
    name: tool.name,
    input: isObject(input) ? input : {},
    ...(tool.namespace !== undefined && { namespace: tool.namespace }),
  };
}

/** Unique across a session's servers. */
const callId = (): string => `toolu_${randomBytes(9).toString('hex')}`;

const quoted = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`;

/** VS Code's tools of the task as shell commands. */
function toCommand({ name, input }: ScriptedCall): { command: string; file?: string } {
  const { filePath, startLine, endLine, query, path, oldString, newString } = input as Readonly<Record<string, string>>;
  switch (name) {
    case 'read_file':
      return { command: `sed -n '${startLine ?? 1},${endLine ?? 1}p' ${quoted(filePath ?? '')}`, file: filePath ?? '' };
    case 'grep_search':
      return { command: `grep -rnE ${quoted(query ?? '')} src | head -40` };
    case 'list_dir':
      return { command: `ls -la ${quoted(path ?? '.')}` };
    case 'replace_string_in_file': {
      const from = JSON.stringify([filePath, oldString, newString]);
      const script = `const [file, from, to] = ${from}; const fs = require('fs'); fs.writeFileSync(file, fs.readFileSync(file, 'utf8').replace(from, () => to))`;
      return { command: `node -e ${quoted(script)}` };
    }
    default:
      throw new Error(`No command for ${name}.`);
  }
}

/** The task's calls for any agent, one answer each. */
function plan(work: string, calls: number): { text: string; calls: { command: string; file?: string }[] }[] {
  return bigTask(work, 7, calls).steps.map((step) => ({ text: step.text, calls: step.calls.map(toCommand) }));
}

/** A strict server; all servers of this process share a vendor's key. */
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

/** Share of the task after which the model recalls removed content, if any. */
const RECALL_AT = [0.5, 0.8];

export async function startUpstream(options: UpstreamOptions): Promise<Upstream> {
  const { work, calls, faults } = options;
  const steps = plan(work, calls);
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
    const shell = tools.find(({ name }) => SHELL.test(name));
    const read = tools.find(({ name }) => READ.test(name));
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
      return reply(asSchema(body) ?? 'A short answer');
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
    const recall = tools.find(({ name }) => RECALL.test(name));
    const reference = recall && wanted.some((at) => next >= at) ? markerIn(body, asked) : undefined;
    if (recall && reference !== undefined && fault === undefined) {
      wanted.shift();
      asked.push(reference);
      const { name, namespace } = recall;
      const call = { id: callId(), name, input: { references: [reference] } };
      return {
        ...thought(body),
        kind: 'reply',
        ...said('I need that again.'),
        calls: [{ ...call, ...(namespace !== undefined && { namespace }) }],
      };
    }
    const step = steps[next];
    if (!step) return reply('All of it is done.');
    const answer = {
      ...thought(body),
      kind: 'reply' as const,
      ...said(step.text),
      calls: step.calls.map(({ command, file }, index) => {
        // Half of the whole-file reads use the agent's own tool.
        const tool = file !== undefined && read && (next + index) % 2 === 0 ? read : (shell ?? read);
        if (!tool) throw new Error('no tool');
        return called(tool, { command, work, ...(file !== undefined && { file }) });
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
    asked: isAsked,
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

/** Thinking if the request enables it. */
export function thought({ thinking, include, generationConfig }: Json): { readonly thinking?: string } {
  const config = isObject(generationConfig) ? generationConfig['thinkingConfig'] : undefined;
  const isWanted =
    (isObject(thinking) && thinking['type'] !== 'disabled') ||
    (Array.isArray(include) && include.includes('reasoning.encrypted_content')) ||
    (isObject(config) && config['includeThoughts'] === true);
  return isWanted ? { thinking: 'What comes next follows from what was found.' } : {};
}

/** A reference in a marker that was not requested yet. */
function markerIn(body: Json, asked: readonly string[]): string | undefined {
  const markers = findMarkers(JSON.stringify(listItems(body)));
  return markers.map(({ reference }) => reference).find((reference) => !asked.includes(reference));
}
