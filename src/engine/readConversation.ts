import { markPersonsAnswersAt } from '../conversations/personsAnswers';
import { ConversationReadError } from '../conversations/readError';
import type { Conversation, ReadOptions } from '../conversations/types';
import type { Engine } from './engine';
import { EngineDiedError, EngineThread } from './engineThread';

/**
 * @throws ConversationReadError for every failure, including the engine's death; the signal's
 * reason if aborted
 */
export async function readConversation(
  thread: { readonly engine: Engine },
  path: string,
  options: ReadOptions,
  signal: AbortSignal,
): Promise<Conversation> {
  signal.throwIfAborted();
  try {
    const { conversation, answers } = await thread.engine.read(path, options, signal);
    return markPersonsAnswersAt(conversation, answers);
  } catch (error) {
    if (signal.aborted || error instanceof ConversationReadError) throw error;
    throw convertEngineError(path, error);
  }
}

/** @see readConversation */
export async function readConversationOnce(
  bundle: string,
  path: string,
  options: ReadOptions,
  signal: AbortSignal,
): Promise<Conversation> {
  const thread = new EngineThread({ bundle });
  try {
    return await readConversation(thread, path, options, signal);
  } finally {
    thread.endThread();
  }
}

/** Says that the file is not the cause: the engine was out of memory, or the reader has a bug. */
function convertEngineError(path: string, error: unknown): ConversationReadError {
  const isOutOfMemory = error instanceof EngineDiedError && error.isOutOfMemory;
  return new ConversationReadError(
    {
      problem: 'worker',
      source: path,
      found: isOutOfMemory
        ? 'a conversation that does not fit into memory'
        : `a reader that failed: ${error instanceof Error ? error.message : 'unknown error'}`,
      expected: 'a conversation or a reason why not',
      ...(!isOutOfMemory && { advice: 'Try again; if it happens again, please report it with this message.' }),
    },
    { cause: error },
  );
}
