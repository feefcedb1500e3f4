import type { ApiEvent, ApiHandler, ApiRequest, StopReason, Usage } from '../api/types';
import type { ApiMessage, Block } from '../core/messages/types';
import { assignUniqueCallIds } from './tidyMessages';

export type ToolCall = Extract<ApiEvent, { readonly type: 'tool_call' }>;

export interface AnswerDependencies {
  readonly handler: ApiHandler;
  readonly signal: AbortSignal;
  /**
   * Called when the vendor rejects a request before answering; may change the request.
   * @returns true if the changed request should be sent
   */
  readonly shouldRetry: (error: unknown, messages: readonly ApiMessage[]) => boolean;
  readonly shouldCorrect: () => boolean;
  /**
   * Returns a call's parameters with each marker replaced by the original text, or an error for the
   * model to read.
   */
  readonly expand: (input: unknown) => Promise<{ readonly input: unknown } | { readonly error: string }>;
  readonly onText: (text: string) => void;
  readonly onThinking: (text: string) => void;
  readonly onCall: (id: string, name: string, input: object) => void;
  /**
   * Called once for each request that the vendor accepted and charges, even if its answer was cut
   * off.
   * @param usage undefined if unknown
   */
  readonly onUsage: (usage: Usage | undefined) => void;
}

export interface StreamedAnswer {
  /** Usage of each request; several if the model had to correct its answer. */
  readonly usages: readonly (Usage | undefined)[];
  readonly stopReason: StopReason;
  readonly calls: readonly string[];
  readonly isEmpty: boolean;
  /** Names of tools that were not called, because the model could not correct its invalid calls. */
  readonly withheldTools: readonly string[];
}

export type CutStopReason = Extract<StopReason, 'max_tokens' | 'context_window' | 'refusal'>;

export const isCutShort = (reason: StopReason): reason is CutStopReason =>
  reason === 'max_tokens' || reason === 'context_window' || reason === 'refusal';

/**
 * Answers that stopped for other reasons (full window, refusal) are not corrected: a correction
 * would end the same way.
 */
const CORRECTABLE_STOP_REASONS: ReadonlySet<StopReason> = new Set<StopReason>([
  'max_tokens',
  'tool_use',
  'end_turn',
  'stop_sequence',
  'other',
]);

/**
 * Reports calls only after the answer is complete, so that an interrupted answer leaves no call.
 * Returns invalid calls to the model as errors.
 * @throws {ApiError}
 */
export async function streamAnswer(request: ApiRequest, dependencies: AnswerDependencies): Promise<StreamedAnswer> {
  const usages: (Usage | undefined)[] = [];
  let hasText = false;
  let currentRequest = request;
  for (;;) {
    const turn = await readModelTurn(currentRequest, dependencies);
    if (!turn) continue;
    hasText ||= turn.text !== '';
    usages.push(turn.usage);
    const checkedCalls = await Promise.all(
      turn.calls.map((call, index) =>
        checkToolCall(call, index === turn.calls.length - 1, turn.stopReason, dependencies),
      ),
    );
    const isFaulty = checkedCalls.some(({ fault }) => fault !== undefined);
    if (isFaulty && CORRECTABLE_STOP_REASONS.has(turn.stopReason) && dependencies.shouldCorrect()) {
      currentRequest = {
        ...currentRequest,
        messages: [
          ...currentRequest.messages,
          ...assignUniqueCallIds(createCorrectionMessages(turn, checkedCalls), currentRequest.messages),
        ],
      };
      continue;
    }
    // If one call stays invalid, omit all: half an answer would mislead the model.
    const calls = isFaulty ? [] : checkedCalls;
    for (const { call, input } of calls) dependencies.onCall(call.id, call.name, input);
    return {
      usages,
      stopReason: turn.stopReason,
      calls: calls.map(({ call }) => call.id),
      isEmpty: !hasText && calls.length === 0,
      withheldTools: isFaulty
        ? checkedCalls.flatMap(({ call, fault }) => (fault === undefined ? [] : [call.name]))
        : [],
    };
  }
}

interface ModelTurn {
  readonly text: string;
  readonly calls: readonly ToolCall[];
  readonly usage: Usage | undefined;
  readonly stopReason: StopReason;
}

/** @returns undefined if the vendor rejected the request and the changed one should be sent */
async function readModelTurn(
  request: ApiRequest,
  { handler, signal, shouldRetry, onText, onThinking, onUsage }: AnswerDependencies,
): Promise<ModelTurn | undefined> {
  let text = '';
  let usage: Usage | undefined;
  let stopReason: StopReason = 'other';
  const calls: ToolCall[] = [];
  let hasBegun = false;
  try {
    for await (const event of handler.stream(request, signal)) {
      hasBegun ||= event.type !== 'usage';
      switch (event.type) {
        case 'text':
          text += event.text;
          onText(event.text);
          break;
        case 'tool_call':
          calls.push(event);
          break;
        case 'usage':
          ({ usage } = event);
          break;
        case 'end':
          ({ stopReason } = event);
          break;
        case 'thinking':
          onThinking(event.text);
          break;
        case 'block':
          // VS Code has no part for such blocks. The handler keeps those that must be sent back.
          break;
      }
    }
  } catch (error) {
    if (usage) onUsage(usage);
    if (!hasBegun && shouldRetry(error, request.messages)) return undefined;
    throw error;
  }
  onUsage(usage);
  return { text, calls, usage, stopReason };
}

interface CheckedToolCall {
  readonly call: ToolCall;
  readonly input: object;
  readonly fault?: string;
}

async function checkToolCall(
  call: ToolCall,
  isLast: boolean,
  stopReason: StopReason,
  { expand }: AnswerDependencies,
): Promise<CheckedToolCall> {
  // A call cut off before its first parameter looks like one without parameters.
  const isCutOff = isLast && isCutShort(stopReason) && Object.keys(call.input).length === 0;
  if (isCutOff || !isJsonObject(call.rawArguments)) {
    const reason = stopReason === 'max_tokens' ? ', because the answer was cut at its limit: write less at once' : '';
    return {
      call,
      input: call.input,
      fault: `The call was not made: its parameters are no whole JSON object${reason}.`,
    };
  }
  const expandedInput = await expand(call.input);
  if ('error' in expandedInput) return { call, input: call.input, fault: expandedInput.error };
  // Expanding changes only strings inside, so an object stays an object.
  return { call, input: expandedInput.input as object };
}

function isJsonObject(text: string): boolean {
  if (text.trim() === '') return true;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

function createCorrectionMessages(turn: ModelTurn, checkedCalls: readonly CheckedToolCall[]): ApiMessage[] {
  const calls = checkedCalls.map(({ call, input }): Block => ({
    type: 'tool_use',
    id: call.id,
    name: call.name,
    input,
  }));
  const text: Block[] = turn.text.trim() === '' ? [] : [{ type: 'text', text: turn.text }];
  const results = checkedCalls.map(({ call, fault }): Block => ({
    type: 'tool_result',
    tool_use_id: call.id,
    content: fault ?? 'Not made yet, because another call of the same answer could not be made. Call it again.',
    is_error: true,
  }));
  return [
    { role: 'assistant', content: [...text, ...calls] },
    { role: 'user', content: results },
  ];
}
