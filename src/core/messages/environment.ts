/**
 * The Roo family appends an environment to each user message: open files, terminal output, the
 * time. The opening tag begins a line; a person's sentence can contain it, too. Terminal output may
 * contain the closing tag, so the last one counts.
 */
const OPENING_TAG = /^<environment_details>/m;
const CLOSING_TAG = '</environment_details>';

/** A text that only starts like an environment may be a tool's result. */
export const isEnvironmentDetails = (text: string): boolean => findEnvironmentAtEnd(text) === 0;

export function removeEnvironmentDetails(text: string): string {
  const start = findEnvironmentAtEnd(text);
  return start === -1 ? text : text.slice(0, start);
}

/** A single pattern for both tags would search for the end again from each opening tag. */
function findEnvironmentAtEnd(text: string): number {
  const trimmedText = text.trimEnd();
  return trimmedText.endsWith(CLOSING_TAG) ? trimmedText.slice(0, -CLOSING_TAG.length).search(OPENING_TAG) : -1;
}
