import type { CliIo } from './io';

/** Progress is shown only after this many milliseconds. */
const PROGRESS_DELAY_MS = 1_000;
const PROGRESS_INTERVAL_MS = 100;

/** Clears the progress line before other output. */
export function withProgressLine(io: CliIo, now = (): number => performance.now()): CliIo {
  const { showProgress } = io;
  if (!showProgress) return io;
  const startMs = now();
  let reportedAt = -Infinity;
  let isShown = false;
  const clearProgress = (): void => {
    if (isShown) showProgress('');
    isShown = false;
  };
  return {
    ...io,
    stdout: (text) => {
      clearProgress();
      io.stdout(text);
    },
    ...(io.data && {
      data: (text: string) => {
        clearProgress();
        io.data?.(text);
      },
    }),
    stderr: (text) => {
      clearProgress();
      io.stderr(text);
    },
    showProgress: (text) => {
      const time = now();
      if (time - startMs < PROGRESS_DELAY_MS || time - reportedAt < PROGRESS_INTERVAL_MS) return;
      reportedAt = time;
      isShown = true;
      showProgress(text);
    },
  };
}
