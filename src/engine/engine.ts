/**
 * The engine: everything that takes time in proportion to a conversation's length. It knows neither VS Code nor threads, so that
 * a window runs it in a thread of its own and other programs run it in their process.
 */
import { personsAnswersOf, type PersonsAnswers } from '../conversations/personsAnswers';
import { readConversationFile } from '../conversations/readFile';
import type { Conversation, ReadOptions } from '../conversations/types';

/** A conversation and the marks of what a person said in it, which do not cross a thread with the messages. */
export interface ReadConversation {
  readonly conversation: Conversation;
  readonly answers: PersonsAnswers;
}

/** What can be asked of the engine. */
export interface Engine {
  /** @throws ConversationReadError where the file can't be read */
  read(path: string, options: ReadOptions, signal?: AbortSignal): Promise<ReadConversation>;
}

/** An engine in this thread. */
export function createEngine(): Engine {
  return {
    // Asynchronous, so that what it throws is a rejection.
    // oxlint-disable-next-line typescript/require-await
    async read(path, options, signal) {
      signal?.throwIfAborted();
      const conversation = readConversationFile(path, options);
      return { conversation, answers: personsAnswersOf(conversation) };
    },
  };
}
