/** The question to the reader's worker and its answer: plain data, for classes don't cross its boundary. */
import { ConversationReadError, type ReadErrorData } from './readError';
import { readConversationFile } from './readFile';
import type { Conversation, ReadOptions } from './types';

export interface WorkerRequest {
  readonly path: string;
  readonly options: ReadOptions;
}

export type WorkerReply = { readonly conversation: Conversation } | { readonly error: ReadErrorData };

/** Reads what is asked for. @throws what is no ConversationReadError: a fault of the reader itself */
export function replyTo({ path, options }: WorkerRequest): WorkerReply {
  try {
    return { conversation: readConversationFile(path, options) };
  } catch (error) {
    if (error instanceof ConversationReadError) return { error: error.data };
    throw error;
  }
}
