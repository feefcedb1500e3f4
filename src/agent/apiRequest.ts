/** Builds the request to the model from a request of the chat. */
import type { ApiRequest, ToolChoice, ToolDeclaration } from '../api/types';
import type { CacheLifetime } from '../core/cost/prices';
import { getBlocks, isToolUse } from '../core/messages/blocks';
import { hashText } from '../core/hash';
import type { ApiMessage } from '../core/messages/types';
import { hasField } from '../core/vendors/vendors';
import { withCacheMarks } from './cacheMarks';
import type { OfferedModel } from './offeredModels';

/** The room that a prompt leaves in the window, in the model's tokens. */
export interface PromptRoom {
  readonly contextWindow: number;
  readonly promptTokens: number;
  /** The model has reported tokens before: its count is close. */
  readonly isCalibrated: boolean;
}

export interface RequestParts {
  readonly system: string | undefined;
  readonly messages: readonly ApiMessage[];
  readonly tools: readonly ToolDeclaration[];
  /** A tool must be called. */
  readonly toolRequired: boolean;
  readonly room: PromptRoom | undefined;
  /** The conversation's id; undefined where it has none. */
  readonly conversation: string | undefined;
  /** Messages that carry a cache breakpoint; undefined: nothing is marked. */
  readonly cacheMarks: readonly number[] | undefined;
}

/**
 * The request to the model. Without tools of its own, one that goes on with calls declares the tools that they name, and
 * forbids the model to call them: the APIs refuse calls of tools that nobody declared.
 */
export function apiRequest(model: OfferedModel, parts: RequestParts): ApiRequest {
  const { profile } = model;
  const { system, messages, toolRequired, cacheMarks, room } = parts;
  const isMissing = parts.tools.length === 0;
  const tools = isMissing ? toolsIn(messages) : parts.tools;
  const toolChoice: ToolChoice | undefined = isMissing ? 'none' : toolRequired ? 'required' : undefined;
  // Anthropic lets a model think only where it may choose its tools (API guide, "Extended thinking with tool use").
  const thinkingTokens = toolRequired ? undefined : profile.thinkingTokens;
  const limit = outputLimit(model, room);
  const request: ApiRequest = {
    messages,
    ...(system !== undefined && { system }),
    ...(tools.length > 0 && { tools }),
    ...(tools.length > 0 && toolChoice !== undefined && { toolChoice }),
    ...(parts.conversation !== undefined && { conversation: hashText(parts.conversation) }),
    ...(limit !== undefined && { maxOutputTokens: limit }),
    ...(thinkingTokens !== undefined && { thinkingTokens }),
  };
  return cacheMarks ? withCacheMarks(request, cacheMarks, cacheLifetimeOf(profile)) : request;
}

/** Counts are estimates: so much of a prompt may be missing in its count, once the model has reported tokens, and before. */
const COUNT_MARGIN = 0.05;
const GUESS_MARGIN = 0.5;
const MIN_MARGIN = 1_024;
/** Less than this is no answer: a prompt that leaves less is refused for its length. */
const MIN_OUTPUT = 1_024;

/** The longest answer allowed: the model's limit, as far as the prompt leaves room for it. Undefined: the server knows best. */
function outputLimit({ maxOutputTokens }: OfferedModel, room: PromptRoom | undefined): number | undefined {
  if (maxOutputTokens === undefined || !room) return maxOutputTokens;
  const { contextWindow, promptTokens, isCalibrated } = room;
  const margin = Math.ceil(promptTokens * (isCalibrated ? COUNT_MARGIN : GUESS_MARGIN));
  const left = contextWindow - promptTokens - Math.max(MIN_MARGIN, margin);
  return Math.max(Math.min(MIN_OUTPUT, maxOutputTokens), Math.min(maxOutputTokens, left));
}

/** A history with calls needs its tools declared, also where the chat offers none any more. */
function toolsIn(messages: readonly ApiMessage[]): ToolDeclaration[] {
  const names = new Set(
    messages.flatMap((message) =>
      getBlocks(message)
        .filter(isToolUse)
        .map(({ name }) => name),
    ),
  );
  return [...names].map((name) => ({ name, description: 'No longer offered.', input_schema: { type: 'object' } }));
}

/** An agent sends its whole history each time: marked for five minutes unless the profile says otherwise. */
export const cacheLifetimeOf = ({ vendor, cacheLifetime }: OfferedModel['profile']): CacheLifetime =>
  cacheLifetime ?? (hasField(vendor, 'cacheLifetime') ? '5m' : 'none');

/** The two newest messages of the user: what is marked where nothing is condensed. */
export function newestMarks(messages: readonly ApiMessage[]): number[] {
  const users = messages.flatMap(({ role }, index) => (role === 'user' ? [index] : []));
  return users.slice(-2);
}
