/** Runs a chat's live conversations in a thread, as a window does. */
import { join } from 'node:path';
import { inject, onTestFinished } from 'vitest';
import { EngineThread } from '../../src/engine/engineThread';
import { LiveClient, type LiveClientOptions } from '../../src/engine/live/client';
import type { LiveSettings } from '../../src/live/types';
import type {} from './bundles';

export interface ChatEngine {
  readonly live: LiveClient;
  readonly thread: EngineThread;
  /** Flushes and ends the thread before the test ends. */
  readonly end: () => Promise<void>;
  /** Why each engine died, and whether its restart was refused. */
  readonly deaths: { readonly message: string; readonly rests: boolean }[];
}

/**
 * Opens an engine that ends with the running test.
 * @param root the folder of the ledgers
 */
export function openChatEngine(
  root: string,
  {
    settings = {},
    now,
    ...options
  }: Partial<LiveClientOptions> & {
    readonly settings?: Partial<LiveSettings>;
    /** Clock for the time between deaths, in milliseconds. Default: real time. */
    readonly now?: () => number;
  } = {},
): ChatEngine {
  const deaths: ChatEngine['deaths'] = [];
  const thread = new EngineThread({
    bundle: join(inject('bundles'), 'engine.cjs'),
    onDeath: ({ message }, rests) => deaths.push({ message, rests }),
    ...(now && { now }),
  });
  const live = new LiveClient({
    engine: () => thread.engine,
    root,
    summaries: join(root, 'summaries'),
    headline: ({ kind }) => kind,
    setup: () => ({
      settings: { provider: 'lossless', mayUseNative: false, ...settings },
      presets: [],
      registered: [],
    }),
    models: () => ({
      select: () => Promise.resolve({ problem: 'No model is set up.' }),
      summarize: () => Promise.reject(new Error('No model is set up.')),
      warn: () => undefined,
    }),
    providers: { condense: () => Promise.resolve(), estimate: () => Promise.resolve() },
    ...options,
  });
  const endEngine = async (): Promise<void> => {
    await live.close();
    thread.endThread();
  };
  onTestFinished(endEngine);
  return { live, thread, deaths, end: endEngine };
}
