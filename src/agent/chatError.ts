/** An error as the chat shows it: VS Code shows message and stack, so the stack holds the message only. */
export function chatError(error: unknown): Error {
  const told = new Error(error instanceof Error ? error.message : String(error));
  told.stack = told.message;
  return told;
}
