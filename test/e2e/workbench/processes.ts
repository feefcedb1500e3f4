import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';

/** Running children. Each has its own process group, so that its descendants end with it. */
const running = new Set<ChildProcess>();

function signal(child: ChildProcess, name: NodeJS.Signals): void {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  try {
    process.kill(-child.pid, name);
  } catch {
    child.kill(name);
  }
}

export function start(
  command: string,
  args: readonly string[],
  options: { env: NodeJS.ProcessEnv; cwd?: string },
): ChildProcess {
  const child = spawn(command, args, { ...options, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  running.add(child);
  child.on('exit', () => running.delete(child));
  return child;
}

/** Ends a child's process group, and waits until the child has ended. */
export async function endProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  await new Promise<void>((resolve) => {
    const killTimer = setTimeout(() => {
      signal(child, 'SIGKILL');
    }, 5_000);
    child.on('exit', () => {
      clearTimeout(killTimer);
      resolve();
    });
    signal(child, 'SIGTERM');
  });
}

/**
 * Runs a command.
 * @returns its output; on failure, the error's message contains it
 */
export async function runProcess(
  command: string,
  args: readonly string[],
  options: { env: NodeJS.ProcessEnv; cwd?: string },
): Promise<string> {
  const child = start(command, args, options);
  let said = '';
  child.stdout?.on('data', (chunk: Buffer) => (said += chunk.toString()));
  child.stderr?.on('data', (chunk: Buffer) => (said += chunk.toString()));
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', resolve);
  });
  if (code !== 0)
    throw new Error(`"${[command, ...args].join(' ')}" ended with ${code ?? 'a signal'}:\n${said.slice(-4000)}`);
  return said;
}

process.on('exit', () => {
  for (const child of running) signal(child, 'SIGKILL');
});
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => process.exit(130));
