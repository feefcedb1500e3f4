export const ENDING_SIGNALS = ['SIGTERM', 'SIGHUP', 'SIGINT', 'SIGQUIT'] as const;

export interface DeferredSignals {
  /** Returns the first signal received. */
  came(): NodeJS.Signals | undefined;
  release(): void;
}

/** Delays signals until cleanup is done. The caller must then exit. */
export function deferSignals(onSignal: () => void = () => undefined): DeferredSignals {
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
