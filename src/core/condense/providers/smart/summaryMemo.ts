import { hashText, type Hash } from '../../../hash';
import type { Prompt } from '../../summary/prompt';
import type { SummarizerModel } from '../../summary/summarizer';

/**
 * Summaries that were paid for, by what they were made from. Neither rejects: without a memo a summary is asked for
 * anew.
 */
export interface SummaryMemo {
  get(key: Hash): Promise<string | undefined>;
  set(key: Hash, summary: string): Promise<void>;
}

/** The same request to the same model is not paid for twice. */
export const memoKey = ({ vendor, model }: SummarizerModel, { system, prompt }: Prompt): Hash =>
  hashText([vendor, model, system, prompt].join('\n\u0000\n'));

const REMEMBERED = 2_000;

/** Remembers as long as the process lives; the oldest goes when it is full. */
export function memoryMemo(): SummaryMemo {
  const known = new Map<Hash, string>();
  return {
    get: (key) => Promise.resolve(known.get(key)),
    set(key, summary) {
      known.set(key, summary);
      if (known.size > REMEMBERED) {
        const oldest = known.keys().next();
        if (!oldest.done) known.delete(oldest.value);
      }
      return Promise.resolve();
    },
  };
}
