import { withPersonsAnswersAt } from '../conversations/personsAnswers';
import { ConversationReadError } from '../conversations/readError';
import type { Conversation, ReadOptions } from '../conversations/types';
import type { Engine } from './engine';
import { EngineDiedError, EngineThread } from './engineThread';

/**
 * Reads a conversation in the engine's thread, so that this one stays free: neither the file's bytes nor its parsing touch it.
 * @throws ConversationReadError for everything that goes wrong, a death of the engine included
 * @throws the signal's reason, when aborted
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
    return withPersonsAnswersAt(conversation, answers);
  } catch (error) {
    if (signal.aborted || error instanceof ConversationReadError) throw error;
    throw engineReadError(path, error);
  }
}

/** Reads one conversation in an engine that ends with it. @see readConversation */
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
    thread.end();
  }
}

/** The error for what is no fault of the file: too little memory, or a fault of the reader itself. */
function engineReadError(path: string, error: unknown): ConversationReadError {
  const isMemory = error instanceof EngineDiedError && error.isOutOfMemory;
  return new ConversationReadError(
    {
      problem: 'worker',
      source: path,
      found: isMemory
        ? 'a conversation that does not fit into memory'
        : `a reader that failed: ${error instanceof Error ? error.message : 'unknown error'}`,
      expected: 'a conversation or a reason why not',
      ...(!isMemory && { advice: 'Try again; if it happens again, please report it with this message.' }),
    },
    { cause: error },
  );
}
