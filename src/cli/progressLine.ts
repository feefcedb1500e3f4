import type { CliIo } from './io';

/** Milliseconds before progress is shown. */
const PROGRESS_DELAY_MS = 1_000;
const PROGRESS_INTERVAL_MS = 100;

/** Clears the progress line before other output. */
export function withProgressLine(io: CliIo, now = (): number => performance.now()): CliIo {
  const { showProgress } = io;
  if (!showProgress) return io;
  const began = now();
  let reportedAt = -Infinity;
  let isShown = false;
  const clear = (): void => {
    if (isShown) showProgress('');
    isShown = false;
  };
  return {
    ...io,
    stdout: (text) => {
      clear();
      io.stdout(text);
    },
    ...(io.data && {
      data: (text: string) => {
        clear();
        io.data?.(text);
      },
    }),
    stderr: (text) => {
      clear();
      io.stderr(text);
    },
    showProgress: (text) => {
      const time = now();
      if (time - began < PROGRESS_DELAY_MS || time - reportedAt < PROGRESS_INTERVAL_MS) return;
      reportedAt = time;
      isShown = true;
      showProgress(text);
    },
  };
}
