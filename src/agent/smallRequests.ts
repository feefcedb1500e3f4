/**
 * Requests of VS Code's chat that are no step of an agent's task and go to the model as they came: titles and progress
 * messages (no tools), and its own summaries, with tools (`/compact`) or without (by itself). Seen in VS Code 1.139.
 */
const SUMMARY_SYSTEM = 'Your task is to create a comprehensive, detailed summary of the entire conversation';

/** Whether a request is one of these, by its system prompt and its tools. */
export const isSmallRequest = (system: string | undefined, tools: readonly unknown[]): boolean =>
  tools.length === 0 || system?.trimStart().startsWith(SUMMARY_SYSTEM) === true;
