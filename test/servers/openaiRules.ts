/**
 * Rejects requests as OpenAI's Chat Completions and Responses do (400), with their messages. The
 * rules come from the reference and users' reports, and share no code with the code under test.
 */
import type { Signer } from './anthropicRules';
import { isObject, list, objects, text, type Json } from './json';

export interface OpenAIFault {
  readonly message: string;
  readonly param?: string;
  readonly code?: string;
}

/** How compatible servers deviate from OpenAI's. */
export interface Quirks {
  /** The only accepted name of the output limit. Default: both names. */
  readonly maxTokensField?: 'max_tokens' | 'max_completion_tokens';
  /** Rejects `stream_options`. */
  readonly noStreamOptions?: boolean;
  /** Reports no usage. */
  readonly noUsage?: boolean;
  readonly noTemperature?: boolean;
  readonly noSystemRole?: boolean;
  /** Roles must alternate, as some chat templates require. */
  readonly alternateRoles?: boolean;
  /** Forwards `cache_control`, like OpenRouter. */
  readonly cacheControl?: boolean;
  /**
   * Accepts OpenRouter's fields: sessions, routing, reasoning with details, `cache_control`
   * everywhere.
   */
  readonly openRouter?: boolean;
  /**
   * Accepts only fields common to all servers, without cache keys or tiers (Mistral, older vLLM).
   */
  readonly plainFields?: boolean;
  /**
   * Call IDs must have nine alphanumeric characters (mistral-common's validator,
   * `_TOOL_CALL_ID_REGEX`).
   */
  readonly shortCallIds?: boolean;
  /** The model has no image input. */
  readonly textOnly?: boolean;
  /**
   * Streams each call in one piece, like some servers: all calls without `index`, or all with index
   * 0.
   */
  readonly callIndex?: 'none' | 'zero';
  /** Sends calls without an ID. */
  readonly noCallIds?: boolean;
  readonly stopForCalls?: boolean;
  /** Name of the thinking field. Default `reasoning_content`. */
  readonly reasoningField?: 'reasoning' | 'reasoning_content';
  /**
   * Requires a field with an assistant's calls: thinking (Kimi, DeepSeek), or a signature (Gemini).
   */
  readonly wants?: 'reasoning_content' | 'thought_signature';
  /** The model has no reasoning. */
  readonly noReasoning?: boolean;
  /** Sends errors as strings, like LM Studio. */
  readonly plainErrors?: boolean;
}

/** Rules beyond the shape of requests: limits of models and requirements of guides. */
export interface OpenAIStrictness {
  /** Maximum output tokens that may be requested. */
  readonly maxOutputTokens?: number;
  /** Maximum request bytes; more is a 413. */
  readonly maxBytes?: number;
  /**
   * Tools require the Responses API unless reasoning is disabled, as for GPT-5.6 and later
   * (danny-avila/LibreChat#14355).
   */
  readonly toolsOnResponses?: boolean;
  /**
   * Which earlier reasoning items are read and billed again: all, or those after the last user
   * message (`Reasoning.context` of the SDK: default `all_turns` from GPT-5.6, `current_turn`
   * before). An item costs as many tokens as when it was made, and its encrypted content is as long
   * as OpenAI's. Default: items are free.
   */
  readonly reasoning?: 'current_turn' | 'all_turns';
  /**
   * Assistant messages have a `phase` to send back. OpenAI accepts requests without it, but
   * dropping it "can degrade performance" (`ResponseOutputMessage.phase` of the SDK).
   */
  readonly phases?: boolean;
  /** Requests share a cache only if they have the same `prompt_cache_key` or session. */
  readonly cacheKeys?: boolean;
  /**
   * `reasoning_details` must come back unchanged with their calls (OpenRouter's guide "Reasoning
   * Tokens").
   */
  readonly reasoningDetails?: boolean;
}

export const chatFault = (body: Json, quirks: Quirks): OpenAIFault | undefined =>
  fieldFault(body, quirks) ??
  messagesFault(body, quirks) ??
  callsFault(body, quirks) ??
  wantedFault(body, quirks) ??
  toolsFault(objects(body['tools']), true, quirks.openRouter === true) ??
  markFault(body, quirks);

/** At most four breakpoints are allowed, as at Anthropic, including the top-level one. */
function markFault(body: Json, { openRouter }: Quirks): OpenAIFault | undefined {
  if (openRouter !== true) return undefined;
  const session = body['session_id'];
  if (session !== undefined && (typeof session !== 'string' || session.length > 256))
    return { message: 'session_id: String must contain at most 256 character(s)', param: 'session_id' };
  const markedCount = [
    body,
    ...objects(body['tools']),
    ...objects(body['messages']).flatMap((message) => objects(message['content'])),
  ].filter((part) => isObject(part['cache_control'])).length;
  return markedCount > 4
    ? { message: `A maximum of 4 blocks with cache_control may be provided. Found ${markedCount}.` }
    : undefined;
}

function wantedFault(body: Json, { wants }: Quirks): OpenAIFault | undefined {
  for (const [index, message] of objects(body['messages']).entries()) {
    const [first] = objects(message['tool_calls']);
    if (!first) continue;
    const extraContent = isObject(first['extra_content']) ? first['extra_content'] : {};
    const googleFields = isObject(extraContent['google']) ? extraContent['google'] : {};
    if (wants === 'reasoning_content' && text(message['reasoning_content']) === '') {
      return {
        message: `thinking is enabled but reasoning_content is missing in assistant tool call message at index ${index}`,
      };
    }
    if (wants === 'thought_signature' && text(googleFields['thought_signature']) === '') {
      return { message: 'Function call is missing a thought_signature in functionCall parts.' };
    }
  }
  return undefined;
}

/** Fields that every server accepts. */
const PLAIN_CHAT_FIELDS = [
  'model',
  'messages',
  'stream',
  'stream_options',
  'max_tokens',
  'max_completion_tokens',
  'tools',
  'tool_choice',
  'temperature',
  'top_p',
  'stop',
  'n',
  'user',
  'seed',
  'response_format',
  'parallel_tool_calls',
  'reasoning_effort',
  'store',
  'metadata',
  'usage',
];

const CHAT_FIELDS = [
  ...PLAIN_CHAT_FIELDS,
  'audio',
  'frequency_penalty',
  'function_call',
  'functions',
  'logit_bias',
  'logprobs',
  'modalities',
  'moderation',
  'prediction',
  'presence_penalty',
  'prompt_cache_key',
  'prompt_cache_options',
  'prompt_cache_retention',
  'safety_identifier',
  'service_tier',
  'top_logprobs',
  'verbosity',
  'web_search_options',
];

/** Fields that `ChatRequest` of @openrouter/sdk 1.3 has in addition. */
const OPENROUTER_FIELDS = [
  ...CHAT_FIELDS.filter((field) => field !== 'prompt_cache_retention'),
  'cache_control',
  'debug',
  'image_config',
  'min_p',
  'models',
  'plugins',
  'provider',
  'reasoning',
  'repetition_penalty',
  'session_id',
  'stop_server_tools_when',
  'top_a',
  'top_k',
  'trace',
];

const chatFields = ({ openRouter, plainFields }: Quirks): readonly string[] =>
  openRouter === true ? OPENROUTER_FIELDS : plainFields === true ? PLAIN_CHAT_FIELDS : CHAT_FIELDS;

const unknownParameter = (param: string): OpenAIFault => ({
  message: `Unknown parameter: '${param}'.`,
  param,
  code: 'unknown_parameter',
});

const otherField = (value: Json, known: readonly string[]): string | undefined =>
  Object.keys(value).find((field) => !known.includes(field));

function fieldFault(body: Json, quirks: Quirks): OpenAIFault | undefined {
  if (typeof body['model'] !== 'string') return { message: 'you must provide a model parameter' };
  const unknown = otherField(body, chatFields(quirks));
  if (unknown !== undefined) return unknownParameter(unknown);
  if (quirks.maxTokensField === 'max_completion_tokens' && 'max_tokens' in body) {
    return {
      message:
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
      param: 'max_tokens',
      code: 'unsupported_parameter',
    };
  }
  if (quirks.maxTokensField === 'max_tokens' && 'max_completion_tokens' in body)
    return unknownParameter('max_completion_tokens');
  if (quirks.noStreamOptions === true && 'stream_options' in body) return unknownParameter('stream_options');
  if ('stream_options' in body && body['stream'] !== true) {
    return {
      message: "The 'stream_options' parameter is only allowed when 'stream' is enabled.",
      param: 'stream_options',
    };
  }
  if (quirks.noTemperature === true && 'temperature' in body) {
    return {
      message: `Unsupported value: 'temperature' does not support ${JSON.stringify(body['temperature'])} with this model. Only the default (1) value is supported.`,
      param: 'temperature',
      code: 'unsupported_value',
    };
  }
  return list(body['messages']).length === 0
    ? {
        message:
          "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array instead.",
        param: 'messages',
      }
    : undefined;
}

const MESSAGE_FIELDS = ['role', 'content', 'name', 'tool_calls', 'tool_call_id', 'refusal', 'audio', 'function_call'];

function messagesFault(body: Json, quirks: Quirks): OpenAIFault | undefined {
  const messages = list(body['messages']);
  let lastTurnRole: unknown;
  for (const [index, message] of messages.entries()) {
    const messagePath = `messages[${index}]`;
    if (!isObject(message))
      return { message: `Invalid type for '${messagePath}': expected an object.`, param: messagePath };
    const { role } = message;
    if (!['system', 'developer', 'user', 'assistant', 'tool'].includes(text(role))) {
      return {
        message: `Invalid value: '${text(role)}'. Supported values are: 'system', 'assistant', 'user', 'function', 'tool', and 'developer'.`,
        param: `${messagePath}.role`,
      };
    }
    const other = otherField(message, [
      ...MESSAGE_FIELDS,
      ...(quirks.wants === 'reasoning_content' ? ['reasoning_content'] : []),
      ...(quirks.openRouter === true ? ['reasoning', 'reasoning_details', 'model', 'images'] : []),
    ]);
    if (other !== undefined) return unknownParameter(`${messagePath}.${other}`);
    if (quirks.noSystemRole === true && role === 'system') return { message: 'System role not supported' };
    const isTurn = (role === 'user' || role === 'assistant') && message['tool_calls'] === undefined;
    if (quirks.alternateRoles === true && isTurn && role === lastTurnRole) {
      return { message: 'Conversation roles must alternate user/assistant/user/assistant/...' };
    }
    lastTurnRole = role;
    const fault = contentFault(message, messagePath, quirks);
    if (fault) return fault;
  }
  return undefined;
}

function contentFault({ role, content, tool_calls: calls }: Json, at: string, quirks: Quirks): OpenAIFault | undefined {
  if (typeof content === 'string') return undefined;
  if (!Array.isArray(content)) {
    return role === 'assistant' && list(calls).length > 0
      ? undefined
      : { message: `Invalid value for 'content': expected a string, got null.`, param: `${at}.content` };
  }
  if (content.length === 0) return { message: `Invalid '${at}.content': empty array.`, param: `${at}.content` };
  for (const [index, part] of content.entries()) {
    const partPath = `${at}.content[${index}]`;
    const type = isObject(part) ? text(part['type']) : '';
    const allowed =
      role === 'user'
        ? ['text', 'image_url', 'input_audio', 'file']
        : role === 'assistant'
          ? ['text', 'refusal']
          : ['text'];
    if (type === 'image_url' && quirks.textOnly === true) {
      // The message is DeepSeek's; OpenAI says: "Invalid content type. image_url is only supported
      // by certain models."
      const message = `Failed to deserialize the JSON body into the target type: messages[${index}]: unknown variant \`image_url\`, expected \`text\` at line 1 column 900`;
      return { message, code: 'invalid_request_error' };
    }
    if (!isObject(part) || !allowed.includes(type)) {
      const message =
        type === 'image_url'
          ? `Invalid '${at}'. Image URLs are only allowed for messages with role 'user', but this message with role '${text(role)}' contains an image URL.`
          : `Invalid value: '${type}'. Supported values are: ${allowed.map((name) => `'${name}'`).join(', ')}.`;
      return { message, param: partPath };
    }
    const allowsMarks = quirks.cacheControl === true || quirks.openRouter === true;
    const knownFields = ['type', type, ...(allowsMarks ? ['cache_control'] : [])];
    if (quirks.plainFields !== true) knownFields.push('prompt_cache_breakpoint');
    const other = otherField(part, knownFields);
    if (other !== undefined) return unknownParameter(`${partPath}.${other}`);
    if (type === 'text' && text(part['text']) === '') {
      return {
        message: `Invalid '${partPath}.text': empty string. Expected a string with minimum length 1.`,
        param: partPath,
      };
    }
  }
  return undefined;
}

function callsFault(body: Json, { wants, shortCallIds }: Quirks): OpenAIFault | undefined {
  const messages = objects(body['messages']);
  const usedIds = new Set<string>();
  let openIds = new Set<string>();
  const makeUnansweredFault = (index: number): OpenAIFault => ({
    message: `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${[...openIds].join(', ')}`,
    param: `messages.[${index}].role`,
  });
  for (const [index, message] of messages.entries()) {
    if (message['role'] === 'tool') {
      if (openIds.delete(text(message['tool_call_id']))) continue;
      return {
        message:
          "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
        param: `messages.[${index}].role`,
      };
    }
    if (openIds.size > 0) return makeUnansweredFault(index);
    openIds = new Set();
    for (const [at, call] of objects(message['tool_calls']).entries()) {
      const callPath = `messages[${index}].tool_calls[${at}]`;
      const id = text(call['id']);
      if (shortCallIds === true && !/^[a-zA-Z0-9]{9}$/.test(id)) {
        return {
          message: `Tool call id was ${id} but must be a-z, A-Z, 0-9, with a length of 9.`,
          code: '3280',
        };
      }
      if (id === '' || usedIds.has(id))
        return { message: `Duplicate or missing value for '${callPath}.id'.`, param: callPath };
      usedIds.add(id);
      openIds.add(id);
      const calledFunction = isObject(call['function']) ? call['function'] : {};
      if (call['type'] === 'custom') continue;
      if (typeof calledFunction['arguments'] !== 'string') {
        return {
          message: `Invalid type for '${callPath}.function.arguments': expected a string, but got an object instead.`,
          param: callPath,
        };
      }
      if (text(calledFunction['name']) === '')
        return { message: `Missing required parameter: '${callPath}.function.name'.`, param: callPath };
      const extraFields = wants === 'thought_signature' ? ['extra_content'] : [];
      const other =
        otherField(call, ['id', 'type', 'function', ...extraFields]) ??
        otherField(calledFunction, ['name', 'arguments']);
      if (other !== undefined) return unknownParameter(`${callPath}.${other}`);
    }
  }
  return openIds.size > 0 ? makeUnansweredFault(messages.length) : undefined;
}

function toolsFault(tools: readonly Json[], nested: boolean, marks = false): OpenAIFault | undefined {
  for (const [index, tool] of tools.entries()) {
    const declaredFunction = nested ? tool['function'] : tool;
    // Only functions have a schema, and only if they have parameters (`FunctionDefinition`). Other
    // types of tools run at OpenAI or have no schema.
    if (text(tool['type']) !== '' && tool['type'] !== 'function' && !(nested && tool['type'] !== 'custom')) continue;
    const knownFields = [...(nested ? [] : ['type']), 'name', 'description', 'parameters', 'strict'];
    const unknownOuterField = nested
      ? otherField(tool, ['type', 'function', ...(marks ? ['cache_control'] : [])])
      : undefined;
    if (unknownOuterField !== undefined) return unknownParameter(`tools[${index}].${unknownOuterField}`);
    if (
      tool['type'] !== 'function' ||
      !isObject(declaredFunction) ||
      text(declaredFunction['name']) === '' ||
      !(isObject(declaredFunction['parameters']) || (nested && declaredFunction['parameters'] === undefined))
    ) {
      return {
        message: `Invalid 'tools[${index}]': expected a function with name and parameters.`,
        param: `tools[${index}]`,
      };
    }
    const other = otherField(declaredFunction, knownFields);
    if (other !== undefined) return unknownParameter(`tools[${index}].${other}`);
  }
  return undefined;
}

const RESPONSES_FIELDS = [
  'access_programs',
  'background',
  'context_management',
  'conversation',
  'image',
  'include',
  'input',
  'instructions',
  'max_output_tokens',
  'max_tool_calls',
  'metadata',
  'model',
  'moderation',
  'parallel_tool_calls',
  'previous_response_id',
  'prompt',
  'prompt_cache_key',
  'prompt_cache_options',
  'prompt_cache_retention',
  'reasoning',
  'safety_identifier',
  'service_tier',
  'store',
  'stream',
  'stream_options',
  'temperature',
  'text',
  'tool_choice',
  'tools',
  'top_logprobs',
  'top_p',
  'truncation',
  'user',
  // The SDK lacks this field, but Codex sends it (recorded in 2026).
  'client_metadata',
];

export function responsesFault(body: Json, signer: Signer, quirks: Quirks = {}): OpenAIFault | undefined {
  const unknown = otherField(body, RESPONSES_FIELDS);
  if (unknown !== undefined) return unknownParameter(unknown);
  if (quirks.noReasoning === true && list(body['include']).includes('reasoning.encrypted_content')) {
    return { message: 'Encrypted content is not supported with this model.', param: 'include' };
  }
  if (quirks.noTemperature === true && 'temperature' in body) {
    return { message: "Unsupported parameter: 'temperature' is not supported with this model.", param: 'temperature' };
  }
  const items = typeof body['input'] === 'string' ? [{ role: 'user', content: body['input'] }] : objects(body['input']);
  if (items.length === 0) return { message: "Missing required parameter: 'input'.", param: 'input' };
  return (
    items.map((item, index) => itemFault(item, `input[${index}]`, signer, quirks)).find(Boolean) ??
    itemPairFault(items) ??
    toolsFault(objects(body['tools']), false)
  );
}

const ITEM_FIELDS: Readonly<Record<string, readonly string[]>> = {
  message: ['type', 'role', 'content', 'id', 'status', 'phase'],
  function_call: ['type', 'call_id', 'name', 'arguments', 'id', 'status', 'namespace', 'caller'],
  function_call_output: ['type', 'call_id', 'output', 'id', 'status'],
  reasoning: ['type', 'id', 'summary', 'content', 'encrypted_content', 'status'],
  custom_tool_call: ['type', 'call_id', 'name', 'input', 'id', 'status', 'namespace', 'caller'],
  custom_tool_call_output: ['type', 'call_id', 'output', 'id', 'status', 'caller'],
  additional_tools: ['type', 'role', 'tools', 'id'],
  compaction: ['type', 'id', 'encrypted_content'],
  compaction_trigger: ['type', 'id'],
};

function itemFault(item: Json, at: string, signer: Signer, quirks: Quirks): OpenAIFault | undefined {
  const type = item['type'] === undefined ? 'message' : text(item['type']);
  const fields = ITEM_FIELDS[type];
  if (!fields)
    return {
      message: `Invalid value: '${type}'. Supported values are: ${Object.keys(ITEM_FIELDS).join(', ')}.`,
      param: `${at}.type`,
    };
  const other = otherField(item, fields);
  if (other !== undefined) return unknownParameter(`${at}.${other}`);
  switch (type) {
    case 'message':
      return partsFault(item, at, quirks);
    case 'function_call':
      return typeof item['arguments'] === 'string'
        ? undefined
        : { message: `Invalid type for '${at}.arguments': expected a string, but got an object instead.`, param: at };
    case 'reasoning': {
      const [content = '', signature = ''] = text(item['encrypted_content']).split('.');
      return signature === signer.sign(content)
        ? undefined
        : {
            message: `The encrypted content for item ${text(item['id'])} could not be verified.`,
            code: 'invalid_encrypted_content',
          };
    }
    default:
      return !type.endsWith('_output') || typeof item['output'] === 'string' || Array.isArray(item['output'])
        ? undefined
        : { message: `Missing required parameter: '${at}.output'.`, param: at };
  }
}

function partsFault({ role, content, phase }: Json, at: string, { textOnly }: Quirks): OpenAIFault | undefined {
  if (
    phase !== undefined &&
    phase !== null &&
    (role !== 'assistant' || !['commentary', 'final_answer'].includes(text(phase)))
  )
    return { message: `Invalid value: '${text(phase)}'.`, param: `${at}.phase` };
  if (typeof content === 'string') return undefined;
  const allowed = role === 'assistant' ? ['output_text', 'refusal'] : ['input_text', 'input_image', 'input_file'];
  for (const [index, part] of objects(content).entries()) {
    if (part['type'] === 'input_image' && textOnly === true) {
      return {
        message: `Invalid content type. input_image is only supported by certain models.`,
        param: `${at}.content[${index}]`,
      };
    }
    if (!allowed.includes(text(part['type']))) {
      return {
        message: `Invalid value: '${text(part['type'])}'. Supported values are: ${allowed.map((name) => `'${name}'`).join(' and ')}.`,
        param: `${at}.content[${index}]`,
      };
    }
    const other = otherField(part, [
      'type',
      'text',
      'refusal',
      'image_url',
      'detail',
      'file_data',
      'filename',
      'annotations',
      'logprobs',
      'prompt_cache_breakpoint',
    ]);
    if (other !== undefined) return unknownParameter(`${at}.content[${index}].${other}`);
  }
  return objects(content).length === 0
    ? { message: `Missing required parameter: '${at}.content'.`, param: at }
    : undefined;
}

function itemPairFault(items: readonly Json[]): OpenAIFault | undefined {
  const calls = new Set<string>();
  const outputs = new Set<string>();
  for (const { type, call_id: value } of items) {
    const id = text(value);
    if (type === 'function_call' || type === 'custom_tool_call') {
      if (calls.has(id)) return { message: `Duplicate function call id ${id}.`, param: 'input' };
      calls.add(id);
    }
    if (type !== 'function_call_output' && type !== 'custom_tool_call_output') continue;
    if (!calls.has(id))
      return { message: `No tool call found for function call output with call_id ${id}.`, param: 'input' };
    if (outputs.has(id)) return { message: `Duplicate output for function call ${id}.`, param: 'input' };
    outputs.add(id);
  }
  const unansweredCall = [...calls].find((id) => !outputs.has(id));
  return unansweredCall === undefined
    ? undefined
    : { message: `No tool output found for function call ${unansweredCall}.`, param: 'input' };
}

/** Rejects tools in Chat Completions if the model supports them only in the Responses API. */
export function apiFault(body: Json, { toolsOnResponses }: OpenAIStrictness): OpenAIFault | undefined {
  if (toolsOnResponses !== true || objects(body['tools']).length === 0 || body['reasoning_effort'] === 'none') {
    return undefined;
  }
  return {
    message: `Function tools with reasoning_effort are not supported for ${text(body['model'])} in /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'.`,
    param: 'reasoning_effort',
  };
}

export function limitFault(body: Json, { maxOutputTokens }: OpenAIStrictness): OpenAIFault | undefined {
  if (maxOutputTokens === undefined) return undefined;
  for (const field of ['max_tokens', 'max_completion_tokens', 'max_output_tokens']) {
    const most = Number(body[field] ?? 0);
    if (most > maxOutputTokens) {
      return {
        message: `${field} is too large: ${most}. This model supports at most ${maxOutputTokens} completion tokens, whereas you provided ${most}.`,
        param: field,
        code: 'invalid_value',
      };
    }
  }
  return undefined;
}
