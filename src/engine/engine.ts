/**
 * The engine: everything that takes time in proportion to a conversation's length. It knows neither VS Code nor threads, so that
 * a window runs it in a thread of its own and other programs run it in their process.
 */
import type { ForecastAnswer, ForecastRequest, LiveUpdate } from '../background/forecast/messages';
import type { ForecastSession } from '../background/forecast/session';
import type { HostModels } from '../background/hostModels';
import type { Task, TaskProgress, TaskResult } from '../background/tasks';
import { personsAnswersOf, type PersonsAnswers } from '../conversations/personsAnswers';
import { readConversationFile } from '../conversations/readFile';
import type { Conversation, ReadOptions } from '../conversations/types';
import type { TokenCounter } from '../core/tokens/types';

/** A conversation and the marks of what a person said in it, which do not cross a thread with the messages. */
export interface ReadConversation {
  readonly conversation: Conversation;
  readonly answers: PersonsAnswers;
}

/** What can be asked of the engine. */
export interface Engine {
  /** @throws ConversationReadError where the file can't be read */
  read(path: string, options: ReadOptions, signal?: AbortSignal): Promise<ReadConversation>;
  /**
   * Does a task with stored conversations.
   * @throws ConversationReadError where a file can't be read; GiveBackError where nothing may be written; StorageError
   */
  perform<T extends Task>(
    task: T,
    onProgress: (progress: TaskProgress) => void,
    signal: AbortSignal,
    // One by one, for only a function that is itself an argument crosses a thread.
    select?: HostModels['select'],
    summarize?: HostModels['summarize'],
    warn?: HostModels['warn'],
  ): Promise<TaskResult<T>>;
  readonly previews: Previews;
}

/** Previews of condensations. The conversations that were asked for stay read and counted until the engine ends. */
export interface Previews {
  /**
   * Answers one question after the other.
   * @throws ConversationReadError, NoSummarizerError, and the signal's reason where it was aborted
   */
  ask<R extends ForecastRequest>(request: R, signal: AbortSignal): Promise<ForecastAnswer<R>>;
  /** Takes in what is new of a live conversation; questions asked after it are about it as it then is. */
  update(id: string, update: LiveUpdate): Promise<void>;
}

/** An engine in this thread. @param tokens loads the token counter, when something is first counted */
export function createEngine(tokens: () => Promise<TokenCounter>): Engine {
  let session: Promise<ForecastSession> | undefined;
  const startSession = async (): Promise<ForecastSession> => {
    const { ForecastSession, MessageCounter } = await loadWork();
    return new ForecastSession(new MessageCounter(await tokens()));
  };
  const previews = (): Promise<ForecastSession> => (session ??= startSession());
  return {
    // Asynchronous, so that what it throws is a rejection.
    // oxlint-disable-next-line typescript/require-await
    async read(path, options, signal) {
      signal?.throwIfAborted();
      const conversation = readConversationFile(path, options);
      return { conversation, answers: personsAnswersOf(conversation) };
    },
    perform: async (task, onProgress, signal, select, summarize, warn) => {
      const models = select && summarize && warn && { select, summarize, warn };
      // A task is answered with its own kind of result.
      return (await (await loadWork()).perform(task, { tokens, onProgress, signal, models })) as TaskResult<
        typeof task
      >;
    },
    previews: {
      ask: async (request, signal) => (await previews()).ask(request, signal),
      update: async (id, update) => {
        (await previews()).update(id, update);
      },
    },
  };
}

/** Only what is asked for is run: a program that reads one file, such as the command line, waits for no more than the readers. */
const loadWork = () => import('./work');
