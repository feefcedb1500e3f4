/**
 * Estimates what a conversation would have cost if it had been condensed as it grew. Assumes the
 * same answers.
 */
import type { View } from '../condense/edits/view';
import { NeededLineChecker } from '../condense/futureNeed/kept';
import { findNeededLines } from '../condense/futureNeed/neededLater';
import { findTurnStarts } from '../condense/futureNeed/cuts';
import type { Usage } from '../cost/usage';
import { makePlaceKey, type Edit } from '../condense/edits/edits';
import { getValueAt } from '../messages/path';
import type { ApiMessage } from '../messages/types';
import type { MessageCounter } from '../tokens/messageCounter';
import {
  isCacheWarm,
  simulateRequestUsage,
  makeReplayedUsage,
  type RequestTokenCalibration,
  type ConversationRequest,
} from './replay';
import { isEqual } from '../isEqual';

export interface ReplayOptions {
  readonly messages: readonly ApiMessage[];
  readonly requests: readonly ConversationRequest[];
  readonly calibration: RequestTokenCalibration;
  readonly counter: MessageCounter;
  /** Requests with at least this many model tokens are condensed. */
  readonly dueTokens: number;
  /**
   * Returns undefined if condensing saves nothing.
   * @param earlier previous edits, which stay unchanged
   */
  readonly condense: (prefix: readonly ApiMessage[], earlier: readonly Edit[]) => Promise<View | undefined>;
}

export interface ReplayedCosts {
  /** The original requests, replayed so that both costs are computed in the same way. */
  readonly before: readonly Usage[];
  readonly after: readonly Usage[];
  readonly condensations: number;
  /** Number of lines from before a condensation that later edits quote. */
  readonly needed: number;
  /**
   * `missing`: needed lines that the view lacks. `recallable`: those of them that a marker
   * references.
   */
  readonly missing: number;
  readonly recallable: number;
  /** One request for each place with missing lines: an upper bound. */
  readonly rereads: readonly Usage[];
}

const MAX_TURNS_LOOKED_AHEAD = 20;
const RETRY_GROWTH_FACTOR = 1.1;

export async function replayWithCondensation(options: ReplayOptions): Promise<ReplayedCosts> {
  const { messages, requests, calibration, counter, dueTokens, condense } = options;
  const { fixed, factor, outputFactor, cacheShare, accounting, cacheMs, writes } = calibration;
  const usageAfter: Usage[] = [];
  const rereadUsage: Usage[] = [];
  const lineCounts = { needed: 0, missing: 0, recallable: 0 };
  let condensations = 0;
  let lastRequest: { readonly request: ConversationRequest; readonly prompt: number } | undefined;
  let replayState: ReplayState = { firstMessage: -1, edits: [], savedTokens: 0, view: undefined, waitFor: 0 };
  for (const request of requests) {
    const { firstMessage, answer, sentTokens, answerTokens } = request;
    if (firstMessage !== replayState.firstMessage)
      replayState = { firstMessage, edits: [], savedTokens: 0, view: undefined, waitFor: 0 };
    let cachedTokens =
      lastRequest === undefined ? 0 : lastRequest.request.firstMessage === firstMessage ? lastRequest.prompt : fixed;
    let prompt = fixed + factor * (sentTokens - replayState.savedTokens);
    if (prompt >= Math.max(dueTokens, replayState.waitFor)) {
      const prefix = messages.slice(firstMessage, answer);
      const condensedView = await condense(prefix, replayState.edits);
      const tokens = condensedView && counter.countMessages(condensedView.messages);
      if (condensedView && tokens !== undefined && tokens < sentTokens - replayState.savedTokens) {
        cachedTokens = Math.min(
          cachedTokens,
          fixed +
            factor *
              countSamePrefixTokens(replayState.view ?? messages.slice(firstMessage), condensedView.messages, counter),
        );
        prompt = fixed + factor * tokens;
        condensations += 1;
        const missingTexts = countMissingNeededLines(
          messages.slice(firstMessage),
          answer - firstMessage,
          condensedView,
          lineCounts,
        );
        for (const text of missingTexts) {
          const contextTokens = Math.round(prompt);
          const resultTokens = Math.round(factor * counter.countText(text));
          rereadUsage.push(
            makeReplayedUsage(
              contextTokens + resultTokens,
              contextTokens,
              Math.round(outputFactor * TOKENS_PER_RECALL_CALL),
              accounting,
              writes,
            ),
          );
        }
        replayState = {
          firstMessage,
          edits: condensedView.edits,
          savedTokens: sentTokens - tokens,
          view: condensedView.messages,
          waitFor: 0,
        };
      } else replayState = { ...replayState, waitFor: prompt * RETRY_GROWTH_FACTOR };
    }
    const isWarm = lastRequest !== undefined && isCacheWarm(lastRequest.request, request, cacheMs);
    const promptTokens = Math.round(prompt);
    const cacheReadTokens = isWarm ? Math.round(Math.min(promptTokens, cachedTokens) * cacheShare) : 0;
    usageAfter.push(
      makeReplayedUsage(promptTokens, cacheReadTokens, Math.round(outputFactor * answerTokens), accounting, writes),
    );
    lastRequest = { request, prompt };
  }
  return {
    before: simulateRequestUsage(requests, calibration),
    after: usageAfter,
    condensations,
    ...lineCounts,
    rereads: rereadUsage,
  };
}

const TOKENS_PER_RECALL_CALL = 50;

interface ReplayState {
  readonly firstMessage: number;
  readonly edits: readonly Edit[];
  readonly savedTokens: number;
  readonly view: readonly ApiMessage[] | undefined;
  /** Model tokens that a request must have before we try to condense again. */
  readonly waitFor: number;
}

function countSamePrefixTokens(
  oldView: readonly ApiMessage[],
  newView: readonly ApiMessage[],
  counter: MessageCounter,
): number {
  let tokens = 0;
  for (const [index, message] of newView.entries()) {
    const oldMessage = oldView[index];
    if (!oldMessage || !isEqual(oldMessage, message)) break;
    tokens += counter.countMessage(message);
  }
  return tokens;
}

function countMissingNeededLines(
  messages: readonly ApiMessage[],
  cut: number,
  condensedView: View,
  lines: { needed: number; missing: number; recallable: number },
): string[] {
  const laterTurns = findTurnStarts(messages).filter((turn) => turn >= cut);
  const neededLines = findNeededLines(messages, cut, laterTurns[MAX_TURNS_LOOKED_AHEAD] ?? messages.length);
  if (neededLines.length === 0) return [];
  const lineChecker = new NeededLineChecker(condensedView);
  const textByPlace = new Map<string, string>();
  for (const line of neededLines) {
    lines.needed += 1;
    const state = lineChecker.checkLine(line);
    if (state === 'verbatim') continue;
    lines.missing += 1;
    if (state === 'recallable') lines.recallable += 1;
    const lastShown = line.shown.at(-1);
    const text = lastShown && getValueAt(messages[lastShown.message], lastShown.path);
    if (lastShown && typeof text === 'string') textByPlace.set(makePlaceKey(lastShown), text);
  }
  return [...textByPlace.values()];
}
