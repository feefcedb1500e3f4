export const ENDING_SIGNALS = ['SIGTERM', 'SIGHUP', 'SIGINT', 'SIGQUIT'] as const;

export interface DeferredSignals {
  /** Returns the first signal received, or undefined. */
  getFirstSignal(): NodeJS.Signals | undefined;
  release(): void;
}

/** Keeps signals from ending the process before cleanup is done; the caller must then exit. */
export function deferSignals(onSignal: () => void = () => undefined): DeferredSignals {
  let firstSignal: NodeJS.Signals | undefined;
  const recordSignal = (signal: NodeJS.Signals): void => {
    firstSignal ??= signal;
    onSignal();
  };
  for (const signal of ENDING_SIGNALS) process.on(signal, recordSignal);
  return {
    getFirstSignal: () => firstSignal,
    release: () => {
      for (const signal of ENDING_SIGNALS) process.off(signal, recordSignal);
    },
  };
}
