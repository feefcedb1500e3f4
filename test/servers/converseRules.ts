/**
 * Rejects requests as Bedrock's Converse does (ValidationException), with AWS's messages. The rules
 * come from the types of @aws-sdk/client-bedrock-runtime, the API reference, and users' reports,
 * and share no code with the code under test.
 */
import type { Signer } from './anthropicRules';
import { isObject, list, objects, text, type Json } from './json';

export interface ConverseStrictness {
  /** Maximum output tokens. Default 64,000. */
  readonly maxOutputTokens?: number;
  /** The model has no image input. */
  readonly textOnly?: boolean;
  /** Tool results must be alone in a user message, as for older models (langchain-aws#141). */
  readonly resultsAlone?: boolean;
  /**
   * Applies Amazon Nova's rules: cache points are allowed in the system prompt and messages, but
   * not among tools, and last five minutes (user guide, "Prompt caching"; messages from
   * LibreChat#13838 and hermes-agent#97281). The documented maximum of 20,000 cached tokens is not
   * simulated, since its effect is undocumented.
   */
  readonly nova?: boolean;
}

/** Returns AWS's message for the first error, or undefined if the request is valid. */
export const converseFault = (body: Json, signer: Signer, strict: ConverseStrictness = {}): string | undefined =>
  topFault(body, strict) ??
  rolesFault(body) ??
  blocksFault(body, signer, strict) ??
  pairFault(body) ??
  toolsFault(body) ??
  cacheFault(body, strict);

const otherField = (value: Json, known: readonly string[]): string | undefined =>
  Object.keys(value).find((field) => !known.includes(field));

/**
 * Fields of `ConverseRequest` and `ConverseStreamRequest`; any other field makes the request
 * malformed.
 */
const TOP_FIELDS = [
  'messages',
  'system',
  'inferenceConfig',
  'toolConfig',
  'guardrailConfig',
  'additionalModelRequestFields',
  'promptVariables',
  'additionalModelResponseFieldPaths',
  'requestMetadata',
  'performanceConfig',
  'serviceTier',
  'outputConfig',
];

function topFault(body: Json, { maxOutputTokens = 64_000 }: ConverseStrictness): string | undefined {
  const other = otherField(body, TOP_FIELDS);
  if (other !== undefined)
    return `Malformed input request: #: extraneous key [${other}] is not permitted, please reformat your input and try again.`;
  const config = body['inferenceConfig'];
  if (isObject(config)) {
    const unknown = otherField(config, ['maxTokens', 'temperature', 'topP', 'stopSequences']);
    if (unknown !== undefined)
      return `Malformed input request: #/inferenceConfig: extraneous key [${unknown}] is not permitted, please reformat your input and try again.`;
    const most = config['maxTokens'];
    if (most !== undefined && !(Number(most) >= 1))
      return "1 validation error detected: Value at 'inferenceConfig.maxTokens' failed to satisfy constraint: Member must have value greater than or equal to 1";
    if (Number(most) > maxOutputTokens) {
      return `The maximum tokens you requested exceeds the model limit of ${maxOutputTokens}. Try again with a maximum tokens value that is lower than ${maxOutputTokens}.`;
    }
  }
  for (const [index, block] of list(body['system']).entries()) {
    const blockFields = isObject(block) ? Object.keys(block) : [];
    if (blockFields.length !== 1 || !['text', 'guardContent', 'cachePoint'].includes(blockFields[0] ?? ''))
      return unionFault(`system.${index}`);
    if (isObject(block) && block['text'] !== undefined && text(block['text']).trim() === '')
      return `The text field in the ContentBlock object at system.${index} is blank. Add text to the text field, and try again.`;
  }
  return undefined;
}

const unionFault = (at: string): string =>
  `1 validation error detected: Value at '${at}' failed to satisfy constraint: Member must have exactly one field set`;

/**
 * Roles must alternate; unlike other APIs, nothing is merged (PrimeIntellect-ai/verifiers#1522).
 */
function rolesFault(body: Json): string | undefined {
  const messages = list(body['messages']);
  if (messages.length === 0) return 'The messages list is empty. Add a user message, and try again.';
  let roleBefore: unknown;
  for (const [index, message] of messages.entries()) {
    const role = isObject(message) ? message['role'] : undefined;
    if (role !== 'user' && role !== 'assistant' && role !== 'system') {
      return `1 validation error detected: Value '${text(role)}' at 'messages.${index + 1}.member.role' failed to satisfy constraint: Member must satisfy enum value set: [user, assistant, system]`;
    }
    if (index === 0 && role !== 'user')
      return 'A conversation must start with a user message. Try again with a conversation that starts with a user message.';
    if (role === roleBefore) {
      return `A conversation must alternate between user and assistant roles. Make sure the conversation alternates between user and assistant roles and try again.`;
    }
    roleBefore = role;
  }
  return undefined;
}

const BLOCK_KINDS = [
  'text',
  'image',
  'document',
  'video',
  'audio',
  'toolUse',
  'toolResult',
  'guardContent',
  'cachePoint',
  'reasoningContent',
  'citationsContent',
  'searchResult',
  'toolAddition',
  'toolRemoval',
];

/** Returns the name of the block's single member; undefined if there is none, or several. */
const getKind = (block: unknown): string | undefined => {
  const held = isObject(block) ? Object.keys(block) : [];
  return held.length === 1 && BLOCK_KINDS.includes(held[0] ?? '') ? held[0] : undefined;
};

function blocksFault(body: Json, signer: Signer, strict: ConverseStrictness): string | undefined {
  for (const [index, message] of objects(body['messages']).entries()) {
    const contentPath = `messages.${index}.content`;
    const blocks = list(message['content']);
    if (blocks.length === 0)
      return `The content field in the Message object at messages.${index} is empty. Add a ContentBlock object to the content field and try again.`;
    for (const [place, block] of blocks.entries()) {
      const kind = getKind(block);
      if (kind === undefined || !isObject(block)) return unionFault(`${contentPath}.${place}`);
      const fault = blockFault(kind, block[kind], message['role'], `${contentPath}.${place}`, signer, strict);
      if (fault !== undefined) return fault;
    }
    const kinds = blocks.map(getKind);
    if (kinds.includes('document') && !kinds.includes('text') && message['role'] === 'user')
      return `The content field at ${contentPath} must include a text block when it includes a document block.`;
    if (kinds.filter((kind) => kind === 'image').length > 20)
      return `${contentPath}: too many images: the maximum is 20.`;
    const hasOtherBlocks = kinds.some((kind) => kind !== 'toolResult' && kind !== 'cachePoint');
    if (strict.resultsAlone === true && kinds.includes('toolResult') && hasOtherBlocks)
      return `${contentPath}: Conversation blocks and tool result blocks cannot be provided in the same turn.`;
  }
  return undefined;
}

function blockFault(
  kind: string,
  value: unknown,
  role: unknown,
  at: string,
  signer: Signer,
  strict: ConverseStrictness,
): string | undefined {
  switch (kind) {
    case 'text':
      return text(value).trim() === ''
        ? `The text field in the ContentBlock object at ${at} is blank. Add text to the text field, and try again.`
        : undefined;
    case 'image':
      return imageFault(value, role, at, strict);
    case 'document':
      return role === 'user' ? undefined : `The ${kind} field at ${at} is only allowed in messages with the user role.`;
    case 'toolUse':
      return useFault(value, role, at);
    case 'toolResult':
      return resultFault(value, role, at, strict);
    case 'reasoningContent':
      return reasoningFault(value, role, at, signer);
    case 'cachePoint':
      return isObject(value) &&
        value['type'] === 'default' &&
        [undefined, '5m', '1h'].includes(value['ttl'] as string | undefined)
        ? undefined
        : `1 validation error detected: Value at '${at}.cachePoint' failed to satisfy constraint: Member must satisfy enum value set: [default]`;
    default:
      return undefined;
  }
}

/**
 * Images and documents are allowed only in user messages, up to 3.75 MB each (`Message.content`).
 */
function imageFault(value: unknown, role: unknown, at: string, { textOnly }: ConverseStrictness): string | undefined {
  if (role !== 'user') return `The image field at ${at} is only allowed in messages with the user role.`;
  if (textOnly === true) return "This model doesn't support the image content block that you provided.";
  if (!isObject(value) || !['png', 'jpeg', 'gif', 'webp'].includes(text(value['format'])))
    return `1 validation error detected: Value at '${at}.image.format' failed to satisfy constraint: Member must satisfy enum value set: [png, jpeg, gif, webp]`;
  const source = isObject(value['source']) ? value['source'] : {};
  const bytes = text(source['bytes']);
  if (bytes === '' && !isObject(source['s3Location'])) return unionFault(`${at}.image.source`);
  return bytes.length * 0.75 > 3.75 * 1024 * 1024 ? `${at}.image: image exceeds 3.75 MB maximum` : undefined;
}

function useFault(value: unknown, role: unknown, at: string): string | undefined {
  if (role !== 'assistant') return `The toolUse field at ${at} is only allowed in messages with the assistant role.`;
  if (!isObject(value)) return unionFault(at);
  if (!/^[a-zA-Z0-9_-]{1,64}$/.test(text(value['toolUseId'])))
    return `1 validation error detected: Value '${text(value['toolUseId'])}' at '${at}.toolUse.toolUseId' failed to satisfy constraint: Member must satisfy regular expression pattern: [a-zA-Z0-9_-]+`;
  if (!/^[a-zA-Z0-9_-]{1,64}$/.test(text(value['name'])))
    return `1 validation error detected: Value '${text(value['name'])}' at '${at}.toolUse.name' failed to satisfy constraint: Member must satisfy regular expression pattern: [a-zA-Z0-9_-]+`;
  return isObject(value['input'])
    ? undefined
    : `The format of the value at ${at}.toolUse.input is invalid. Provide a json object for the field and try again.`;
}

function resultFault(value: unknown, role: unknown, at: string, strict: ConverseStrictness): string | undefined {
  if (role !== 'user') return `The toolResult field at ${at} is only allowed in messages with the user role.`;
  if (!isObject(value) || text(value['toolUseId']) === '') return unionFault(at);
  const content = list(value['content']);
  if (content.length === 0 && value['status'] === 'error')
    return `The content field at ${at}.toolResult cannot be empty when status value is error.`;
  for (const [index, part] of content.entries()) {
    const [held = '', ...more] = isObject(part) ? Object.keys(part) : [];
    if (
      !isObject(part) ||
      more.length > 0 ||
      !['text', 'json', 'image', 'document', 'video', 'searchResult'].includes(held)
    )
      return unionFault(`${at}.toolResult.content.${index}`);
    // The service forwards these errors from the model's API (hermes-agent#55092 and #61318).
    if (held === 'text' && text(part['text']) === '')
      return `${FORWARDED_ERROR_PREFIX}messages: text content blocks must be non-empty`;
    if (held === 'text' && text(part['text']).trim() === '')
      return `${FORWARDED_ERROR_PREFIX}messages: text content blocks must contain non-whitespace text`;
    if (held === 'json' && !isObject(part['json']))
      return `The format of the value at ${at}.toolResult.content.${index}.json is invalid. Provide a json object for the field and try again.`;
    const imageProblem =
      held === 'image' ? imageFault(part['image'], 'user', `${at}.toolResult.content.${index}`, strict) : undefined;
    if (imageProblem !== undefined) return imageProblem;
  }
  return undefined;
}

/** Begins the errors that the service forwards from the model's API. */
export const FORWARDED_ERROR_PREFIX = 'The model returned the following errors: ';

function reasoningFault(value: unknown, role: unknown, at: string, signer: Signer): string | undefined {
  if (role !== 'assistant')
    return `The reasoningContent field at ${at} is only allowed in messages with the assistant role.`;
  if (!isObject(value) || Object.keys(value).length !== 1) return unionFault(`${at}.reasoningContent`);
  const { reasoningText, redactedContent } = value;
  if (isObject(reasoningText)) {
    return reasoningText['signature'] === signer.sign(text(reasoningText['text']))
      ? undefined
      : `${FORWARDED_ERROR_PREFIX}${at}: Invalid \`signature\` in \`thinking\` block`;
  }
  const [content = '', seal] = Buffer.from(text(redactedContent), 'base64').toString().split('.');
  return seal === signer.sign(content)
    ? undefined
    : `${FORWARDED_ERROR_PREFIX}${at}: Invalid \`data\` in \`redacted_thinking\` block`;
}

const listIds = (message: Json | undefined, kind: 'toolUse' | 'toolResult'): string[] =>
  objects(message?.['content']).flatMap((block) => {
    const value = block[kind];
    return isObject(value) ? [text(value['toolUseId'])] : [];
  });

function pairFault(body: Json): string | undefined {
  const messages = objects(body['messages']);
  for (const [index, message] of messages.entries()) {
    const calls = listIds(message, 'toolUse');
    const results = listIds(message, 'toolResult');
    const resultsAfter = listIds(messages[index + 1], 'toolResult');
    const unansweredCalls = calls.filter((id) => !resultsAfter.includes(id));
    if (unansweredCalls.length > 0)
      return `Expected toolResult blocks at messages.${index + 1}.content for the following Ids: ${unansweredCalls.join(', ')}`;
    if (new Set(calls).size < calls.length) return `messages.${index}.content: toolUse ids must be unique.`;
    const callsBefore = listIds(messages[index - 1], 'toolUse');
    if (results.length > callsBefore.length || results.some((id) => !callsBefore.includes(id)))
      return `The number of toolResult blocks at messages.${index}.content exceeds the number of toolUse blocks of previous turn.`;
    if (new Set(results).size < results.length)
      return `messages.${index}.content: each tool_use must have a single result.`;
  }
  return undefined;
}

function toolsFault(body: Json): string | undefined {
  const messages = objects(body['messages']);
  const usesTools = messages.some(
    (message) => [...listIds(message, 'toolUse'), ...listIds(message, 'toolResult')].length > 0,
  );
  const config = body['toolConfig'];
  if (usesTools && config === undefined)
    return 'The toolConfig field must be defined when using toolUse and toolResult content blocks.';
  if (config === undefined) return undefined;
  const tools = isObject(config) ? list(config['tools']) : [];
  if (tools.length === 0)
    return "1 validation error detected: Value '[]' at 'toolConfig.tools' failed to satisfy constraint: Member must have length greater than or equal to 1";
  const names: string[] = [];
  for (const [index, tool] of tools.entries()) {
    const toolPath = `toolConfig.tools.${index}`;
    const [held = '', ...more] = isObject(tool) ? Object.keys(tool) : [];
    if (!isObject(tool) || more.length > 0 || !['toolSpec', 'systemTool', 'cachePoint'].includes(held))
      return unionFault(toolPath);
    const spec = tool['toolSpec'];
    if (!isObject(spec)) continue;
    const other = otherField(spec, ['name', 'description', 'inputSchema', 'strict']);
    if (other !== undefined)
      return `Malformed input request: #/${toolPath.replaceAll('.', '/')}/toolSpec: extraneous key [${other}] is not permitted, please reformat your input and try again.`;
    const name = text(spec['name']);
    if (!/^[a-zA-Z0-9_-]{1,64}$/.test(name))
      return `1 validation error detected: Value '${name}' at '${toolPath}.toolSpec.name' failed to satisfy constraint: Member must satisfy regular expression pattern: [a-zA-Z0-9_-]+`;
    if (spec['description'] === '')
      return `1 validation error detected: Value '' at '${toolPath}.toolSpec.description' failed to satisfy constraint: Member must have length greater than or equal to 1`;
    const schema = isObject(spec['inputSchema']) ? spec['inputSchema']['json'] : undefined;
    if (!isObject(schema) || schema['type'] !== 'object')
      return `The value at ${toolPath}.toolSpec.inputSchema.json.type must be one of the following: object.`;
    if (names.includes(name)) return `The tool ${name} is already defined at toolConfig.tools.${names.indexOf(name)}.`;
    names.push(name);
  }
  return undefined;
}

/** Checks the cache points in prompt order: tools, system, messages. */
function cacheFault(body: Json, { nova }: ConverseStrictness): string | undefined {
  const tools = isObject(body['toolConfig']) ? list(body['toolConfig']['tools']) : [];
  const firstMarkedTool = tools.findIndex((tool) => isObject(tool) && 'cachePoint' in tool);
  if (nova === true && firstMarkedTool >= 0) {
    return `${FORWARDED_ERROR_PREFIX}Malformed input request: #/toolConfig/tools/${firstMarkedTool}: extraneous key [cachePoint] is not permitted, please reformat your input and try again.`;
  }
  const points = [
    ...objects(tools),
    ...objects(body['system']),
    ...objects(body['messages']).flatMap(({ content }) => objects(content)),
  ].flatMap(({ cachePoint }) => (isObject(cachePoint) ? [text(cachePoint['ttl']) === '1h' ? 2 : 1] : []));
  if (points.length > 4)
    return `You have exceeded the maximum number of cache points: found ${points.length}, the maximum is 4.`;
  if (nova === true && points.includes(2)) {
    return `${FORWARDED_ERROR_PREFIX}Malformed input request: #/cachePoint: extraneous key [ttl] is not permitted, please reformat your input and try again.`;
  }
  // A cache point's lifetime must not be longer than that of the one before (strandsagents.com,
  // CacheConfig; the same at Anthropic).
  return points.some((point, index) => point > (points[index - 1] ?? 2))
    ? 'The ttl of a cache point must not be longer than the ttl of a cache point before it: tools, system and messages are processed in this order.'
    : undefined;
}
