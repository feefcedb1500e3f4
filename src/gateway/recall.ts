/** Recall for an agent: by reference or by search, in the conversations of this gateway. */
import * as z from 'zod';
import { errorMessage } from '../core/errors';
import { recallInput, recallQuery } from '../live/recallInput';
import type { LiveConversationsApi } from '../live/types';

/** The gateway's own route for it. */
export const RECALL_ROUTE = 'recall';

/** Answers recall for the MCP server of the same run. @returns a function that never fails: what is wrong is said in words. */
export const recallRoute =
  (live: LiveConversationsApi) =>
  async (body: unknown): Promise<{ readonly text: string }> => {
    const parsed = recallInput.safeParse(body);
    if (!parsed.success) return { text: `Nothing was recalled: ${z.prettifyError(parsed.error)}` };
    try {
      const { text } = await live.recall(undefined, recallQuery(parsed.data));
      return { text };
    } catch (error) {
      return { text: `Nothing was recalled: ${errorMessage(error)}` };
    }
  };
