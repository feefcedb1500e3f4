import * as z from 'zod';
import type { RecallQuery } from './types';

const lineNumberSchema = z.int().min(1);

/** Tolerant, because models send numbers out of range, and strings instead of lists. */
export const recallInputSchema = z
  .object({
    references: z.union([z.array(z.string()), z.string().transform((reference) => [reference])]),
    words: z.string(),
    pattern: z.string(),
    fromLine: lineNumberSchema,
    toLine: lineNumberSchema,
    maxTokens: z.number().transform((tokens) => Math.min(20_000, Math.max(100, Math.round(tokens)))),
  })
  .partial();

export function toRecallQuery({
  references,
  words,
  pattern,
  ...limits
}: z.output<typeof recallInputSchema>): RecallQuery {
  const givenReferences = references?.filter((reference) => reference.trim() !== '') ?? [];
  return {
    ...(givenReferences.length > 0 && { references: givenReferences }),
    ...(words !== undefined && words.trim() !== '' && { words }),
    ...(pattern !== undefined && pattern !== '' && { pattern }),
    ...(limits.fromLine !== undefined && { fromLine: limits.fromLine }),
    ...(limits.toLine !== undefined && { toLine: limits.toLine }),
    ...(limits.maxTokens !== undefined && { maxTokens: limits.maxTokens }),
  };
}
