/**
 * Defines the real agents for the long tests: their packages, their configuration for a custom
 * server, and how they run without a user. Versions are pinned, since newer ones may send other
 * requests.
 */
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { WireName } from '../../src/gateway/wires/wire';
import type { Fault } from '../servers/behaviour';
import { CODEX_APP_SERVER_COMPACTOR, PI_RPC_COMPACTOR, SERVE_COMPACTOR, type Compactor } from './compactors';

/** Two kinds of rejections, and three ways to end a stream early. */
export type InjectedFault = '429' | '529' | Extract<Fault['kind'], 'cut' | 'error' | 'no-end'>;

/** Where a user has configured an agent to send its requests. */
export interface AgentSetting {
  readonly address: string;
  readonly wire: WireName;
  /** The model's window in tokens, if the agent's settings have one. */
  readonly window: number;
  readonly home: string;
  /** Names that the agent uses for model and provider. Default: names without a price. */
  readonly model?: string;
  readonly seller?: string;
}

export interface RealAgent {
  /** Its folder among the installed agents. */
  readonly name: string;
  /** The command that starts it. */
  readonly command: string;
  /** Packages to install, without running their scripts. */
  readonly packages: readonly string[];
  /** The program in `node_modules`: a Node script or a native binary. */
  readonly program: string;
  /** Minimum Node version; absent if the program is a binary or runs in any version. */
  readonly node?: 24;
  readonly wires: readonly WireName[];
  /** Files below the home folder; non-strings are written as JSON. */
  files(setting: AgentSetting): Readonly<Record<string, unknown>>;
  env(setting: AgentSetting): Readonly<Record<string, string>>;
  /** Returns the arguments for a task, in a new session or in the last one. */
  args(task: string, wire: WireName, isAgain: boolean, home: string): readonly string[];
  /** Changes the arguments that resume the last session so that they fork it. */
  fork?(args: readonly string[], home: string): readonly string[];
  /** Input that makes the agent compact the session. */
  readonly compaction?: string;
  /** Compacts the session of an agent that has no input for this. */
  readonly compactor?: Compactor;
  /** True if its subagents also work without a user. */
  readonly canDelegate?: boolean;
  /** Files (see {@link files}) and variables that make the agent compact at about 60,000 tokens. */
  readonly smallWindow?: {
    readonly files?: Readonly<Record<string, unknown>>;
    readonly env?: Readonly<Record<string, string>>;
  };
  /** Kinds of requests that the agent does not record, such as for titles or checks. */
  readonly unrecordedKinds?: readonly ('small' | 'summary')[];
  /** Faults that end its task even without a gateway; they are tested separately. */
  readonly fatalFaults: readonly InjectedFault[];
  /**
   * Text that the agent substitutes for old results during a task, so that a request doesn't begin
   * with the same messages as the previous one.
   */
  readonly replacedResults?: RegExp;
  /** Text that the agent shows when ready, if it resumes sessions only in a terminal. */
  readonly resumePrompt?: string;
  /** Arguments that end what the agent leaves running. */
  readonly endArguments?: readonly string[];
  /**
   * True if the agent sends each result twice in resumed sessions, which its vendor rejects even
   * without us.
   */
  readonly doublesResults?: boolean;
  /** Files that the agent installs while it runs. */
  readonly installedFiles?: RegExp;
  /** Files in which the agent logs the output of MCP servers. */
  readonly serverLogs?: RegExp;
  /**
   * Files that contain long results. Their names contain tool and call, and depend on the results.
   */
  readonly keptResults?: RegExp;
  /** Files in which the agent logs its requests and its configured address. */
  readonly requestLogs?: RegExp;
}

const PLATFORM = `${process.platform}-${process.arch}`;
export const KEY = 'dummy-key';
const CLEARED_RESULT = /\[Old tool result content cleared\]/g;
const VERSION_PATH_BY_WIRE: Readonly<Record<WireName, string>> = {
  anthropic: '/v1',
  chat: '/v1',
  responses: '/v1',
  gemini: '/v1beta',
};

/** Returns the newest folder, by the time in the folders' names. */
const findNewestFolder = (folder: string): string => readdirSync(folder).sort().at(-1) ?? '';

const GEMINI_SETTINGS = {
  security: { auth: { selectedType: 'gemini-api-key' } },
  privacy: { usageStatisticsEnabled: false },
  telemetry: { enabled: false },
  general: { enableAutoUpdate: false, enableAutoUpdateNotification: false },
};

const QWEN_SETTINGS = {
  privacy: { usageStatisticsEnabled: false },
  telemetry: { enabled: false },
  general: { enableAutoUpdate: false, disableAutoUpdate: true },
};

/**
 * In Codex, the provider `openai` is built in and uses only OpenAI's servers, so ours needs another
 * name.
 */
const codexProvider = (seller: string): string => (seller === 'openai' ? 'openai-codex' : seller);

const CODEX_TARGETS: Readonly<Record<string, string>> = {
  'linux-x64': 'x86_64-unknown-linux-musl',
  'linux-arm64': 'aarch64-unknown-linux-musl',
  'darwin-x64': 'x86_64-apple-darwin',
  'darwin-arm64': 'aarch64-apple-darwin',
};

/** Defines OpenCode or its fork Kilo. */
const makeOpenCodeAgent = (name: string, pinned: string, program: string): RealAgent => ({
  name,
  command: name,
  packages: [pinned],
  program,
  wires: ['anthropic', 'chat', 'responses', 'gemini'],
  files: ({ address, wire, window, model = 'scripted', seller = 'local' }) => ({
    [`.config/${name}/${name}.json`]: {
      autoupdate: false,
      share: 'disabled',
      snapshot: false,
      model: `${seller}/${model}`,
      permission: { '*': 'allow' },
      provider: {
        [seller]: {
          npm: {
            anthropic: '@ai-sdk/anthropic',
            chat: '@ai-sdk/openai-compatible',
            responses: '@ai-sdk/openai',
            gemini: '@ai-sdk/google',
          }[wire],
          name: 'local',
          options: { baseURL: `${address}${VERSION_PATH_BY_WIRE[wire]}`, apiKey: KEY },
          models: {
            [model]: {
              name: model,
              limit: { context: window, output: 8_192 },
              reasoning: true,
              tool_call: true,
            },
          },
        },
      },
    },
  }),
  env: () => ({
    ...Object.fromEntries(
      ['AUTOUPDATE', 'MODELS_FETCH', 'LSP_DOWNLOAD', 'DEFAULT_PLUGINS', 'SHARE', 'SESSION_INGEST'].map((what) => [
        `${name.toUpperCase()}_DISABLE_${what}`,
        '1',
      ]),
    ),
    ...(name === 'kilo' && { KILO_TELEMETRY_LEVEL: 'off' }),
  }),
  args: (task, _wire, isAgain) => ['run', ...(isAgain ? ['-c'] : []), task],
  fork: (args) => args.toSpliced(-1, 0, '--fork'),
  compactor: SERVE_COMPACTOR,
  canDelegate: true,
  smallWindow: {},
  unrecordedKinds: ['small'],
  fatalFaults: name === 'kilo' ? ['cut'] : [],
  // OpenCode replaces old results only if configured to.
  ...(name === 'kilo' && { replacedResults: CLEARED_RESULT }),
  // The package of its plugins is installed in the background.
  installedFiles: new RegExp(`^\\.config/${name}/(node_modules/|package(-lock)?\\.json$|\\.gitignore$|bun\\.lock)`),
});

export const REAL_AGENTS: readonly RealAgent[] = [
  {
    name: 'codex',
    command: 'codex',
    packages: ['@openai/codex@0.171.0'],
    program: `@openai/codex-${PLATFORM}/vendor/${CODEX_TARGETS[PLATFORM] ?? 'unknown'}/bin/codex`,
    wires: ['responses'],
    files: ({ address, window, model = 'scripted', seller = 'local' }) => ({
      '.codex/config.toml': `model = "${model}"
model_provider = "${codexProvider(seller)}"
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false
model_context_window = ${window}
[features]
plugins = false
apps = false
[analytics]
enabled = false
[model_providers.${codexProvider(seller)}]
name = "local"
base_url = "${address}/v1"
env_key = "LOCAL_KEY"
wire_api = "responses"
`,
    }),
    env: () => ({ LOCAL_KEY: KEY }),
    args: (task, _wire, isAgain) => ['exec', ...(isAgain ? ['resume', '--last'] : []), '--skip-git-repo-check', task],
    fork: (args, home) => {
      const files = readdirSync(join(home, '.codex', 'sessions'), { recursive: true }) as string[];
      const rollouts = files.filter((file) => file.endsWith('.jsonl')).sort();
      const id = /[0-9a-f]{8}-[0-9a-f-]{27}(?=\.jsonl$)/.exec(rollouts.at(-1) ?? '')?.[0] ?? '';
      return args.flatMap((arg) => (arg === 'resume' ? ['fork'] : arg === '--last' ? [id] : [arg]));
    },
    compactor: CODEX_APP_SERVER_COMPACTOR,
    canDelegate: true,
    smallWindow: {},
    fatalFaults: [],
    requestLogs: /^\.codex\/logs_\d+\.sqlite$/,
  },
  {
    name: 'gemini',
    command: 'gemini',
    packages: ['@google/gemini-cli@0.61.0'],
    program: '.bin/gemini',
    wires: ['gemini'],
    files: () => ({ '.gemini/settings.json': GEMINI_SETTINGS }),
    env: ({ address }) => ({ GEMINI_API_KEY: KEY, GOOGLE_GEMINI_BASE_URL: address }),
    args: (task, _wire, isAgain) => [
      '--yolo',
      '--skip-trust',
      '-m',
      'gemini-2.5-pro',
      ...(isAgain ? ['-r', 'latest'] : []),
      '-p',
      task,
    ],
    compaction: '/compress',
    canDelegate: true,
    smallWindow: { files: { '.gemini/settings.json': { ...GEMINI_SETTINGS, model: { compressionThreshold: 0.05 } } } },
    fatalFaults: ['cut'],
    replacedResults: /<tool_output_masked>/g,
    doublesResults: true,
    serverLogs: /context-condenser/,
    keptResults: /^\.gemini\/tmp\/[^/]+\/tool-outputs\/(session-[^/]+\/)?[\w-]+\.txt$/,
  },
  makeOpenCodeAgent('opencode', 'opencode-ai@1.18.33', `opencode-${PLATFORM}/bin/opencode`),
  {
    name: 'pi',
    command: 'pi',
    packages: ['@earendil-works/pi-coding-agent@1.6.0'],
    program: '.bin/pi',
    wires: ['anthropic', 'chat', 'responses', 'gemini'],
    files: ({ address, wire, window, model = 'scripted', seller = 'local' }) => ({
      '.pi/agent/settings.json': { compaction: { keepRecentTokens: 100 } },
      '.pi/agent/models.json': {
        providers: {
          [seller]: {
            baseUrl: `${address}${wire === 'anthropic' ? '' : VERSION_PATH_BY_WIRE[wire]}`,
            apiKey: KEY,
            api: {
              anthropic: 'anthropic-messages',
              chat: 'openai-completions',
              responses: 'openai-responses',
              gemini: 'google-generative-ai',
            }[wire],
            models: [
              {
                id: model,
                name: model,
                reasoning: true,
                input: ['text'],
                cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
                contextWindow: window,
                maxTokens: 8_192,
              },
            ],
          },
        },
      },
    }),
    env: () => ({ PI_OFFLINE: '1', PI_SKIP_VERSION_CHECK: '1', PI_TELEMETRY: '0' }),
    args: (task, _wire, isAgain) => [
      '--provider',
      'local',
      '--model',
      'scripted',
      ...(isAgain ? ['-c'] : []),
      '-p',
      task,
    ],
    fork: (args, home) => {
      const sessions = join(home, '.pi', 'agent', 'sessions');
      const folder = join(sessions, findNewestFolder(sessions));
      return args.flatMap((arg) => (arg === '-c' ? ['--fork', join(folder, findNewestFolder(folder))] : [arg]));
    },
    compactor: PI_RPC_COMPACTOR,
    smallWindow: {},
    fatalFaults: [],
  },
  {
    name: 'cline',
    command: 'cline',
    packages: ['cline@3.0.65'],
    program: `@cline/cli-${PLATFORM}/bin/cline`,
    wires: ['anthropic', 'chat', 'responses'],
    files: ({ address, wire, model = 'claude-sonnet-4-5' }) => {
      const provider = {
        anthropic: 'anthropic',
        chat: 'openai-compatible',
        responses: 'openai-native',
        gemini: 'gemini',
      }[wire];
      const settings = { provider, apiKey: KEY, model, baseUrl: `${address}${VERSION_PATH_BY_WIRE[wire]}` };
      return {
        '.cline/data/settings/providers.json': {
          version: 1,
          lastUsedProvider: provider,
          modes: {},
          providers: { [provider]: { settings, updatedAt: '2026-01-01T00:00:00.000Z', tokenSource: 'manual' } },
        },
        '.cline/data/settings/global-settings.json': { telemetryOptOut: true, autoUpdateEnabled: false },
      };
    },
    env: () => ({ CLINE_NO_AUTO_UPDATE: '1', CLINE_SESSION_BACKEND_MODE: 'local' }),
    args: (task, _wire, isAgain, home) => [
      '--auto-approve',
      'true',
      ...(isAgain ? ['--id', findNewestFolder(join(home, '.cline/data/sessions'))] : [task]),
    ],
    fatalFaults: ['cut'],
    replacedResults: /\[outdated - see the latest file content\]/g,
    resumePrompt: 'Ask anything',
    endArguments: ['hub', 'stop'],
  },
  makeOpenCodeAgent('kilo', '@kilocode/cli@7.7.7', `@kilocode/cli-${PLATFORM}/bin/kilo`),
  {
    name: 'qwen',
    command: 'qwen',
    packages: ['@qwen-code/qwen-code@0.24.4'],
    program: '.bin/qwen',
    node: 24,
    wires: ['chat', 'anthropic', 'responses', 'gemini'],
    files: () => ({ '.qwen/settings.json': QWEN_SETTINGS }),
    env: ({ address, wire, model = 'scripted' }) => {
      switch (wire) {
        case 'anthropic':
          return { ANTHROPIC_BASE_URL: address, ANTHROPIC_API_KEY: KEY, ANTHROPIC_MODEL: model };
        case 'gemini':
          return { GOOGLE_GEMINI_BASE_URL: address, GEMINI_API_KEY: KEY, GEMINI_MODEL: model };
        case 'chat':
        case 'responses':
          return { OPENAI_BASE_URL: `${address}/v1`, OPENAI_API_KEY: KEY, OPENAI_MODEL: model };
      }
    },
    args: (task, wire, isAgain) => [
      '--yolo',
      '--auth-type',
      { anthropic: 'anthropic', gemini: 'gemini', responses: 'openai-responses', chat: 'openai' }[wire],
      ...(isAgain ? ['-c'] : []),
      '-p',
      task,
    ],
    fork: (args) => ['--fork-session', ...args],
    compaction: '/compress',
    canDelegate: true,
    smallWindow: {
      files: {
        '.qwen/settings.json': { ...QWEN_SETTINGS, model: { generationConfig: { contextWindowSize: 100_000 } } },
      },
    },
    fatalFaults: [],
    replacedResults: CLEARED_RESULT,
  },
  {
    name: 'continue',
    command: 'cn',
    packages: ['@continuedev/cli@1.5.47'],
    program: '.bin/cn',
    wires: ['anthropic', 'chat'],
    files: ({ address, wire, window, model = 'scripted' }) => ({
      '.continue/config.yaml': `name: local
version: 1.0.0
schema: v1
models:
  - name: ${model}
    provider: ${wire === 'chat' ? 'openai' : 'anthropic'}
    model: ${model}
    apiBase: ${address}/v1
    apiKey: ${KEY}
    roles: [chat, edit, apply]
    defaultCompletionOptions:
      contextLength: ${window}
      maxTokens: 8192
`,
    }),
    env: ({ home }) => ({
      CONTINUE_TELEMETRY_ENABLED: '0',
      CONTINUE_METRICS_ENABLED: '0',
      CONTINUE_CLI_ENABLE_TELEMETRY: '0',
      CONTINUE_GLOBAL_DIR: join(home, '.continue'),
    }),
    args: (task, _wire, isAgain) => ['--auto', ...(isAgain ? ['--resume'] : []), '-p', task],
    fork: (args, home) => {
      const sessions = JSON.parse(readFileSync(join(home, '.continue/sessions/sessions.json'), 'utf8')) as object[];
      const { sessionId = '' } = (sessions.at(-1) ?? {}) as { sessionId?: string };
      return args.flatMap((arg) => (arg === '--resume' ? ['--fork', sessionId] : [arg]));
    },
    compaction: '/compact',
    smallWindow: {},
    fatalFaults: ['429', 'cut'],
  },
  {
    name: 'claude',
    command: 'claude',
    packages: ['@anthropic-ai/claude-code@2.1.332'],
    program: `@anthropic-ai/claude-code-${PLATFORM}/claude`,
    wires: ['anthropic'],
    files: () => ({}),
    env: ({ address }) => ({
      ANTHROPIC_BASE_URL: address,
      ANTHROPIC_API_KEY: KEY,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      DISABLE_TELEMETRY: '1',
      DISABLE_ERROR_REPORTING: '1',
      DISABLE_AUTOUPDATER: '1',
    }),
    args: (task, _wire, isAgain) => [
      '--model',
      'claude-sonnet-4-5',
      '--allowedTools',
      'Bash,Read,mcp__context-condenser',
      ...(isAgain ? ['-c'] : []),
      '-p',
      task,
    ],
    fork: (args) => ['--fork-session', ...args],
    compaction: '/compact',
    canDelegate: true,
    smallWindow: { env: { CLAUDE_CODE_AUTO_COMPACT_WINDOW: '60000' } },
    fatalFaults: [],
    serverLogs: /mcp-logs-context-condenser/,
  },
  {
    name: 'copilot',
    command: 'copilot',
    packages: ['@github/copilot@1.0.102'],
    program: `@github/copilot-${PLATFORM}/copilot`,
    wires: ['responses', 'anthropic', 'chat'],
    files: () => ({}),
    env: ({ address, wire, window }) => ({
      COPILOT_PROVIDER_BASE_URL: wire === 'anthropic' ? address : `${address}/v1`,
      COPILOT_PROVIDER_TYPE: wire === 'anthropic' ? 'anthropic' : 'openai',
      ...(wire !== 'anthropic' && { COPILOT_PROVIDER_WIRE_API: wire === 'chat' ? 'completions' : 'responses' }),
      COPILOT_PROVIDER_API_KEY: KEY,
      COPILOT_MODEL: wire === 'anthropic' ? 'claude-sonnet-4.5' : 'gpt-5.1',
      COPILOT_PROVIDER_MAX_PROMPT_TOKENS: String(window),
      COPILOT_OFFLINE: 'true',
      COPILOT_AUTO_UPDATE: 'false',
    }),
    args: (task, _wire, isAgain) => ['--allow-all-tools', ...(isAgain ? ['--continue'] : []), '-p', task],
    // The agent caches the tool lists of its servers here.
    serverLogs: /\/mcp-tools\//,
    compaction: '/compact',
    canDelegate: true,
    // Copilot truncates command output, so the task fills only half of 60,000 tokens.
    smallWindow: { env: { COPILOT_PROVIDER_MAX_PROMPT_TOKENS: '30000' } },
    fatalFaults: [],
  },
];
