/** The question to the reader's worker and its answer: plain data, for classes don't cross its boundary. */
import { personsAnswersOf, type PersonsAnswers } from './personsAnswers';
import { ConversationReadError, type ReadErrorData } from './readError';
import { readConversationFile } from './readFile';
import type { Conversation, ReadOptions } from './types';

export interface WorkerRequest {
  readonly path: string;
  readonly options: ReadOptions;
}

export type WorkerReply =
  | { readonly conversation: Conversation; readonly answers: PersonsAnswers }
  | { readonly error: ReadErrorData };

/** Reads what is asked for. @throws what is no ConversationReadError: a fault of the reader itself */
export function replyTo({ path, options }: WorkerRequest): WorkerReply {
  try {
    const conversation = readConversationFile(path, options);
    return { conversation, answers: personsAnswersOf(conversation) };
  } catch (error) {
    if (error instanceof ConversationReadError) return { error: error.data };
    throw error;
  }
}
