/**
 * Runs a task of a real agent in its own home folder, alone or with `context-condenser run`, and
 * inspects the files that it leaves there.
 */
import { execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { Writable } from 'node:stream';
import { promisify } from 'node:util';
import { getErrorCode } from '../../src/core/errors';
import type { WireName } from '../../src/gateway/wires/wire';
import type { AgentSetting, RealAgent } from './agents';

/**
 * Folder of the installed agents: `AGENTS_FOLDER`, or by default a folder that packaging ignores.
 */
export const INSTALLED = resolve(process.env['AGENTS_FOLDER'] ?? 'node_modules/.agents');

/**
 * Installs missing agents in pinned versions, without running their packages' scripts.
 * @returns a problem, or undefined
 */
export async function install({ name, packages, program }: RealAgent): Promise<string | undefined> {
  const folder = join(INSTALLED, name);
  const arePinnedVersionsInstalled = packages.every((one) => {
    const versionSeparator = one.lastIndexOf('@');
    const file = join(folder, 'node_modules', one.slice(0, versionSeparator), 'package.json');
    return (
      existsSync(file) &&
      (JSON.parse(readFileSync(file, 'utf8')) as { version?: string }).version === one.slice(versionSeparator + 1)
    );
  });
  if (!arePinnedVersionsInstalled) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'package.json'), '{"private":true}');
    const options = ['--ignore-scripts', '--save-exact', '--no-audit', '--no-fund', '--loglevel=error'];
    try {
      // This must not block, because other test windows are served meanwhile.
      await promisify(execFile)('npm', ['install', ...options, ...packages], { cwd: folder });
    } catch (error) {
      return `npm can't install ${packages.join(', ')}: ${String(error).split('\n')[0] ?? ''}`;
    }
  }
  return existsSync(join(folder, 'node_modules', program))
    ? undefined
    : `it has no program for ${process.platform}-${process.arch}`;
}

/** The folders of an agent: its home, its project, and our store. */
export interface AgentFolders {
  readonly home: string;
  readonly work: string;
  readonly store: string;
  /** Contains the commands of all agents, and is on PATH. */
  readonly bin: string;
}

export interface RunResult {
  /** Exit code, or "time limit". */
  readonly code: number | string;
  readonly seconds: number;
  readonly output: string;
}

export function makeAgentFolders(root: string, files: ReadonlyMap<string, string>): AgentFolders {
  const folders = {
    home: join(root, 'home'),
    work: join(root, 'work'),
    store: join(root, 'store'),
    bin: join(root, 'bin'),
  };
  for (const folder of Object.values(folders)) mkdirSync(folder, { recursive: true });
  for (const [path, content] of files) writeFileWithFolders(join(folders.work, path), content);
  return folders;
}

export function setUp(
  bed: AgentFolders,
  agent: RealAgent,
  setting: Omit<AgentSetting, 'home'>,
  more: Readonly<Record<string, unknown>> = {},
): Record<string, string> {
  const fullSetting = { ...setting, home: bed.home };
  for (const [path, content] of Object.entries({ ...agent.files(fullSetting), ...more }))
    writeFileWithFolders(
      join(bed.home, path),
      typeof content === 'string' ? content : JSON.stringify(content, null, 2),
    );
  const modules = join(INSTALLED, agent.name, 'node_modules');
  const isScript = agent.program.startsWith('.bin/');
  const node = agent.node === 24 ? resolve('node_modules/node/bin/node') : process.execPath;
  const command = [...(isScript ? [node] : []), join(modules, agent.program)].map((word) => `'${word}'`).join(' ');
  writeFileWithFolders(join(bed.bin, agent.command), `#!/bin/sh\nexec ${command} "$@"\n`);
  chmodSync(join(bed.bin, agent.command), 0o755);
  return {
    PATH: `${bed.bin}:${dirname(process.execPath)}:${process.env['PATH'] ?? ''}`,
    HOME: bed.home,
    TERM: 'dumb',
    LANG: 'C.UTF-8',
    ...agent.env(fullSetting),
  };
}

const writeFileWithFolders = (path: string, content: string): void => {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
};

export interface AgentTask {
  readonly dist: string;
  readonly agent: RealAgent;
  readonly wire: WireName;
  readonly task: string;
  readonly isAgain?: boolean;
  /** Options of `run`; without them, the agent runs alone. */
  readonly runOptions?: readonly string[];
  readonly limitSeconds: number;
  readonly inTerminal?: TerminalSession;
  /** Changes the arguments of the agent's command. */
  readonly args?: (args: readonly string[]) => readonly string[];
  /** Sends Ctrl+C when it resolves. */
  readonly interrupt?: Promise<unknown>;
  /** Writes to the agent, and can read its output so far. */
  readonly input?: (stdin: Writable, output: () => string) => Promise<void>;
}

/** An agent in a terminal, which does not exit by itself. */
export interface TerminalSession {
  /** Text that the agent shows when it accepts input. */
  readonly prompt: string;
  readonly types: string;
  /** Ends the agent when it resolves; the exit code is then 0. */
  readonly until: Promise<unknown>;
}

export function runAgent(bed: AgentFolders, env: Record<string, string>, task: AgentTask): Promise<RunResult> {
  const defaultArgs = task.agent.args(task.task, task.wire, task.isAgain === true, bed.home);
  const agentArgs = task.args?.(defaultArgs) ?? defaultArgs;
  const command =
    task.runOptions === undefined
      ? [join(bed.bin, task.agent.command), ...agentArgs]
      : [
          process.execPath,
          join(task.dist, 'cli.cjs'),
          'run',
          '--store',
          bed.store,
          ...task.runOptions,
          task.agent.command,
          ...agentArgs,
        ];
  return runCommand(command, bed.work, env, task.limitSeconds, task);
}

/** Runs a command in its own process group, and kills the group afterwards. */
export function runCommand(
  command: readonly string[],
  cwd: string,
  env: Record<string, string>,
  limitSeconds: number,
  { inTerminal, interrupt, input }: Pick<AgentTask, 'inTerminal' | 'interrupt' | 'input'> = {},
): Promise<RunResult> {
  return new Promise((done) => {
    const startTimeMs = Date.now();
    const quotedCommand = command.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ');
    const shell = `stty rows 40 cols 120; exec ${quotedCommand}`;
    const [program = '', ...args] = inTerminal ? ['script', '-qfec', shell, '/dev/null'] : command;
    const child = spawn(program, args, {
      cwd,
      env: inTerminal ? { ...env, TERM: 'xterm-256color' } : env,
      // A terminal closes when its input ends, so the input stays open.
      stdio: [inTerminal || input ? 'pipe' : 'ignore', 'pipe', 'pipe'],
      detached: true,
    });
    const killGroup = (): void => {
      try {
        if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
      } catch {
        // The group has already ended.
      }
    };
    let output = '';
    let isTimedOut = false;
    let typingTimer: NodeJS.Timeout | undefined;
    for (const stream of [child.stdout, child.stderr])
      stream?.on('data', (chunk: Buffer) => (output += chunk.toString()));
    const timer = setTimeout(() => {
      isTimedOut = true;
      killGroup();
    }, limitSeconds * 1000);
    const finish = (code: number | string): void => {
      clearTimeout(timer);
      clearInterval(typingTimer);
      killGroup();
      done({ code: isTimedOut ? 'time limit' : code, seconds: (Date.now() - startTimeMs) / 1000, output });
    };
    child.stdout?.on('data', () => {
      if (!inTerminal || typingTimer || !output.includes(inTerminal.prompt)) return;
      child.stdin?.write(inTerminal.types);
      // The agent would treat input that arrives together as one text.
      typingTimer = setInterval(() => child.stdin?.write('\r'), 2_000);
    });
    void interrupt?.then(() => child.kill('SIGINT'));
    if (input && child.stdin) void input(child.stdin, () => output);
    void inTerminal?.until.then(() => {
      // Ending the input closes the terminal, whose programs are not in the process group.
      child.stdin?.end();
      child.kill('SIGTERM');
      finish(0);
    });
    child.on('error', (error) => {
      finish(error.message);
    });
    child.on('close', (code, signal) => {
      finish(code ?? signal ?? 'unknown');
    });
  });
}

/**
 * Hashes all files below a folder, except those that SQLite has while a database is open.
 * @param root the bed's folder; its path is ignored in files, because it differs between beds
 */
export function hashFiles(folder: string, root = folder): ReadonlyMap<string, string> {
  const names = existsSync(folder) ? (readdirSync(folder, { recursive: true }) as string[]) : [];
  return new Map(
    names
      .filter((name) => isFile(join(folder, name)))
      .filter((name) => !/-(?:shm|wal)$/.test(name))
      .flatMap((name): [string, string][] => {
        const content = readContent(join(folder, name))?.replaceAll(root, '#');
        return content === undefined ? [] : [[name, createHash('sha256').update(content, 'latin1').digest('hex')]];
      }),
  );
}

/**
 * Returns undefined if the file is gone, because an agent may leave a process that removes its own
 * locks.
 */
function readContent(path: string): string | undefined {
  try {
    return readFileSync(path, 'latin1');
  } catch (error) {
    if (getErrorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** Lists the earlier files that are missing or changed. */
export const listChangedFiles = (
  before: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
): ReadonlySet<string> => new Set([...before].flatMap(([name, hash]) => (after.get(name) === hash ? [] : [name])));

const isFile = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isFile() === true;

/** Removes the varying parts of a file name: IDs, hashes, dates and paths. */
export const normalizeName = (name: string): string =>
  name
    // This must come first: it removes folders named after the working folder, and later rules
    // remove digits from that name.
    .replace(/[\w-]*agent-\w{6}[\w-]*/g, '#')
    .replace(/(?<![0-9a-z])\d{10,}_[a-z0-9]{5}\b/g, '#')
    .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{20,}/gi, '#')
    .replace(/\b(?:ses|msg|prt|per|que|evt|tool|run|sess)_[A-Za-z0-9]+/g, '#')
    .replace(/[0-9a-f]{12,}|\b[0-9a-f]{8}\b/gi, '#')
    .replace(/_[a-z0-9]{4,8}\.txt$/, '_#.txt')
    .replace(/\d{2,}/g, '#')
    .replace(/#[#T:._Z-]*/g, '#');

/** Lists files that contain the gateway's address, secret or ticket. */
export const listLeakingFiles = (folder: string): string[] =>
  [...hashFiles(folder).keys()].filter((name) =>
    /127\.0\.0\.1:\d+\/[\w-]{32}|x-context-condenser/.test(readFileSync(join(folder, name), 'latin1')),
  );
