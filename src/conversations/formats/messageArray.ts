import type { ApiMessage } from '../../core/messages/types';
import { MessageShapeError, assertMessage } from './messageShape';
import { ConversationReadError } from '../readError';

export interface MessageDocument {
  readonly messages: readonly unknown[];
  readonly request?: Readonly<Record<string, unknown>>;
}

/** @throws {ConversationReadError} naming message and field */
export function checkMessages(messages: readonly unknown[], source: string): readonly ApiMessage[] {
  return addSourceToShapeErrors(source, () =>
    messages.map((message, index) => {
      assertMessage(message, `messages[${index}]`);
      return message;
    }),
  );
}

export function addSourceToShapeErrors<T>(source: string, check: () => T): T {
  try {
    return check();
  } catch (error) {
    if (!(error instanceof MessageShapeError)) throw error;
    throw new ConversationReadError(
      {
        problem: 'wrong-shape',
        source,
        found: `${error.found} in "${error.path}"`,
        expected: error.expected,
      },
      { cause: error },
    );
  }
}

export const pickRequestFields = ({ request }: MessageDocument): Pick<MessageDocument, 'request'> =>
  request && Object.keys(request).length > 0 ? { request } : {};
