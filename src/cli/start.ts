import { writeSync } from 'node:fs';
import { homedir } from 'node:os';
import { version } from '../../package.json';
import { getErrorCode } from '../core/errors';
import { runCommandLine } from './run';

/** Writes synchronously, so that a pipe has received all of the JSON before the process ends. */
function writeSynchronously(descriptor: number, text: string): void {
  let bytes = Buffer.from(text);
  while (bytes.length > 0) {
    try {
      bytes = bytes.subarray(writeSync(descriptor, bytes));
    } catch (error) {
      const code = getErrorCode(error);
      if (code === 'EPIPE') return;
      if (code !== 'EAGAIN') throw error;
    }
  }
}

export async function startCommandLine(): Promise<void> {
  const abortController = new AbortController();
  process.once('SIGINT', () => {
    abortController.abort(new Error('cancelled'));
  });
  process.exitCode = await runCommandLine(process.argv.slice(2), {
    stdout: (text) => {
      writeSynchronously(1, text);
    },
    // Only programs and files receive the text unescaped; a terminal must not.
    ...(!process.stdout.isTTY && {
      data: (text: string) => {
        writeSynchronously(1, text);
      },
    }),
    stderr: (text) => {
      writeSynchronously(2, text);
    },
    ...(process.stderr.isTTY && {
      showProgress: (words: string) => {
        // A longer text would wrap and remain on the screen.
        writeSynchronously(2, `\r${words.slice(0, process.stderr.columns - 1)}\u001b[K`);
      },
    }),
    assets: __dirname,
    signal: abortController.signal,
    now: () => new Date(),
    version,
    platform: process.platform,
    env: process.env,
    homedir: homedir(),
  });
}
