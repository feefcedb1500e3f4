import {
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { ensureCodeServer, environment, node24 } from '../../../scripts/vscode.mjs';
import { end, run, start } from './processes';
import { until } from './wait';

export type Settings = Record<string, unknown>;
/** A saved group of models, as `User/chatLanguageModels.json` holds it. */
export type ModelGroup = { readonly name: string; readonly vendor: string } & Record<string, unknown>;

export interface ServerOptions {
  readonly extensionsDir?: string;
  readonly settings?: Settings;
  /** Settings of the machine: VS Code takes code-server for a remote one, and theirs do not count in the user's file. */
  readonly machineSettings?: Settings;
  readonly models?: readonly ModelGroup[];
  /** The home folder that extensions see. Default: a new, empty one, so that no test reads the developer's own conversations. */
  readonly home?: string;
  /** More environment for the server and so for extensions; an undefined value removes a name. */
  readonly env?: NodeJS.ProcessEnv;
  /** Where it listens. Default: a free port. */
  readonly port?: number;
  /** Keeps VS Code's workspace trust on: a folder then opens in restricted mode. */
  readonly workspaceTrust?: boolean;
}

export interface Server {
  readonly base: string;
  readonly authority: string;
  /** The user data folder: `User/settings.json`, `logs/` … */
  readonly data: string;
  readonly home: string;
  readonly extensionsDir: string;
  /** The user's and the machine's settings as it was started with them. */
  readonly settings: Settings;
  /** Where the helpers of its windows say that they are there. */
  readonly helpers: string;
  /** Merges into the user settings file. A window notices at its next load only: call `reload()` after it. */
  writeSettings(settings: Settings): void;
  /** The whole text of an output channel, read from the log folder: '' while there is none. */
  outputText(channel: string): string;
  /** How often a window with VS Code's own agent was loaded: each load starts one. */
  agentLoads: number;
  /** The output of code-server itself. */
  log(): string;
  /** Ends it, as closing VS Code does; its folders are still there. */
  end(): Promise<void>;
  /** Ends it and removes its folders. */
  stop(): Promise<void>;
}

export const temporaryFolder = (name: string): string => mkdtempSync(join(tmpdir(), `cc-${name}-`));

/**
 * Of the extensions that VS Code brings along those that a window of a scenario shows or asks: each of the other eighty is read by every
 * server, and by every window and its extension host, and some start servers of their own for a file that the agent reads.
 */
const BUILT_IN = [
  'theme-defaults',
  'theme-seti',
  'copilot',
  // Whether somebody is signed in: the agent waits for an answer.
  'github-authentication',
  'javascript',
  'json',
  'log',
  'markdown-basics',
  'prompt-basics',
  'typescript-basics',
];

let builtIn: string | undefined;

/** The folder of {@link BUILT_IN}, which all servers of a run share. */
function builtInExtensions(entry: string): string {
  if (builtIn !== undefined) return builtIn;
  const folder = temporaryFolder('built-in');
  process.on('exit', () => {
    rmSync(folder, { recursive: true, force: true });
  });
  const all = join(dirname(entry), '..', '..', 'lib', 'vscode', 'extensions');
  for (const name of BUILT_IN) symlinkSync(join(all, name), join(folder, name), 'dir');
  return (builtIn = folder);
}

/** What VS Code itself has no use for here, and would start or ask for with every window. */
const WITHOUT = [
  // The host of agents that run beside the windows: a bridge to none.
  '--vscode-option=agent-host-bridge-host=127.0.0.1',
  // On this machine the bytes cost nothing.
  '--vscode-option=disable-websocket-compression',
];

/** No gallery of extensions. */
const NO_GALLERY = { EXTENSIONS_GALLERY: '{}' };

const defaults: Settings = {
  'telemetry.telemetryLevel': 'off',
  // The machine's other programs listen too, and from 20 ports on VS Code says so above the chat.
  'remote.autoForwardPorts': false,
  'workbench.startupEditor': 'none',
  'workbench.colorTheme': 'Dark Modern',
  'workbench.tips.enabled': false,
  'workbench.enableExperiments': false,
  'extensions.autoCheckUpdates': false,
  'extensions.autoUpdate': 'off',
  'extensions.ignoreRecommendations': true,
  'git.enabled': false,
  'editor.cursorBlinking': 'solid',
  'window.commandCenter': false,
  // Each step of an animation is drawn by the processor.
  'workbench.reduceMotion': 'on',
  'workbench.secondarySideBar.defaultVisibility': 'hidden',
};

/** The names by which agents are told where their data is: a developer's own must not reach a test. */
const removed = [
  'CLAUDE_CONFIG_DIR',
  'CODEX_HOME',
  'ANTHROPIC_API_KEY',
  'OPENAI_API_KEY',
  'XDG_CONFIG_HOME',
  'XDG_DATA_HOME',
  'XDG_CACHE_HOME',
  'XDG_STATE_HOME',
  'NODE_OPTIONS',
  'PORT',
  'PASSWORD',
];

function serverEnvironment(home: string, extra: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
  const kept = Object.entries(environment()).filter(([name]) => !removed.includes(name) && !name.startsWith('VSCODE_'));
  return { ...Object.fromEntries(kept), HOME: home, USERPROFILE: home, ...extra };
}

export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer()
      .on('error', reject)
      .listen(0, '127.0.0.1', () => {
        const address = probe.address();
        probe.close(() => {
          if (typeof address === 'object' && address !== null) resolve(address.port);
          else reject(new Error('no free port'));
        });
      });
  });
}

/** Installs a VSIX as a user would. Gives the extensions folder. */
export async function installExtension(vsix: string, extensionsDir = temporaryFolder('extensions')): Promise<string> {
  const entry = await ensureCodeServer();
  const scratch = temporaryFolder('install');
  try {
    await run(
      node24(),
      [entry, '--extensions-dir', extensionsDir, '--user-data-dir', scratch, '--install-extension', vsix, '--force'],
      {
        env: serverEnvironment(scratch),
      },
    );
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
  return extensionsDir;
}

/** Starts code-server on 127.0.0.1 with a user data folder of its own. It ends with this process, and by itself when nobody is connected. */
export async function startServer(options: ServerOptions = {}): Promise<Server> {
  const entry = await ensureCodeServer();
  const data = temporaryFolder('data');
  const home = options.home ?? temporaryFolder('home');
  const extensionsDir = options.extensionsDir ?? temporaryFolder('extensions');
  const settingsFile = join(data, 'User', 'settings.json');
  const trust = options.workspaceTrust === true;
  let settings: Settings = { ...defaults, 'security.workspace.trust.enabled': trust, ...options.settings };
  const helpers = join(data, 'helpers');
  for (const folder of ['User', 'helpers']) mkdirSync(join(data, folder), { recursive: true });
  const begun: Settings = { ...settings, ...options.machineSettings };
  writeFileSync(settingsFile, JSON.stringify(settings, null, 2));
  if (options.machineSettings) {
    mkdirSync(join(data, 'Machine'), { recursive: true });
    writeFileSync(join(data, 'Machine', 'settings.json'), JSON.stringify(options.machineSettings, null, 2));
  }
  writeFileSync(join(data, 'User', 'chatLanguageModels.json'), JSON.stringify(options.models ?? []));

  const port = options.port ?? (await freePort());
  const args = [
    '--auth',
    'none',
    '--bind-addr',
    `127.0.0.1:${port}`,
    '--user-data-dir',
    data,
    '--extensions-dir',
    extensionsDir,
    '--builtin-extensions-dir',
    builtInExtensions(entry),
    ...WITHOUT,
  ];
  const quiet = ['--disable-telemetry', '--disable-update-check', '--disable-getting-started-override'];
  if (!trust) quiet.push('--disable-workspace-trust');
  const child = start(node24(), [entry, ...args, ...quiet, '--ignore-last-opened', '--idle-timeout-seconds', '300'], {
    env: serverEnvironment(home, { ...NO_GALLERY, CONTEXT_CONDENSER_E2E_HELPER: helpers, ...options.env }),
  });
  let log = '';
  child.stdout?.on('data', (chunk: Buffer) => (log += chunk.toString()));
  child.stderr?.on('data', (chunk: Buffer) => (log += chunk.toString()));
  await until('code-server to listen', () => {
    if (child.exitCode !== null) throw new Error(`code-server ended with ${child.exitCode}: ${log.slice(-2000)}`);
    return log.includes('HTTP server listening');
  });

  return {
    base: `http://127.0.0.1:${port}`,
    authority: `127.0.0.1:${port}`,
    data,
    home,
    extensionsDir,
    settings: begun,
    helpers,
    writeSettings(more) {
      // VS Code may have written to the file meanwhile.
      settings = { ...(JSON.parse(readFileSync(settingsFile, 'utf8')) as Settings), ...more };
      // In one step: of a file that is half written VS Code reads no settings, and asks to reload for those that need it.
      writeFileSync(`${settingsFile}.new`, JSON.stringify(settings, null, 2));
      renameSync(`${settingsFile}.new`, settingsFile);
    },
    agentLoads: 0,
    outputText(channel) {
      const files = globSync(`logs/**/{${channel},*-${channel}}.log`, { cwd: data });
      return files
        .toSorted()
        .map((file) => readFileSync(join(data, file), 'utf8'))
        .join('');
    },
    log: () => log,
    end: () => end(child),
    async stop() {
      await end(child);
      for (const folder of [
        data,
        ...(options.home === undefined ? [home] : []),
        ...(options.extensionsDir === undefined ? [extensionsDir] : []),
      ])
        if (existsSync(folder)) rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
