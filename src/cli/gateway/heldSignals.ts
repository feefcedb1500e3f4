/** Signals that end a process. */
export const ENDING_SIGNALS = ['SIGTERM', 'SIGHUP', 'SIGINT', 'SIGQUIT'] as const;

export interface HeldSignals {
  /** The first one so far. */
  came(): NodeJS.Signals | undefined;
  release(): void;
}

/**
 * No signal ends this process before what it has made is taken back: its announcement, its files, what is still to be written.
 * Whoever holds them ends by itself.
 */
export function holdSignals(onSignal: () => void = () => undefined): HeldSignals {
  let first: NodeJS.Signals | undefined;
  const note = (signal: NodeJS.Signals): void => {
    first ??= signal;
    onSignal();
  };
  for (const signal of ENDING_SIGNALS) process.on(signal, note);
  return {
    came: () => first,
    release: () => {
      for (const signal of ENDING_SIGNALS) process.off(signal, note);
    },
  };
}
