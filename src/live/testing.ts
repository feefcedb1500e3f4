import type { TimeSource } from '../api/clock';
import { CondensationManager, losslessProvider, truncationProvider } from '../core/condense';
import type { CondensationProvider } from '../core/condense/types';
import { findMarkers } from '../core/messages/markers';
import type { MessageCounter } from '../core/tokens/messageCounter';
import type { Usage } from '../core/cost/usage';
import type { ApiMessage } from '../core/messages/types';
import { makeToolExchange, makeLines, user } from '../core/testing';
import { createCounter } from '../core/testingCounter';
import type { StorageOptions } from '../storage/ledgerStore';
import { LiveConversations } from './liveConversations';
import type { LiveSettings } from './types';
import type { LiveEvent } from './events';
import type { AgentRequest, UpstreamModel } from './request';

export interface TestBed {
  readonly live: LiveConversations;
  readonly events: LiveEvent[];
  /** May be changed between requests. */
  settings: LiveSettings;
  readonly manager: CondensationManager;
}

/**
 * Creates a test bed with data in a folder; a second one for the same folder simulates a restart.
 */
export function createTestBed(
  root: string,
  options: {
    readonly providers?: readonly CondensationProvider[];
    readonly settings?: Partial<LiveSettings>;
    readonly clock?: TimeSource;
    readonly storage?: Partial<StorageOptions>;
    readonly counter?: MessageCounter;
  } = {},
): TestBed {
  const counter = options.counter ?? createCounter();
  const manager = new CondensationManager(counter, [
    losslessProvider,
    truncationProvider,
    ...(options.providers ?? []),
  ]);
  const events: LiveEvent[] = [];
  const testBed: TestBed = {
    manager,
    events,
    settings: { provider: 'truncation', mayUseNative: false, ...options.settings },
    live: new LiveConversations({
      manager,
      counter,
      root,
      settings: () => testBed.settings,
      ...(options.clock && { clock: options.clock }),
      ...(options.storage && { storage: options.storage }),
    }),
  };
  testBed.live.on((event) => events.push(event));
  return testBed;
}

/** Returns the same content in new objects, as a new request has them. */
export const cloneAsJson = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;

export const createModel = (changes: Partial<UpstreamModel> = {}): UpstreamModel => ({
  key: 'test',
  vendor: 'anthropic',
  contextWindow: 40_000,
  maxOutputTokens: 4_000,
  threshold: { percent: 75 },
  ...changes,
});

export const createRequest = (messages: readonly ApiMessage[], changes: Partial<AgentRequest> = {}): AgentRequest => ({
  conversationId: 'c1',
  title: 'A task',
  system: 'You are an agent.',
  messages: cloneAsJson(messages),
  tools: [{ name: 'Read' }],
  model: createModel(),
  ...changes,
});

/**
 * Creates a task as VS Code begins it, and `count` reads of files of about `size` lines (8 tokens
 * per line).
 */
export const makeReads = (count: number, size = 100, name = 'f'): ApiMessage[] => [
  user('<environment_info>Linux</environment_info>'),
  user('<userRequest>Look at the files</userRequest>'),
  ...Array.from({ length: count }, (_, index) => makeRead(`${name}${index}`, size)).flat(),
];

/** Creates a call that reads a file, and its result. */
export const makeRead = (name: string, size = 100): ApiMessage[] =>
  makeToolExchange(`call-${name}`, 'Read', { file_path: `/src/${name}.ts` }, makeLines(name, size));

/** Creates the usage reported for a request with this many tokens, one of them from the cache. */
export const makeUsage = (promptTokens: number): Usage => ({
  accounting: 'anthropic',
  source: 'reported',
  inputTokens: promptTokens - 1,
  outputTokens: 10,
  cacheReadTokens: 1,
  cacheWriteTokens: 0,
});

export const stringify = (value: unknown): string => JSON.stringify(value);

/** About 30,500 tokens: above the threshold of 75 % of 40,000, within the 32,000 that fit. */
export const DUE_MESSAGES = makeReads(27);
export const SMALL_MESSAGES = makeReads(8);

export const countMarkers = (messages: readonly ApiMessage[]): number => findMarkers(stringify(messages)).length;
