/**
 * The Roo family appends an environment to each user message: open files, terminal output, the
 * time. Terminal output may contain the closing tag, so the last one counts.
 */
const ENVIRONMENT_TEXT = /^<environment_details>[\s\S]*<\/environment_details>\s*$/;
const ENVIRONMENT_AT_END = /<environment_details>[\s\S]*<\/environment_details>\s*$/;

/** A text that only starts like an environment may be a tool's result. */
export const isEnvironmentDetails = (text: string): boolean => ENVIRONMENT_TEXT.test(text);

export const removeEnvironmentDetails = (text: string): string => text.replace(ENVIRONMENT_AT_END, '');
