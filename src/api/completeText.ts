/** A text from a model, whole or not at all: what summaries are made with. */
import type { Block } from '../core/messages/types';
import { ApiError, isApiError, type ApiErrorKind } from './apiError';
import type { ApiHandler, ApiRequest, StopReason, Usage } from './types';

export interface CompleteTextOptions {
  readonly signal?: AbortSignal;
}

/** `usage` is undefined where the vendor was not reached or told nothing; it is paid for failed texts too. */
export type TextOutcome = CompleteText | FailedText;

export interface CompleteText {
  readonly kind: 'complete';
  readonly text: string;
  readonly usage: Usage | undefined;
}

export interface FailedText {
  /**
   * `empty`: no text, or a blank one. `refused`: the model, or the vendor's filter, declined. `cut-at-limit`: at the most
   * tokens, or at the window's end. `cut-off`: the stream stopped half-way. `tool-call`: a tool was called instead.
   * `aborted`: by the caller. `failed`: everything else.
   */
  readonly kind: 'empty' | 'refused' | 'cut-at-limit' | 'cut-off' | 'tool-call' | 'aborted' | 'failed';
  readonly error: ApiError;
  /** The text that came until then: to be shown, never to be used. */
  readonly partialText: string;
  readonly usage: Usage | undefined;
}

/** Asks for a text. Never throws: what went wrong is in the outcome. */
export async function completeText(
  handler: ApiHandler,
  request: ApiRequest,
  { signal }: CompleteTextOptions = {},
): Promise<TextOutcome> {
  let text = '';
  let usage: Usage | undefined;
  let stopReason: StopReason | undefined;
  let calls = 0;
  const { id: name } = handler.modelInfo;
  const failed = (kind: FailedText['kind'], error: ApiError): FailedText => ({ kind, error, partialText: text, usage });
  try {
    for await (const event of handler.stream(request, signal)) {
      if (event.type === 'text') text += event.text;
      if (event.type === 'block') text += summaryIn(event.block);
      if (event.type === 'tool_call') calls++;
      if (event.type === 'usage') usage = event.usage;
      if (event.type === 'end') stopReason = event.stopReason;
    }
  } catch (raw) {
    const error = isApiError(raw) ? raw : new ApiError('protocol', { name });
    return failed(classifyFailure(error, text), error);
  }
  const reason = (kind: ApiErrorKind, what?: string): ApiError =>
    new ApiError(kind, { name, ...(what !== undefined && { what }) });
  switch (stopReason) {
    case 'refusal':
      return failed('refused', reason('refusal'));
    case 'max_tokens':
      return failed('cut-at-limit', reason('output-limit'));
    case 'context_window':
      // "There was no room for the summarization prompt" (Anthropic's guide "Compaction on demand").
      if (request.compact) return failed('failed', reason('context-too-long'));
      return failed('cut-at-limit', reason('output-limit', "The answer was cut off at the end of the model's window."));
    case 'tool_use':
    case 'pause_turn':
      return failed('tool-call', reason('unexpected-tool-call'));
    case undefined:
    case 'other':
      return failed('cut-off', reason('protocol', 'The answer ended for an unknown reason.'));
    default:
      if (calls > 0) return failed('tool-call', reason('unexpected-tool-call'));
      return text.trim() === '' ? failed('empty', reason('empty-reply')) : { kind: 'complete', text, usage };
  }
}

/** The text of a vendor's own summary; null where it failed (Anthropic's SDK, `BetaCompactionBlock`). */
const summaryIn = ({ type, content }: Block): string =>
  type === 'compaction' && typeof content === 'string' ? content : '';

function classifyFailure({ kind }: ApiError, text: string): FailedText['kind'] {
  if (kind === 'aborted') return 'aborted';
  if (kind === 'refusal') return 'refused';
  // Whatever breaks a stream that has begun leaves half a text.
  return kind === 'protocol' || text !== '' ? 'cut-off' : 'failed';
}
