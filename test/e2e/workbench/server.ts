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
import { ensureCodeServer, environment, getNode24Path } from '../../../scripts/vscode.mjs';
import { endProcess, runProcess, start } from './processes';
import { until } from './wait';

export type Settings = Record<string, unknown>;
/** A group of models, as stored in `User/chatLanguageModels.json`. */
export type ModelGroup = { readonly name: string; readonly vendor: string } & Record<string, unknown>;

export interface ServerOptions {
  readonly extensionsDir?: string;
  readonly settings?: Settings;
  /**
   * Settings for the machine's file: code-server is remote, so they have no effect in the user's
   * file.
   */
  readonly machineSettings?: Settings;
  readonly models?: readonly ModelGroup[];
  /** Home folder of extensions. Default: a new empty one, never the developer's. */
  readonly home?: string;
  /** Additional environment for server and extensions; undefined removes a variable. */
  readonly env?: NodeJS.ProcessEnv;
  /** Port. Default: any free one. */
  readonly port?: number;
  /** Leaves workspace trust enabled, so that folders open in restricted mode. */
  readonly workspaceTrust?: boolean;
}

export interface Server {
  readonly base: string;
  readonly authority: string;
  /** Folder of the user's data: `User/settings.json`, `logs/` … */
  readonly data: string;
  readonly home: string;
  readonly extensionsDir: string;
  /** Initial user and machine settings. */
  readonly settings: Settings;
  /** Folder in which the helpers of its windows announce themselves. */
  readonly helpers: string;
  /**
   * Adds settings to the user's file. Windows notice this only when they are loaded, so call
   * `reload()`.
   */
  writeSettings(settings: Settings): void;
  /** Returns the text of an output channel, from the folder of logs; '' if there is none. */
  outputText(channel: string): string;
  /** Number of windows loaded with the built-in agent, each of which starts one. */
  agentLoads: number;
  /** Returns the output of code-server itself. */
  log(): string;
  /** Ends the server as if VS Code were closed, and keeps its folders. */
  end(): Promise<void>;
  /** Ends the server and removes its folders. */
  stop(): Promise<void>;
}

export const temporaryFolder = (name: string): string => mkdtempSync(join(tmpdir(), `cc-${name}-`));

/**
 * Built-in extensions that scenarios need. Every server, window and extension host would read the
 * other eighty, too, and some of them start servers for files that the agent reads.
 */
const BUILT_IN = [
  'theme-defaults',
  'theme-seti',
  'copilot',
  // The built-in agent waits for the authentication status.
  'github-authentication',
  'javascript',
  'json',
  'log',
  'markdown-basics',
  'prompt-basics',
  'typescript-basics',
];

let builtInFolder: string | undefined;

/** Creates the folder with the extensions in {@link BUILT_IN}, which all servers of a run share. */
function builtInExtensions(entry: string): string {
  if (builtInFolder !== undefined) return builtInFolder;
  const folder = temporaryFolder('built-in');
  process.on('exit', () => {
    rmSync(folder, { recursive: true, force: true });
  });
  const all = join(dirname(entry), '..', '..', 'lib', 'vscode', 'extensions');
  for (const name of BUILT_IN) symlinkSync(join(all, name), join(folder, name), 'dir');
  return (builtInFolder = folder);
}

/**
 * Disables services that aren't needed, but that VS Code would start or contact for each window.
 */
const DISABLED_FEATURE_ARGS = [
  // Prevents VS Code from starting a process as agent host.
  '--vscode-option=agent-host-bridge-host=127.0.0.1',
  // Compression is useless on the same machine.
  '--vscode-option=disable-websocket-compression',
];

/** Disables the extension gallery. */
const NO_GALLERY = { EXTENSIONS_GALLERY: '{}' };

const defaults: Settings = {
  'telemetry.telemetryLevel': 'off',
  // Avoids a message above the chat, which VS Code shows if 20 or more ports are in use.
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
  // Without a GPU, the CPU would have to render animations.
  'workbench.reduceMotion': 'on',
  'workbench.secondarySideBar.defaultVisibility': 'hidden',
};

/** Variables that contain keys or data folders of agents, which no test may see. */
const removedVariables = [
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
  const keptVariables = Object.entries(environment()).filter(
    ([name]) => !removedVariables.includes(name) && !name.startsWith('VSCODE_'),
  );
  return { ...Object.fromEntries(keptVariables), HOME: home, USERPROFILE: home, ...extra };
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

/**
 * Installs a VSIX as a user does.
 * @returns the folder of the extensions
 */
export async function installExtension(vsix: string, extensionsDir = temporaryFolder('extensions')): Promise<string> {
  const entry = await ensureCodeServer();
  const scratch = temporaryFolder('install');
  try {
    await runProcess(
      getNode24Path(),
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

/**
 * Starts code-server on 127.0.0.1, with its own folder of user data. It ends with this process, or
 * when no client is connected.
 */
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
  const initialSettings: Settings = { ...settings, ...options.machineSettings };
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
    ...DISABLED_FEATURE_ARGS,
  ];
  const quietArgs = ['--disable-telemetry', '--disable-update-check', '--disable-getting-started-override'];
  if (!trust) quietArgs.push('--disable-workspace-trust');
  const child = start(
    getNode24Path(),
    [entry, ...args, ...quietArgs, '--ignore-last-opened', '--idle-timeout-seconds', '300'],
    {
      env: serverEnvironment(home, { ...NO_GALLERY, CONTEXT_CONDENSER_E2E_HELPER: helpers, ...options.env }),
    },
  );
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
    settings: initialSettings,
    helpers,
    writeSettings(more) {
      // VS Code may have written the file in the meantime.
      settings = { ...(JSON.parse(readFileSync(settingsFile, 'utf8')) as Settings), ...more };
      // The file is replaced in one step, because VS Code ignores a partial file and asks to
      // reload.
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
    end: () => endProcess(child),
    async stop() {
      await endProcess(child);
      for (const folder of [
        data,
        ...(options.home === undefined ? [home] : []),
        ...(options.extensionsDir === undefined ? [extensionsDir] : []),
      ])
        if (existsSync(folder)) rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
