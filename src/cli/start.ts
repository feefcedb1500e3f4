/** Runs {@link run} with the process's streams. */
import { writeSync } from 'node:fs';
import { homedir } from 'node:os';
import { version } from '../../package.json';
import { errorCode } from '../core/errors';
import { run } from './run';

/** Synchronous, so that a pipe has the whole JSON before the process ends. */
function write(descriptor: number, text: string): void {
  let bytes = Buffer.from(text);
  while (bytes.length > 0) {
    try {
      bytes = bytes.subarray(writeSync(descriptor, bytes));
    } catch (error) {
      const code = errorCode(error);
      if (code === 'EPIPE') return;
      if (code !== 'EAGAIN') throw error;
    }
  }
}

/** Runs the process's command line and sets its exit code. */
export async function start(): Promise<void> {
  const abort = new AbortController();
  process.once('SIGINT', () => {
    abort.abort(new Error('cancelled'));
  });
  process.exitCode = await run(process.argv.slice(2), {
    stdout: (text) => {
      write(1, text);
    },
    // Programs and files receive every byte.
    ...(!process.stdout.isTTY && {
      data: (text: string) => {
        write(1, text);
      },
    }),
    stderr: (text) => {
      write(2, text);
    },
    ...(process.stderr.isTTY && {
      showProgress: (words: string) => {
        // A longer text would wrap and remain on the screen.
        write(2, `\r${words.slice(0, process.stderr.columns - 1)}\u001b[K`);
      },
    }),
    assets: __dirname,
    signal: abort.signal,
    now: () => new Date(),
    version,
    platform: process.platform,
    env: process.env,
    homedir: homedir(),
  });
}
