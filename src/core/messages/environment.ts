/**
 * What the Roo family puts at the end of each of a user's messages: open files, terminals with their output, the time. Terminals print
 * what they like, a closing tag as well, so that the last one ends it.
 */
const OWN_TEXT = /^<environment_details>[\s\S]*<\/environment_details>\s*$/;
const AT_END = /<environment_details>[\s\S]*<\/environment_details>\s*$/;

/** Whether a text is an environment and nothing else. What merely begins like one may be a tool's result. */
export const isEnvironment = (text: string): boolean => OWN_TEXT.test(text);

/** The text without the environment at its end. */
export const withoutEnvironment = (text: string): string => text.replace(AT_END, '');
