import type { ApiRequest, ToolChoice, ToolDeclaration } from '../api/types';
import type { CacheLifetime } from '../core/cost/prices';
import { getBlocks, isToolUse } from '../core/messages/blocks';
import { hashText } from '../core/hash';
import type { ApiMessage } from '../core/messages/types';
import { vendorHasField } from '../core/vendors/vendors';
import { addCacheMarks } from './cacheMarks';
import type { OfferedModel } from './offeredModels';

/** How full the window is, in the model's own tokens. */
export interface PromptFill {
  readonly contextWindow: number;
  readonly promptTokens: number;
  /** True if the model has reported token counts, by which our own counts are calibrated. */
  readonly isCalibrated: boolean;
}

export interface RequestContent {
  readonly system: string | undefined;
  readonly messages: readonly ApiMessage[];
  readonly tools: readonly ToolDeclaration[];
  readonly toolRequired: boolean;
  readonly promptFill: PromptFill | undefined;
  readonly conversation: string | undefined;
  readonly cacheMarks: readonly number[] | undefined;
}

/**
 * If the chat offers no tools, declares those that the history calls and forbids calling them,
 * because APIs reject calls of undeclared tools.
 */
export function buildApiRequest(model: OfferedModel, parts: RequestContent): ApiRequest {
  const { profile } = model;
  const { system, messages, toolRequired, cacheMarks, promptFill } = parts;
  const isMissing = parts.tools.length === 0;
  const tools = isMissing ? declareCalledTools(messages) : parts.tools;
  const toolChoice: ToolChoice | undefined = isMissing ? 'none' : toolRequired ? 'required' : undefined;
  // Anthropic only allows thinking if the model may choose its tools (API guide, "Extended thinking
  // with tool use").
  const thinkingTokens = toolRequired ? undefined : profile.thinkingTokens;
  const limit = computeOutputLimit(model, promptFill);
  const request: ApiRequest = {
    messages,
    ...(system !== undefined && { system }),
    ...(tools.length > 0 && { tools }),
    ...(tools.length > 0 && toolChoice !== undefined && { toolChoice }),
    ...(parts.conversation !== undefined && { conversation: hashText(parts.conversation) }),
    ...(limit !== undefined && { maxOutputTokens: limit }),
    ...(thinkingTokens !== undefined && { thinkingTokens }),
  };
  return cacheMarks ? addCacheMarks(request, cacheMarks, getCacheLifetime(profile)) : request;
}

/**
 * Margins for errors in counting, as shares of the prompt: with calibrated counts, and with
 * estimated ones.
 */
const EXACT_COUNT_MARGIN_SHARE = 0.05;
const ESTIMATED_COUNT_MARGIN_SHARE = 0.5;
const MIN_MARGIN_TOKENS = 1_024;
/**
 * Minimum limit for the answer. If a prompt leaves less room, the vendor rejects it as too long.
 */
const MIN_OUTPUT_TOKENS = 1_024;

/**
 * The model's own limit, or less if the prompt leaves less room. If undefined, the server decides.
 */
function computeOutputLimit({ maxOutputTokens }: OfferedModel, room: PromptFill | undefined): number | undefined {
  if (maxOutputTokens === undefined || !room) return maxOutputTokens;
  const { contextWindow, promptTokens, isCalibrated } = room;
  const margin = Math.ceil(promptTokens * (isCalibrated ? EXACT_COUNT_MARGIN_SHARE : ESTIMATED_COUNT_MARGIN_SHARE));
  const availableTokens = contextWindow - promptTokens - Math.max(MIN_MARGIN_TOKENS, margin);
  return Math.max(Math.min(MIN_OUTPUT_TOKENS, maxOutputTokens), Math.min(maxOutputTokens, availableTokens));
}

function declareCalledTools(messages: readonly ApiMessage[]): ToolDeclaration[] {
  const names = new Set(
    messages.flatMap((message) =>
      getBlocks(message)
        .filter(isToolUse)
        .map(({ name }) => name),
    ),
  );
  return [...names].map((name) => ({ name, description: 'No longer offered.', input_schema: { type: 'object' } }));
}

/**
 * Returns the profile's cache lifetime, by default five minutes because agents resend the whole
 * history.
 */
export const getCacheLifetime = ({ vendor, cacheLifetime }: OfferedModel['profile']): CacheLifetime =>
  cacheLifetime ?? (vendorHasField(vendor, 'cacheLifetime') ? '5m' : 'none');

/** Selects messages for cache breakpoints if nothing is condensed: the user's two newest ones. */
export function selectCacheMarksAtNewestMessages(messages: readonly ApiMessage[]): number[] {
  const users = messages.flatMap(({ role }, index) => (role === 'user' ? [index] : []));
  return users.slice(-2);
}
