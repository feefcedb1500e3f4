import * as z from 'zod';
import { MAX_PROMPT_CHARS, validateCustomPrompt } from './prompt';

/** Forms show prompts in a field that keeps line breaks. */
export const customPromptSchema = z
  .string()
  .superRefine((prompt, context) => {
    for (const { message } of validateCustomPrompt(prompt)) context.addIssue({ code: 'custom', message });
  })
  .meta({ maxLength: MAX_PROMPT_CHARS, editPresentation: 'multilineText' });
