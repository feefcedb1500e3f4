import { errorMessage } from '../core/errors';

/** An error as the chat shows it: VS Code 1.139 shows the message, and behind it the stack where there is one. */
export function chatError(error: unknown): Error {
  const told = new Error(errorMessage(error));
  told.stack = '';
  return told;
}
