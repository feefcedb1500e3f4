import * as z from 'zod';
import { MAX_PROMPT_CHARS, checkPrompt } from './prompt';

/** Forms show prompts in a field that keeps line breaks. */
export const promptText = z
  .string()
  .superRefine((prompt, context) => {
    for (const { message } of checkPrompt(prompt)) context.addIssue({ code: 'custom', message });
  })
  .meta({ maxLength: MAX_PROMPT_CHARS, editPresentation: 'multilineText' });
