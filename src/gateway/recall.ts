/** Recall for an agent: by reference or by search, in the conversations of this gateway. */
import * as z from 'zod';
import { errorMessage } from '../core/errors';
import { recallInput, recallQuery } from '../live/recallInput';
import type { LiveConversationsApi, RecalledImage } from '../live/types';

/** An answer to an agent, in words for the model, also where nothing was found. */
export interface RecallResult {
  readonly text: string;
  readonly images?: readonly RecalledImage[];
}

/** The gateway's own route for it. */
export const RECALL_ROUTE = 'recall';

/** Answers recall for the MCP server of the same run. @returns a function that never fails: what is wrong is said in words. */
export const recallRoute =
  (live: LiveConversationsApi) =>
  async (body: unknown): Promise<RecallResult> => {
    const parsed = recallInput.safeParse(body);
    if (!parsed.success) return { text: `Nothing was recalled: ${z.prettifyError(parsed.error)}` };
    try {
      const answer = await live.recall(undefined, recallQuery(parsed.data));
      return answer.kind === 'found' ? { text: answer.text, images: answer.images } : { text: answer.text };
    } catch (error) {
      return { text: `Nothing was recalled: ${errorMessage(error)}` };
    }
  };
