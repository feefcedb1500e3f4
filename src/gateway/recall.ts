import * as z from 'zod';
import { getErrorMessage } from '../core/errors';
import { recallInputSchema, toRecallQuery } from '../live/recallInput';
import type { LiveConversationsApi, RecalledImage } from '../live/types';

/** The answer of the recall tool: text for the model, even if nothing was found. */
export interface RecallResult {
  readonly text: string;
  readonly images?: readonly RecalledImage[];
}

export const RECALL_ROUTE = 'recall';

/** Creates the route's handler, which never rejects: it returns errors as text. */
export const createRecallRoute =
  (live: LiveConversationsApi) =>
  async (body: unknown): Promise<RecallResult> => {
    const parsed = recallInputSchema.safeParse(body);
    if (!parsed.success) return { text: `Nothing was recalled: ${z.prettifyError(parsed.error)}` };
    try {
      const answer = await live.recall(undefined, toRecallQuery(parsed.data));
      return answer.kind === 'found' ? { text: answer.text, images: answer.images } : { text: answer.text };
    } catch (error) {
      return { text: `Nothing was recalled: ${getErrorMessage(error)}` };
    }
  };
