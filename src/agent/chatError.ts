/** An error as the chat shows it: VS Code 1.139 shows the message, and behind it the stack where there is one. */
export function chatError(error: unknown): Error {
  const told = new Error(error instanceof Error ? error.message : String(error));
  told.stack = '';
  return told;
}
