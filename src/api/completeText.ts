import type { Block } from '../core/messages/types';
import { ApiError, isApiError, type ApiErrorKind } from './apiError';
import type { ApiHandler, ApiRequest, StopReason, Usage } from './types';

export interface CompleteTextOptions {
  readonly signal?: AbortSignal;
}

/** `usage` is undefined if the vendor reported none; failed texts are billed too. */
export type TextOutcome = CompleteText | FailedText;

export interface CompleteText {
  readonly kind: 'complete';
  readonly text: string;
  readonly usage: Usage | undefined;
}

export interface FailedText {
  /**
   * `cut-at-limit`: at the output limit or the end of the window. `cut-off`: the stream ended
   * early.
   */
  readonly kind: 'empty' | 'refused' | 'cut-at-limit' | 'cut-off' | 'tool-call' | 'aborted' | 'failed';
  readonly error: ApiError;
  readonly partialText: string;
  readonly usage: Usage | undefined;
}

/** Never throws; errors are part of the outcome. */
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
  const makeFailure = (kind: FailedText['kind'], error: ApiError): FailedText => ({
    kind,
    error,
    partialText: text,
    usage,
  });
  try {
    for await (const event of handler.stream(request, signal)) {
      if (event.type === 'text') text += event.text;
      if (event.type === 'block') text += getCompactionText(event.block);
      if (event.type === 'tool_call') calls++;
      if (event.type === 'usage') usage = event.usage;
      if (event.type === 'end') stopReason = event.stopReason;
    }
  } catch (raw) {
    const error = isApiError(raw) ? raw : new ApiError('protocol', { name });
    return makeFailure(classifyTextFailure(error, text), error);
  }
  const makeError = (kind: ApiErrorKind, sentence?: string): ApiError =>
    new ApiError(kind, { name, ...(sentence !== undefined && { sentence }) });
  switch (stopReason) {
    case 'refusal':
      return makeFailure('refused', makeError('refusal'));
    case 'max_tokens':
      return makeFailure('cut-at-limit', makeError('output-limit'));
    case 'context_window':
      // "There was no room for the summarization prompt" (Anthropic's guide "Compaction on demand").
      if (request.compact) return makeFailure('failed', makeError('context-too-long'));
      return makeFailure(
        'cut-at-limit',
        makeError('output-limit', 'The answer was cut off at the end of the model’s window.'),
      );
    case 'tool_use':
    case 'pause_turn':
      return makeFailure('tool-call', makeError('unexpected-tool-call'));
    case undefined:
    case 'other':
      return makeFailure('cut-off', makeError('protocol', 'The answer ended for an unknown reason.'));
    default:
      if (calls > 0) return makeFailure('tool-call', makeError('unexpected-tool-call'));
      return text.trim() === '' ? makeFailure('empty', makeError('empty-reply')) : { kind: 'complete', text, usage };
  }
}

/** Null content means that the vendor's summary failed (Anthropic's SDK, `BetaCompactionBlock`). */
const getCompactionText = ({ type, content }: Block): string =>
  type === 'compaction' && typeof content === 'string' ? content : '';

function classifyTextFailure({ kind }: ApiError, text: string): FailedText['kind'] {
  if (kind === 'aborted') return 'aborted';
  if (kind === 'refusal') return 'refused';
  return kind === 'protocol' || text !== '' ? 'cut-off' : 'failed';
}
