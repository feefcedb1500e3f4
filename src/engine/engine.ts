/**
 * Runs everything whose time grows with a conversation's length, in a thread of a window or in
 * another program's process. Depends on neither VS Code nor threads.
 */
import type { PreviewAnswer, PreviewRequest, LiveConversationUpdate } from '../background/preview/messages';
import type { PreviewSession } from '../background/preview/session';
import type { HostModels } from '../background/hostModels';
import type { Task, TaskProgress, TaskResult } from '../background/tasks';
import { findPersonsAnswers, type PlacesOfPersonsAnswers } from '../conversations/personsAnswers';
import { readConversationFile } from '../conversations/readFile';
import type { Conversation, ReadOptions } from '../conversations/types';
import type { TokenCounter } from '../core/tokens/types';
import type { OutcomeSummary } from '../core/condense';
import type { ApiMessage } from '../core/messages/types';
import type { Usage } from '../core/cost/usage';
import type { OverflowReport } from '../api/tooLong';
import type { ProviderCallHandlers } from '../extensionApi/remoteProvider';
import type { LiveId } from '../live/request';
import type { LiveConversationsApi, LiveControls } from '../live/types';
import type {
  LiveConversationsChange,
  LiveEngineSetup,
  EncodedLiveView,
  EncodedPreparedRequest,
  EncodedAgentRequest,
} from './live/messages';
import type { LiveSession } from './live/session';
import type { OutcomeWithoutView } from '../core/condense/condensation';
import type { CondensationEstimate, CondensationProgress } from '../core/condense/types';
import type { AutomaticResult, WindowAndThreshold, CondenserSession, CondensationMessage } from './condenser/session';
import type { CondensationManagerSetup } from './hostManager';

/**
 * A conversation and the places of the user's answers in it. These are separate, because marks on
 * messages are lost between threads.
 */
export interface ConversationWithNotes {
  readonly conversation: Conversation;
  readonly answers: PlacesOfPersonsAnswers;
}

export interface Engine {
  /** @throws ConversationReadError */
  read(path: string, options: ReadOptions, signal?: AbortSignal): Promise<ConversationWithNotes>;
  /**
   * @throws ConversationReadError if a file can't be read; GiveBackError if writing is not allowed;
   * StorageError
   */
  perform<T extends Task>(
    task: T,
    onProgress: (progress: TaskProgress) => void,
    signal: AbortSignal,
    // These are separate arguments because only functions passed as arguments cross threads.
    select?: HostModels['select'],
    summarize?: HostModels['summarize'],
    warn?: HostModels['warn'],
    condense?: ProviderCallHandlers['condense'],
    estimate?: ProviderCallHandlers['estimate'],
  ): Promise<TaskResult<T>>;
  readonly previews: Previews;
  readonly live: LiveEngine;
  readonly condenser: CondenserEngine;
}

/** All methods reject until {@link CondenserEngine.open} is called. */
export interface CondenserEngine {
  /**
   * Resolves when the signal is aborted.
   * @param summaries folder that keeps the summaries from paid model calls
   */
  open(
    summaries: string,
    select: HostModels['select'],
    summarize: HostModels['summarize'],
    warn: HostModels['warn'],
    condense: ProviderCallHandlers['condense'],
    estimate: ProviderCallHandlers['estimate'],
    signal: AbortSignal,
  ): Promise<void>;
  estimate(
    request: CondensationMessage,
    setup: CondensationManagerSetup,
  ): Promise<Pick<CondensationEstimate, 'tokensBefore' | 'tokensAfter' | 'cost'>>;
  /** @param call number that identifies the call for {@link CondenserEngine.cancel} */
  condense(
    call: number,
    request: CondensationMessage,
    setup: CondensationManagerSetup,
    onProgress: (progress: CondensationProgress) => void,
  ): Promise<OutcomeWithoutView>;
  condenseIfNeeded(
    call: number,
    request: CondensationMessage,
    terms: WindowAndThreshold,
    setup: CondensationManagerSetup,
    onProgress: (progress: CondensationProgress) => void,
  ): Promise<AutomaticResult>;
  /** Counts o200k tokens. */
  count(messages: readonly ApiMessage[]): Promise<number>;
  cancel(call: number): Promise<void>;
}

/** All methods reject until {@link LiveEngine.open} is called. */
export interface LiveEngine
  extends
    Pick<
      LiveConversationsApi,
      'countPart' | 'expandMarkers' | 'recall' | 'undo' | 'redo' | 'toggleEdit' | 'pin' | 'unpin'
    >,
    Pick<LiveControls, 'compare' | 'outline'> {
  /**
   * Resolves when the signal is aborted.
   * @param folders folders of the ledgers (`root`) and of the summaries from paid model calls
   */
  open(
    folders: { readonly root: string; readonly summaries: string },
    onChange: (change: LiveConversationsChange) => void,
    select: HostModels['select'],
    summarize: HostModels['summarize'],
    warn: HostModels['warn'],
    condense: ProviderCallHandlers['condense'],
    estimate: ProviderCallHandlers['estimate'],
    signal: AbortSignal,
  ): Promise<void>;
  /** @throws RangeError if host and engine are out of sync; the signal's reason if aborted */
  prepare(request: EncodedAgentRequest, setup: LiveEngineSetup, signal?: AbortSignal): Promise<EncodedPreparedRequest>;
  /**
   * @param prepared ID of the prepared request that the model rejected
   * @param view ID of the host's last view
   */
  prepareAfterOverflow(
    prepared: number,
    view: number,
    overflow: OverflowReport | undefined,
    setup: LiveEngineSetup,
    signal?: AbortSignal,
  ): Promise<EncodedPreparedRequest | undefined>;
  recordUsage(prepared: number, usage: Usage | undefined): Promise<void>;
  recordAnswer(prepared: number, usage: Usage | undefined, countedTokens: number): Promise<void>;
  configure(setup: LiveEngineSetup): Promise<void>;
  follow(request: EncodedAgentRequest, setup: LiveEngineSetup): Promise<void>;
  /** Counts o200k tokens of the request as received, including system prompt and tools. */
  count(request: EncodedAgentRequest): Promise<number>;
  view(conversation: LiveId): Promise<EncodedLiveView | undefined>;
  /** @throws the signal's reason if aborted, Error with text for the user, UnknownProviderError */
  condenseNow(
    conversation: LiveId,
    options: { readonly provider?: string; readonly config?: unknown; readonly targetPercent?: number },
    setup: LiveEngineSetup,
    signal: AbortSignal,
  ): Promise<OutcomeSummary | undefined>;
  /** Cancels background work and writes pending data. */
  close(): Promise<void>;
}

/** Conversations that were previewed stay parsed and counted until the engine ends. */
export interface Previews {
  /**
   * Answers questions in order.
   * @throws ConversationReadError, NoSummarizerError, the signal's reason if aborted
   */
  ask<R extends PreviewRequest>(request: R, signal: AbortSignal): Promise<PreviewAnswer<R>>;
  /** Questions asked after this refer to the updated state. */
  update(id: string, update: LiveConversationUpdate): Promise<void>;
}

/** @param tokens loads the token counter when something is counted for the first time */
export function createEngine(tokens: () => Promise<TokenCounter>): Engine {
  let session: Promise<PreviewSession> | undefined;
  const startSession = async (): Promise<PreviewSession> => {
    const { PreviewSession, MessageCounter } = await loadWork();
    return new PreviewSession(new MessageCounter(await tokens()));
  };
  const openSession = (): Promise<PreviewSession> => (session ??= startSession());
  return {
    // Declared `async`, so that errors become rejections.
    // oxlint-disable-next-line typescript/require-await
    async read(path, options, signal) {
      signal?.throwIfAborted();
      const conversation = readConversationFile(path, options);
      return { conversation, answers: findPersonsAnswers(conversation) };
    },
    perform: async (task, onProgress, signal, select, summarize, warn, condense, estimate) => {
      const models = select && summarize && warn && { select, summarize, warn };
      const providers = condense && estimate && { condense, estimate };
      const { performTask } = await loadWork();
      // Each task has its own result type, which TypeScript can't derive from the task.
      return (await performTask(task, { tokens, onProgress, signal, models, providers })) as TaskResult<typeof task>;
    },
    previews: {
      ask: async (request, signal) => (await openSession()).answerPreviewRequest(request, signal),
      update: async (id, update) => {
        (await openSession()).updateLiveConversation(id, update);
      },
    },
    live: createLiveEngine(tokens),
    condenser: createCondenserEngine(tokens),
  };
}

function createCondenserEngine(tokens: () => Promise<TokenCounter>): CondenserEngine {
  let openedSession: Promise<CondenserSession> | undefined;
  const getSession = (): Promise<CondenserSession> =>
    openedSession ?? Promise.reject(new Error('No window has begun with its condensations.'));
  return {
    open: async (summaries, select, summarize, warn, condense, estimate, signal) => {
      const startSession = async (): Promise<CondenserSession> => {
        const { CondenserSession, MessageCounter } = await loadWork();
        const counter = new MessageCounter(await tokens());
        const [models, providers] = [
          { select, summarize, warn },
          { condense, estimate },
        ];
        return new CondenserSession({ counter, summaries, models, providers, signal });
      };
      openedSession = startSession();
      await openedSession;
      await waitForAbort(signal);
    },
    estimate: async (...args) => (await getSession()).estimate(...args),
    condense: async (...args) => (await getSession()).condense(...args),
    condenseIfNeeded: async (...args) => (await getSession()).condenseIfNeeded(...args),
    count: async (messages) => (await getSession()).count(messages),
    cancel: async (call) => {
      (await getSession()).cancel(call);
    },
  };
}

const waitForAbort = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    signal.addEventListener('abort', () => {
      resolve();
    });
  });

function createLiveEngine(tokens: () => Promise<TokenCounter>): LiveEngine {
  let openedSession: Promise<LiveSession> | undefined;
  const getSession = (): Promise<LiveSession> =>
    openedSession ?? Promise.reject(new Error('No window has begun with its live conversations.'));
  return {
    open: async (folders, onChange, select, summarize, warn, condense, estimate, signal) => {
      const startSession = async (): Promise<LiveSession> => {
        const { LiveSession, MessageCounter } = await loadWork();
        const counter = new MessageCounter(await tokens());
        const [models, providers] = [
          { select, summarize, warn },
          { condense, estimate },
        ];
        return new LiveSession({ ...folders, counter, models, providers, onChange, signal });
      };
      openedSession = startSession();
      await openedSession;
      await waitForAbort(signal);
    },
    prepare: async (...args) => (await getSession()).prepare(...args),
    prepareAfterOverflow: async (...args) => (await getSession()).prepareAfterOverflow(...args),
    recordUsage: async (...args) => {
      (await getSession()).recordUsage(...args);
    },
    recordAnswer: async (...args) => {
      (await getSession()).recordAnswer(...args);
    },
    configure: async (...args) => {
      (await getSession()).configure(...args);
    },
    follow: async (...args) => (await getSession()).follow(...args),
    count: async (...args) => (await getSession()).count(...args),
    countPart: async (...args) => (await getSession()).countPart(...args),
    expandMarkers: async (...args) => (await getSession()).expandMarkers(...args),
    recall: async (...args) => (await getSession()).recall(...args),
    view: async (...args) => (await getSession()).view(...args),
    compare: async (...args) => (await getSession()).compare(...args),
    outline: async (...args) => (await getSession()).outline(...args),
    condenseNow: async (...args) => (await getSession()).condenseNow(...args),
    undo: async (...args) => (await getSession()).undo(...args),
    redo: async (...args) => (await getSession()).redo(...args),
    toggleEdit: async (...args) => (await getSession()).toggleEdit(...args),
    pin: async (...args) => (await getSession()).pin(...args),
    unpin: async (...args) => (await getSession()).unpin(...args),
    close: async () => {
      if (openedSession) await (await openedSession).close();
    },
  };
}

/** Loaded on demand, so that a program that only reads files loads only the readers. */
const loadWork = () => import('./work');
