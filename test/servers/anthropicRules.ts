/**
 * Rejects requests as Anthropic's Messages API does (400), with its messages. The rules come from
 * its reference and users' reports, and share no code with src/core/messages/firewall, so that each
 * checks the other.
 */
import { claudeModel } from './claudeModels';
import { isObject, list, objects, text, type Json } from './json';

/** Creates and verifies signatures of thinking; only the server knows the key. */
export interface Signer {
  sign(content: string): string;
}

/** Rules that are off by default. */
export interface AnthropicStrictness {
  /**
   * Applies the model's limits in claudeModels.ts: thinking, tools, output and minimum cached
   * prompt.
   */
  readonly byModel?: boolean;
  /**
   * With thinking, the first answer of a turn with tool calls must start with thinking, but later
   * answers of the turn need not ("When `thinking` is enabled, a final `assistant` message must
   * start with a thinking block"; guide "Extended thinking": a turn's calls and results are one
   * assistant turn). Replaces the rule for the last answer.
   */
  readonly turns?: boolean;
  /**
   * `anthropic-version: 2026-10-21` rejects what its migration guide lists: sampling parameters,
   * misplaced documents and citations.
   */
  readonly version?: boolean;
  /**
   * A request with other thinking settings or a forced call is cached separately (guide "Prompt
   * caching").
   */
  readonly cacheKeys?: boolean;
  /**
   * Allows system messages among the others, as Claude Code 2.1.332 sends them to claude-opus-4-8
   * and later.
   */
  readonly systemMessages?: boolean;
  /** The model has no image input. */
  readonly textOnly?: boolean;
  /** Maximum request bytes; more is a 413 (32 MB, docs/en/api/errors). */
  readonly maxBytes?: number;
}

const MAX_BREAKPOINTS = 4;

const TOOL_BLOCKS = new Set(['tool_use', 'tool_result']);

/**
 * Returns the API's message for the first error of a request, or undefined if it is valid.
 * @param betas the header `anthropic-beta`.
 */
export function anthropicFault(
  body: Json,
  signer: Signer,
  strict: AnthropicStrictness = {},
  betas = '',
): string | undefined {
  return (
    shapeFault(body, betas) ??
    messageFaults(body, signer, strict) ??
    pairFault(body) ??
    breakpointFault(body) ??
    toolFault(body) ??
    thinkingFault(body, strict, betas) ??
    clearingFault(body) ??
    compactionFault(body) ??
    modelFault(body, strict)
  );
}

/** Fields enabled only by a beta header (`AnthropicBeta` of the SDK). */
const BETA_FIELDS: Readonly<Record<string, string>> = {
  context_management: 'context-management-2025-06-27',
  mcp_servers: 'mcp-client-',
  fallbacks: 'server-side-fallback-',
  compaction: 'compact-2026-09-04',
  thread: 'message-threads-',
};

function shapeFault(body: Json, betas: string): string | undefined {
  if (typeof body['model'] !== 'string') return 'model: Field required';
  if (!Number.isInteger(body['max_tokens']) || (body['max_tokens'] as number) < 1) return 'max_tokens: Field required';
  if (!Array.isArray(body['messages'])) return 'messages: Field required';
  if (body['messages'].length === 0) return 'messages: at least one message is required';
  const knownFields = new Set([
    'model',
    'max_tokens',
    'messages',
    'system',
    'tools',
    'tool_choice',
    'temperature',
    'thinking',
    'stream',
    'stop_sequences',
    'top_p',
    'top_k',
    'metadata',
    'service_tier',
    'cache_control',
    'output_config',
    'container',
    'anthropic_version',
    'anthropic_beta',
    'diagnostics',
    'inference_geo',
    'speed',
  ]);
  const isBeta = (field: string): boolean => {
    const betaName = BETA_FIELDS[field];
    return betaName !== undefined && betas.includes(betaName);
  };
  const unknown = Object.keys(body).find((field) => !knownFields.has(field) && !isBeta(field));
  if (unknown === 'compaction') return `compaction: this parameter requires anthropic-beta: ${BETA_FIELDS[unknown]}`;
  if (unknown !== undefined) return `${unknown}: Extra inputs are not permitted`;
  const { system } = body;
  if (Array.isArray(system)) {
    const blankBlockIndex = system.findIndex((block) => isObject(block) && text(block['text']).trim() === '');
    if (blankBlockIndex >= 0) return 'system: text content blocks must be non-empty';
  }
  return undefined;
}

function messageFaults(
  body: Json,
  signer: Signer,
  { systemMessages: takesSystem = false }: AnthropicStrictness,
): string | undefined {
  const messages = list(body['messages']);
  for (const [index, message] of messages.entries()) {
    const messagePath = `messages.${index}`;
    if (!isObject(message)) return `${messagePath}: Input should be a valid dictionary`;
    const extra = Object.keys(message).find((field) => field !== 'role' && field !== 'content');
    if (extra !== undefined) return `${messagePath}.${extra}: Extra inputs are not permitted`;
    if (index > 0 && message['role'] === 'system' && takesSystem) continue;
    if (message['role'] !== 'user' && message['role'] !== 'assistant') {
      return `${messagePath}.role: Input should be 'user' or 'assistant'`;
    }
    if (index === 0 && message['role'] !== 'user') return 'messages: first message must use the "user" role';
    const fault = contentFault(message, messagePath, index === messages.length - 1, signer);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function contentFault({ role, content }: Json, at: string, isLast: boolean, signer: Signer): string | undefined {
  if (typeof content === 'string') {
    if (content === '' && !(isLast && role === 'assistant')) {
      return `${at}: all messages must have non-empty content except for the optional final assistant message`;
    }
    return content !== '' && content.trim() === ''
      ? `${at}: text content blocks must contain non-whitespace text`
      : undefined;
  }
  if (!Array.isArray(content)) return `${at}.content: Field required`;
  if (content.length === 0 && !(isLast && role === 'assistant')) {
    return `${at}: all messages must have non-empty content except for the optional final assistant message`;
  }
  for (const [index, block] of content.entries()) {
    const fault = blockFault(block, `${at}.content.${index}`, role, signer);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

/** Allowed fields per block. */
const BLOCK_FIELDS: Readonly<Record<string, readonly string[]>> = {
  text: ['text', 'cache_control', 'citations'],
  image: ['source', 'cache_control', 'transformations'],
  document: ['source', 'cache_control', 'citations', 'context', 'title'],
  search_result: ['source', 'title', 'content', 'cache_control', 'citations'],
  thinking: ['thinking', 'signature'],
  redacted_thinking: ['data'],
  tool_use: ['id', 'name', 'input', 'cache_control', 'caller'],
  tool_result: ['tool_use_id', 'content', 'is_error', 'cache_control'],
};

function blockFault(block: unknown, at: string, role: unknown, signer: Signer): string | undefined {
  if (!isObject(block) || typeof block['type'] !== 'string') return `${at}.type: Field required`;
  const { type } = block;
  const fields = BLOCK_FIELDS[type];
  if (!fields && !/^(?:server_tool_use|mcp_tool_use|container_upload|compaction|\w+_tool_result)$/.test(type)) {
    return `${at}: Input tag '${type}' found using 'type' does not match any of the expected tags`;
  }
  const extra = fields && Object.keys(block).find((field) => field !== 'type' && !fields.includes(field));
  if (extra !== undefined) return `${at}.${type}.${extra}: Extra inputs are not permitted`;
  switch (type) {
    case 'text':
      if (text(block['text']) === '') return 'messages: text content blocks must be non-empty';
      return text(block['text']).trim() === ''
        ? 'messages: text content blocks must contain non-whitespace text'
        : undefined;
    case 'image':
      return imageFault(block, at);
    case 'thinking':
      if (role !== 'assistant') return `${at}: thinking blocks may only be in \`assistant\` messages`;
      if (typeof block['signature'] !== 'string') return `${at}.thinking.signature: Field required`;
      // If the thinking's text is omitted, the signature contains it.
      return block['signature'] === signer.sign(text(block['thinking'])) ||
        (block['thinking'] === '' && isSigned(block['signature'], signer))
        ? undefined
        : `${at}: Invalid \`signature\` in \`thinking\` block`;
    case 'redacted_thinking':
      return isSigned(text(block['data']), signer)
        ? undefined
        : `${at}: Invalid \`data\` in \`redacted_thinking\` block`;
    case 'tool_use':
      if (role !== 'assistant') return `${at}: \`tool_use\` blocks can only be in \`assistant\` messages`;
      if (!/^[a-zA-Z0-9_-]+$/.test(text(block['id'])))
        return `${at}.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'`;
      if (text(block['name']) === '') return `${at}.tool_use.name: Field required`;
      return isObject(block['input']) ? undefined : `${at}.tool_use.input: Input should be a valid dictionary`;
    case 'tool_result':
      if (role !== 'user') return `${at}: \`tool_result\` blocks can only be in \`user\` messages`;
      return resultFault(block, at, signer);
    default:
      return undefined;
  }
}

const isSigned = (data: string, signer: Signer): boolean => {
  const [content = '', signature = ''] = data.split('.');
  return signature === signer.sign(content);
};

function imageFault({ source }: Json, at: string): string | undefined {
  if (!isObject(source)) return `${at}.image.source: Field required`;
  if (source['type'] === 'url')
    return typeof source['url'] === 'string' ? undefined : `${at}.image.source.url: Field required`;
  if (source['type'] !== 'base64') return `${at}.image.source: Input tag does not match any of the expected tags`;
  const isKnown = ['image/jpeg', 'image/png', 'image/gif', 'image/webp'].includes(text(source['media_type']));
  return isKnown && text(source['data']) !== '' ? undefined : `${at}.image.source.base64: invalid base64 data`;
}

function resultFault(block: Json, at: string, signer: Signer): string | undefined {
  const { content } = block;
  for (const [index, part] of list(content).entries()) {
    if (isObject(part) && TOOL_BLOCKS.has(text(part['type'])))
      return `${at}.tool_result.content.${index}: Input tag is not allowed here`;
    const fault = blockFault(part, `${at}.tool_result.content.${index}`, 'user', signer);
    if (fault !== undefined) return fault;
  }
  if (block['is_error'] !== true) return undefined;
  if (content === undefined || content === '' || (Array.isArray(content) && content.length === 0)) {
    return `${at}: content cannot be empty if \`is_error\` is true`;
  }
  const onlyText = typeof content === 'string' || objects(content).every((part) => part['type'] === 'text');
  return onlyText ? undefined : `${at}: all content must be type \`text\` if \`is_error\` is true`;
}

interface Turn {
  readonly role: string;
  readonly blocks: readonly Json[];
  /** Index of the turn's first message. */
  readonly at: number;
}

/** Merges consecutive messages of one role, as the API does; system messages are not turns. */
export function listTurns(body: Json): Turn[] {
  const turns: { role: string; blocks: Json[]; at: number }[] = [];
  for (const [at, message] of objects(body['messages']).entries()) {
    const role = text(message['role']);
    if (role === 'system') continue;
    const { content } = message;
    const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : objects(content);
    const lastTurn = turns.at(-1);
    if (lastTurn?.role === role) lastTurn.blocks.push(...blocks);
    else turns.push({ role, blocks: [...blocks], at });
  }
  return turns;
}

const listIds = (blocks: readonly Json[], type: string, field: string): string[] =>
  blocks.filter((block) => block['type'] === type).map((block) => text(block[field]));

const findDuplicate = (ids: readonly string[]): string | undefined =>
  ids.find((id, index) => ids.indexOf(id) !== index);

function pairFault(body: Json): string | undefined {
  const turns = listTurns(body);
  if (findDuplicate(turns.flatMap(({ blocks }) => listIds(blocks, 'tool_use', 'id'))) !== undefined) {
    return 'messages: `tool_use` ids must be unique';
  }
  for (const [index, turn] of turns.entries()) {
    const fault = turn.role === 'assistant' ? callFault(turn, turns[index + 1]) : resultsFault(turn, turns[index - 1]);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function callFault({ blocks, at }: Turn, answer: Turn | undefined): string | undefined {
  const calls = listIds(blocks, 'tool_use', 'id');
  const results = listIds(answer?.blocks ?? [], 'tool_result', 'tool_use_id');
  const unansweredCalls = calls.filter((id) => !results.includes(id));
  if (unansweredCalls.length > 0) {
    return `messages.${at}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${unansweredCalls.join(', ')}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`;
  }
  const serverCalls = blocks
    .filter(({ type }) => type === 'server_tool_use' || type === 'mcp_tool_use')
    .map(({ id }) => text(id));
  const serverResults = blocks
    .filter(({ type }) => text(type).endsWith('_tool_result'))
    .map((block) => text(block['tool_use_id']));
  const unpairedId =
    serverResults.find((id) => !serverCalls.includes(id)) ?? serverCalls.find((id) => !serverResults.includes(id));
  return unpairedId === undefined
    ? undefined
    : `messages.${at}: server tool use ${unpairedId} has no corresponding block`;
}

function resultsFault({ blocks, at }: Turn, before: Turn | undefined): string | undefined {
  const results = listIds(blocks, 'tool_result', 'tool_use_id');
  const calls = listIds(before?.blocks ?? [], 'tool_use', 'id');
  const orphanedResult = results.find((id) => !calls.includes(id));
  if (orphanedResult !== undefined) {
    return `messages.${at}.content.0: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${orphanedResult}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`;
  }
  if (findDuplicate(results) !== undefined) {
    return `messages.${at}.content.1: each tool_use must have a single result. Found multiple \`tool_result\` blocks with id: ${findDuplicate(results) ?? ''}`;
  }
  const firstOther = blocks.findIndex((block) => block['type'] !== 'tool_result');
  const lastResult = blocks.findLastIndex((block) => block['type'] === 'tool_result');
  return firstOther >= 0 && firstOther < lastResult
    ? `messages.${at}: \`tool_result\` blocks must come first in the content of a message`
    : undefined;
}

/** All blocks that may carry a breakpoint, in prompt order. */
function listMarkableBlocks(body: Json): Json[] {
  const inMessages = objects(body['messages']).flatMap((message) => objects(message['content']));
  return [
    ...objects(body['tools']),
    ...objects(body['system']),
    ...inMessages.flatMap((block) => [block, ...objects(block['content'])]),
  ];
}

function breakpointFault(body: Json): string | undefined {
  const breakpoints = [...listMarkableBlocks(body), body].flatMap(({ cache_control: mark }) =>
    isObject(mark) ? [{ isLong: mark['ttl'] === '1h' }] : [],
  );
  if (breakpoints.length > MAX_BREAKPOINTS)
    return `A maximum of ${MAX_BREAKPOINTS} blocks with cache_control may be provided. Found ${breakpoints.length}.`;
  return breakpoints.some(({ isLong }, index) => isLong && breakpoints[index - 1]?.isLong === false)
    ? "cache_control.ttl: a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block. Note that blocks are processed in the following order: `tools`, `system`, `messages`."
    : undefined;
}

function toolFault(body: Json): string | undefined {
  const tools = objects(body['tools']);
  const usesTools = listTurns(body).some(({ blocks }) => blocks.some(({ type }) => TOOL_BLOCKS.has(text(type))));
  // Gateways report this message; Bedrock says: "The toolConfig field must be defined when using
  // toolUse and toolResult".
  if (usesTools && tools.length === 0)
    return 'tools: Requests which have `tool_use` or `tool_result` blocks in `messages` must define tools.';
  const names = tools.map((tool) => text(tool['name']));
  if (findDuplicate(names) !== undefined) return 'tools: Tool names must be unique.';
  const index = tools.findIndex((tool) => tool['type'] === undefined && !isObject(tool['input_schema']));
  return index < 0 ? undefined : `tools.${index}.custom.input_schema: Field required`;
}

/** Fields per kind of `thinking` (`ThinkingConfigParam`, and `block_binding` of its beta). */
const THINKING_FIELDS: Readonly<Record<string, readonly string[]>> = {
  enabled: ['type', 'budget_tokens', 'display', 'block_binding'],
  adaptive: ['type', 'display', 'block_binding'],
  disabled: ['type'],
  between_tools: ['type'],
};

function thinkingFault(body: Json, { turns: byTurn = false }: AnthropicStrictness, betas: string): string | undefined {
  const { thinking } = body;
  if (!isObject(thinking)) return undefined;
  const type = text(thinking['type']);
  const fields = THINKING_FIELDS[type];
  if (!fields) return `thinking: Input tag '${type}' found using 'type' does not match any of the expected tags`;
  const other = Object.keys(thinking).find((field) => !fields.includes(field));
  if (other !== undefined) return `thinking.${type}.${other}: Extra inputs are not permitted`;
  if (type !== 'enabled') return undefined;
  const budget = Number(thinking['budget_tokens']);
  if (budget < 1024) return 'thinking.enabled.budget_tokens: Input should be greater than or equal to 1024';
  // With interleaved thinking, the budget applies to the whole turn (guide "Extended thinking",
  // "Interleaved thinking").
  if (budget >= Number(body['max_tokens']) && !betas.includes('interleaved-thinking-'))
    return '`max_tokens` must be greater than `thinking.budget_tokens`.';
  if (body['temperature'] !== undefined && body['temperature'] !== 1)
    return '`temperature` may only be set to 1 when thinking is enabled.';
  if (byTurn) return openingFault(body);
  // A turn with pending calls must start with its thinking.
  const [reply, answer] = listTurns(body).slice(-2);
  const isOpen = reply?.role === 'assistant' && answer?.blocks[0]?.['type'] === 'tool_result';
  const firstBlockType = text(reply?.blocks[0]?.['type']);
  return isOpen && firstBlockType !== 'thinking' && firstBlockType !== 'redacted_thinking'
    ? makeMissingThinkingMessage(reply.at, firstBlockType)
    : undefined;
}

const makeMissingThinkingMessage = (at: number, found: string): string =>
  `messages.${at}.content.0.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`${found}\`. When \`thinking\` is enabled, a final \`assistant\` message must start with a thinking block (preceeding the lastmost set of \`tool_use\` and \`tool_result\` blocks). We recommend you include thinking blocks from previous turns. To avoid this requirement, disable \`thinking\`.`;

/** Clearing thinking requires thinking to be enabled (anthropics/claude-code#11971). */
function clearingFault({ thinking, context_management: management }: Json): string | undefined {
  const clearsThinking =
    isObject(management) && objects(management['edits']).some(({ type }) => type === 'clear_thinking_20251015');
  const isThinkingEnabled = isObject(thinking) && ['enabled', 'adaptive'].includes(text(thinking['type']));
  return clearsThinking && !isThinkingEnabled
    ? '`clear_thinking_20251015` strategy requires `thinking` to be enabled or adaptive'
    : undefined;
}

/** Maximum characters of `instructions` (guide "Compaction on demand"). */
const MAX_INSTRUCTIONS = 16_384;

/**
 * A compaction request must not have fields that only affect answers (guide "Compaction on demand",
 * "Request a summary"). The API's wording is unknown.
 */
function compactionFault(body: Json): string | undefined {
  const { compaction, output_config: output, tool_choice: choice } = body;
  if (!isObject(compaction)) return undefined;
  if (compaction['type'] !== 'summarize') return 'compaction: Input tag does not match any of the expected tags';
  if (text(compaction['instructions']).length > MAX_INSTRUCTIONS) return 'compaction.summarize.instructions: too long';
  const other =
    ['context_management', 'stop_sequences'].find((field) => body[field] !== undefined) ??
    (isObject(output) && output['format'] !== undefined ? 'output_config.format' : undefined) ??
    (isObject(choice) && ['any', 'tool'].includes(text(choice['type'])) ? 'tool_choice' : undefined);
  return other === undefined ? undefined : `compaction: cannot be combined with \`${other}\``;
}

/** A turn starts with the first answer after the last user text. */
function openingFault(body: Json): string | undefined {
  const turns = listTurns(body);
  const lastUserTextTurn = turns.findLastIndex(
    ({ role, blocks }) => role === 'user' && !blocks.some(({ type }) => type === 'tool_result'),
  );
  const openingTurn = turns[lastUserTextTurn + 1];
  const firstBlockType = text(openingTurn?.blocks[0]?.['type']);
  return openingTurn && firstBlockType !== 'thinking' && firstBlockType !== 'redacted_thinking'
    ? makeMissingThinkingMessage(openingTurn.at, firstBlockType)
    : undefined;
}

function modelFault(body: Json, { byModel, textOnly }: AnthropicStrictness): string | undefined {
  if (textOnly === true && JSON.stringify(body['messages']).includes('"type":"image"'))
    return 'messages: image content blocks are not supported on this model';
  const id = text(body['model']);
  const model = byModel === true ? claudeModel(id) : undefined;
  if (!model) return undefined;
  const most = Number(body['max_tokens']);
  if (most > model.maxOutput)
    return `max_tokens: ${most} > ${model.maxOutput}, which is the maximum allowed number of output tokens for ${id}`;
  const { thinking, tool_choice: choice } = body;
  const type = isObject(thinking) ? text(thinking['type']) : model.byDefault;
  if (isObject(thinking) && !model.thinking.some((known) => known === type)) {
    return type === 'adaptive'
      ? 'adaptive thinking is not supported on this model'
      : `"thinking.type.${type}" is not supported for this model. Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.`;
  }
  if (!isObject(choice) || !['any', 'tool'].includes(text(choice['type']))) return undefined;
  if (!model.forcesTools) return 'tool_choice: type "tool" and "any" are not supported for this model.';
  return type === 'disabled' ? undefined : 'Thinking may not be enabled when tool_choice forces tool use.';
}

/** Finds errors that only 2026-10-21 rejects (its migration guide). */
export function versionFault(body: Json): string | undefined {
  const sampling = ['temperature', 'top_p', 'top_k'].find((field) => field in body);
  if (sampling !== undefined) return `${sampling}: Extra inputs are not permitted`;
  for (const [index, { role, content }] of objects(body['messages']).entries()) {
    for (const [at, block] of objects(content).entries()) {
      const blockPath = `messages.${index}.content.${at}`;
      if (role === 'assistant' && block['type'] === 'document')
        return `${blockPath}: document blocks are not permitted in assistant messages`;
      if (role === 'user' && block['type'] === 'text' && list(block['citations']).length > 0)
        return `${blockPath}.text.citations: citations are not permitted in user messages`;
    }
  }
  return undefined;
}

/**
 * Finds further errors for models with adaptive thinking (Anthropic's migration guides of 2026).
 */
export function adaptiveFault({ thinking, tool_choice: choice }: Json): string | undefined {
  if (isObject(thinking) && thinking['type'] !== 'adaptive') {
    return `"thinking.type.${text(thinking['type'])}" is not supported for this model. Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.`;
  }
  return isObject(choice) && ['any', 'tool'].includes(text(choice['type']))
    ? 'tool_choice: type "tool" and "any" are not supported for this model.'
    : undefined;
}
