import * as vscode from 'vscode';
import type { Usage } from '../api/types';
import { countPromptTokens } from '../core/cost/usage';
import { getErrorMessage } from '../core/errors';
import { isCutShort, type StreamedAnswer, type CutStopReason } from './answer';

/**
 * Makes the part that fills the chat's context ring, with the fields of OpenAI's API (undocumented;
 * seen in VS Code 1.139).
 */
export function toUsagePart(usage: Usage): vscode.LanguageModelDataPart {
  const prompt = countPromptTokens(usage);
  const fields = {
    prompt_tokens: prompt,
    completion_tokens: usage.outputTokens,
    total_tokens: prompt + usage.outputTokens,
    prompt_tokens_details: { cached_tokens: usage.cacheReadTokens },
  };
  return new vscode.LanguageModelDataPart(new TextEncoder().encode(JSON.stringify(fields)), 'usage');
}

export function describeMissingAnswerPart({ withheldTools, isEmpty, stopReason }: StreamedAnswer): string | undefined {
  if (isCutShort(stopReason))
    return isEmpty ? EMPTY_ANSWER_MESSAGES[stopReason]() : `\n\n_${CUT_ANSWER_MESSAGES[stopReason]()}_`;
  if (withheldTools.length > 0) {
    const tools = [...new Set(withheldTools)].join(', ');
    return vscode.l10n.t(
      'The model could not write the parameters of {0} in a form that the tool accepts. No tool was called; ask it to try another way.',
      tools,
    );
  }
  return undefined;
}

const EMPTY_ANSWER_MESSAGES: Readonly<Record<CutStopReason, () => string>> = {
  max_tokens: () =>
    vscode.l10n.t(
      'The model used up all tokens for its answer before it wrote one. Raise its output limit (maxOutputTokens).',
    ),
  context_window: () => vscode.l10n.t('The model’s context window is full.'),
  refusal: () => vscode.l10n.t('The model declined to answer.'),
};

const CUT_ANSWER_MESSAGES: Readonly<Record<CutStopReason, () => string>> = {
  max_tokens: () =>
    vscode.l10n.t(
      'The answer ends here because it reached the maximum number of tokens for one answer (maxOutputTokens).',
    ),
  context_window: () => vscode.l10n.t('The answer ends here: the model’s context window is full.'),
  refusal: () => vscode.l10n.t('The answer ends here: the model, or its vendor’s filter, declined to continue.'),
};

/** Makes an error without a stack, because VS Code 1.139 shows the stack after the message. */
export function toChatError(error: unknown): Error {
  const shownError = new Error(getErrorMessage(error));
  shownError.stack = '';
  return shownError;
}
