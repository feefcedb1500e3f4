/** Condenses new results before they are first sent. */
import { Draft } from '../core/condense/draft/draft';
import { selectLastEditPerPlace, type CutEdit } from '../core/condense/edits/edits';
import type { View } from '../core/condense/edits/view';
import { cutNewResults, type NewResultRules } from '../core/condense/lossless/newResults';
import { computePercentOfWindow } from '../core/condense/trigger/thresholds';
import { listContents } from '../core/messages/content';
import { findNewViolations } from '../core/messages/firewall';
import type { ApiMessage } from '../core/messages/types';
import type { MessageCounter } from '../core/tokens/messageCounter';
import { addCutsToView } from './followEdits';
import { readOwnTools } from './ownTools';
import type { LiveSettings } from './types';

/**
 * A new result is too large if it takes this percentage of the window and at least this many o200k
 * tokens.
 */
const LARGE_RESULT_PERCENT = 25;
const MIN_LARGE_RESULT_TOKENS = 20_000;

/** In UTF-16 units despite the name; shorter results are not worth examining. */
const MIN_RESULT_TOKENS = 200;

export interface NewResultsState {
  readonly view: View;
  readonly firstNew: number;
}

export interface NewResultsConfig {
  readonly rules: NewResultRules;
  /** Rules to apply afterwards to the remaining results, if `isNeeded` is true for the view. */
  readonly further?: { readonly rules: NewResultRules; readonly isNeeded: (shown: View) => boolean };
}

export interface CondensedResults extends NewResultsState {
  readonly edits: readonly CutEdit[];
  /** Indexes of messages whose calls read lines again that a marker had replaced. */
  readonly rereads: readonly number[];
  /** o200k tokens saved by the edits. */
  readonly saved: number;
}

export interface NewResultsRequest {
  /** In the model's tokens; 0 if unknown. */
  readonly contextWindow: number;
  /** The model's tokens per o200k token. */
  readonly tokenFactor: number;
  /** If false, a large result is only condensed if the request would not fit. */
  readonly canRecall: boolean;
  readonly isFitting: (shown: View) => boolean;
}

/** Returns undefined if no new result is to be condensed. */
export function createNewResultRules(
  settings: LiveSettings,
  { contextWindow, tokenFactor, canRecall, isFitting }: NewResultsRequest,
): NewResultsConfig | undefined {
  const { isPaused, newResults, newResultsNoise: noise = false, isCautious = true } = settings;
  if (isPaused) return undefined;
  const { largeResultPercent = LARGE_RESULT_PERCENT } = settings;
  const rules = { lossless: newResults !== 'off', noise, isCautious, tools: readOwnTools(settings) };
  if (largeResultPercent <= 0 || contextWindow <= 0) return { rules };
  const percentTokens = computePercentOfWindow(largeResultPercent, contextWindow) / tokenFactor;
  const rulesForLargeResults = { ...rules, largeTokens: Math.max(MIN_LARGE_RESULT_TOKENS, percentTokens) };
  return canRecall
    ? { rules: rulesForLargeResults }
    : { rules, further: { rules: rulesForLargeResults, isNeeded: (shown) => !isFitting(shown) } };
}

/** @returns undefined if nothing was removed or read again */
export async function condenseNewResults(
  state: NewResultsState,
  { rules, further }: NewResultsConfig,
  counter: MessageCounter,
): Promise<CondensedResults | undefined> {
  if (!state.view.original.slice(state.firstNew).some(containsLongResult)) return undefined;
  let results = await applyNewResultRules(rules, state, counter);
  const { rereads } = results;
  if (further?.isNeeded(results.view)) {
    const furtherResults = await applyNewResultRules(further.rules, results, counter);
    const edits = selectLastEditPerPlace([...results.edits, ...furtherResults.edits]).filter(
      (edit) => edit.kind === 'cut',
    );
    results = { ...furtherResults, edits, rereads, saved: results.saved + furtherResults.saved };
  }
  return results.edits.length === 0 && rereads.length === 0 ? undefined : results;
}

/** Returns no edits if the view would break a rule of the APIs. */
async function applyNewResultRules(
  rules: NewResultRules,
  { view: viewBefore, firstNew }: NewResultsState,
  counter: MessageCounter,
): Promise<CondensedResults> {
  const { original: messages } = viewBefore;
  const draft = new Draft(messages, counter, viewBefore.edits, firstNew);
  const tokensBefore = draft.tokens;
  const { edits, rereads } = await cutNewResults(draft, rules);
  const viewAfter = addCutsToView(viewBefore, edits);
  // Some rules span several messages, so the check includes the task and the previous answer.
  const firstCheckedIndex = Math.max(draft.task + 1, firstNew - 1);
  const messagesUntilTask = messages.slice(0, draft.task + 1);
  const checkedMessages = viewAfter.messages.slice(viewAfter.origins.lastIndexOf(firstCheckedIndex));
  const isValid =
    findNewViolations(
      [...messagesUntilTask, ...messages.slice(firstCheckedIndex)],
      [...messagesUntilTask, ...checkedMessages],
    ).length === 0;
  return isValid
    ? { firstNew, edits, rereads, view: viewAfter, saved: tokensBefore - draft.tokens }
    : { firstNew, edits: [], rereads: [], view: viewBefore, saved: 0 };
}

const containsLongResult = (message: ApiMessage): boolean =>
  listContents(message).some(({ type, text }) => type === 'toolResults' && text.length >= MIN_RESULT_TOKENS);
