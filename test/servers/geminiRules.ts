/**
 * Rejects requests as Gemini's generateContent does (400), with Google's messages. The rules come
 * from the types of @google/genai, the guides on function calling and thought signatures, and
 * users' reports, and share no code with the code under test.
 */
import type { Signer } from './anthropicRules';
import { isObject, list, objects, text, type Json } from './json';

export interface GeminiStrictness {
  /** Calls of the current turn need their signature, as for Gemini 3 and later. Default: true. */
  readonly signatures?: boolean;
  /** Content with calls must be followed by as many results. Default: true. */
  readonly pairs?: boolean;
  /** Maximum output tokens. Default 65,536. */
  readonly maxOutputTokens?: number;
}

/** Returns Google's message for the first error, or undefined if the request is valid. */
export const geminiFault = (body: Json, signer: Signer, strict: GeminiStrictness = {}): string | undefined =>
  topFault(body) ??
  configFault(body, strict) ??
  contentsFault(body, signer) ??
  (strict.pairs === false ? undefined : pairFault(objects(body['contents']))) ??
  (strict.signatures === false ? undefined : signatureFault(objects(body['contents']))) ??
  toolsFault(body);

/** Protocol buffers reject unknown fields. */
const unknownName = (name: string, at = ''): string =>
  `Invalid JSON payload received. Unknown name "${name}"${at === '' ? '' : ` at '${at}'`}: Cannot find field.`;

const otherField = (value: Json, known: readonly string[]): string | undefined =>
  Object.keys(value).find((field) => !known.includes(field));

/** In proto3's JSON mapping, both spellings are valid. */
const getEitherField = (value: Json, camel: string, snake: string): unknown => value[camel] ?? value[snake];

/** Fields that `generateContentParametersToMldev` of @google/genai 2.32 writes. */
const TOP_FIELDS = [
  'contents',
  'systemInstruction',
  'system_instruction',
  'tools',
  'toolConfig',
  'tool_config',
  'generationConfig',
  'generation_config',
  'safetySettings',
  'safety_settings',
  'cachedContent',
  'labels',
  'store',
  'serviceTier',
  'continuationToken',
];

const CONFIG_FIELDS = [
  'temperature',
  'topP',
  'topK',
  'candidateCount',
  'maxOutputTokens',
  'stopSequences',
  'responseLogprobs',
  'logprobs',
  'presencePenalty',
  'frequencyPenalty',
  'seed',
  'responseMimeType',
  'responseSchema',
  'responseJsonSchema',
  'responseModalities',
  'mediaResolution',
  'speechConfig',
  'thinkingConfig',
  'imageConfig',
];

function topFault(body: Json): string | undefined {
  const other = otherField(body, TOP_FIELDS);
  if (other !== undefined) return unknownName(other);
  if (list(body['contents']).length === 0) return '* GenerateContentRequest.contents: contents is not specified\n';
  const system = getEitherField(body, 'systemInstruction', 'system_instruction');
  if (system === undefined) return undefined;
  const isBlank = !isObject(system) || objects(system['parts']).every((part) => text(part['text']) === '');
  return isBlank ? '* GenerateContentRequest.system_instruction.parts: contents.parts must not be empty.\n' : undefined;
}

function configFault(body: Json, { maxOutputTokens = 65_536 }: GeminiStrictness): string | undefined {
  const config = getEitherField(body, 'generationConfig', 'generation_config');
  if (config === undefined) return undefined;
  if (!isObject(config)) return "Invalid value at 'generation_config'";
  const other = otherField(config, CONFIG_FIELDS);
  if (other !== undefined) return unknownName(other, 'generation_config');
  const most = config['maxOutputTokens'];
  if (most !== undefined && !(Number.isInteger(most) && Number(most) >= 1 && Number(most) <= maxOutputTokens)) {
    return `Unable to submit request because it has a maxOutputTokens value of ${JSON.stringify(most)} but the supported range is from 1 (inclusive) to ${maxOutputTokens + 1} (exclusive). Update the value and try again.`;
  }
  const { temperature } = config;
  if (temperature !== undefined && !(Number(temperature) >= 0 && Number(temperature) <= 2)) {
    return `* GenerateContentRequest.generation_config.temperature: temperature must be in the range [0.0, 2.0].\n`;
  }
  const thinking = config['thinkingConfig'];
  if (thinking === undefined) return undefined;
  if (!isObject(thinking)) return "Invalid value at 'generation_config.thinking_config'";
  const unknown = otherField(thinking, ['includeThoughts', 'thinkingBudget', 'thinkingLevel']);
  if (unknown !== undefined) return unknownName(unknown, 'generation_config.thinking_config');
  return thinking['thinkingBudget'] !== undefined && thinking['thinkingLevel'] !== undefined
    ? 'You can only set only one of thinking budget and thinking level.'
    : undefined;
}

/** A `Part` of @google/genai must have exactly one of these fields. */
const DATA_FIELDS = [
  'text',
  'inlineData',
  'fileData',
  'functionCall',
  'functionResponse',
  'executableCode',
  'codeExecutionResult',
  'toolCall',
  'toolResponse',
];
/** A `Part` may have these fields in addition to one of {@link DATA_FIELDS}. */
const FURTHER_FIELDS = [
  'thought',
  'thoughtSignature',
  'videoMetadata',
  'mediaResolution',
  'partMetadata',
  'audioTranscription',
  'mediaProcessing',
  'speechMetadata',
];

function contentsFault(body: Json, signer: Signer): string | undefined {
  for (const [index, content] of list(body['contents']).entries()) {
    const contentPath = `contents[${index}]`;
    if (!isObject(content)) return `Invalid value at '${contentPath}'`;
    const other = otherField(content, ['role', 'parts']);
    if (other !== undefined) return unknownName(other, contentPath);
    const { role } = content;
    if (role !== undefined && role !== 'user' && role !== 'model' && role !== 'function')
      return 'Please use a valid role: user, model.';
    const parts = list(content['parts']);
    if (parts.length === 0) return `* GenerateContentRequest.${contentPath}.parts: contents.parts must not be empty.\n`;
    for (const [place, part] of parts.entries()) {
      const fault = partFault(part, `${contentPath}.parts[${place}]`, role, signer);
      if (fault !== undefined) return fault;
    }
  }
  return undefined;
}

function partFault(part: unknown, at: string, role: unknown, signer: Signer): string | undefined {
  if (!isObject(part)) return `Invalid value at '${at}'`;
  const other = otherField(part, [...DATA_FIELDS, ...FURTHER_FIELDS]);
  if (other !== undefined) return unknownName(other, at);
  const held = DATA_FIELDS.filter((field) => part[field] !== undefined);
  if (held.length > 1)
    return `Invalid value at '${at}' (oneof), oneof field 'data' is already set. Cannot set '${held[1] ?? ''}'`;
  // At the end of a stream, a signature may come alone with an empty text (guide "Thought
  // signatures").
  const isEmpty = held[0] === 'text' && text(part['text']) === '' && part['thoughtSignature'] === undefined;
  if (held.length === 0 || isEmpty) {
    return `* GenerateContentRequest.${at}.data: required oneof field 'data' must have one initialized field\n`;
  }
  return (
    callFault(part['functionCall'], at, role) ??
    responseFault(part['functionResponse'], at, role) ??
    inlineFault(part['inlineData'], at) ??
    signedFault(part['thoughtSignature'], at, signer)
  );
}

function callFault(call: unknown, at: string, role: unknown): string | undefined {
  if (call === undefined) return undefined;
  if (!isObject(call)) return `Invalid value at '${at}.function_call'`;
  if (role !== 'model') return 'Please ensure that function call turn has the role of model.';
  const other = otherField(call, ['id', 'name', 'args']);
  if (other !== undefined) return unknownName(other, `${at}.function_call`);
  if (text(call['name']) === '')
    return `* GenerateContentRequest.${at}.function_call.name: [FIELD_INVALID] Name cannot be empty.\n`;
  return call['args'] === undefined || isObject(call['args'])
    ? undefined
    : `Invalid value at '${at}.function_call.args' (type.googleapis.com/google.protobuf.Struct), ${JSON.stringify(call['args'])}`;
}

function responseFault(response: unknown, at: string, role: unknown): string | undefined {
  if (response === undefined) return undefined;
  if (!isObject(response)) return `Invalid value at '${at}.function_response'`;
  if (role === 'model') return 'Please ensure that function response turn has the role of user.';
  const other = otherField(response, ['id', 'name', 'response', 'parts', 'willContinue', 'scheduling']);
  if (other !== undefined) return unknownName(other, `${at}.function_response`);
  if (text(response['name']) === '')
    return `* GenerateContentRequest.${at}.function_response.name: [FIELD_INVALID] Name cannot be empty.\n`;
  return isObject(response['response'])
    ? undefined
    : `Invalid value at '${at}.function_response.response' (type.googleapis.com/google.protobuf.Struct), ${JSON.stringify(response['response'])}`;
}

function inlineFault(data: unknown, at: string): string | undefined {
  if (data === undefined) return undefined;
  if (!isObject(data)) return `Invalid value at '${at}.inline_data'`;
  const mime = text(data['mimeType'] ?? data['mime_type']);
  if (mime === '') return `* GenerateContentRequest.${at}.inline_data.mime_type: mime type is not specified\n`;
  return isBase64(data['data'])
    ? undefined
    : `Invalid value at '${at}.inline_data.data' (TYPE_BYTES), Base64 decoding failed`;
}

const isBase64 = (value: unknown): boolean =>
  typeof value === 'string' && value !== '' && /^[A-Za-z0-9+/_-]+={0,2}$/.test(value);

/**
 * The API accepts these instead of a signature for calls that another model made (guide "Thought
 * signatures", FAQ).
 */
const DUMMY_SIGNATURES = ['skip_thought_signature_validator', 'context_engineering_is_the_way_to_go'];

function signedFault(signature: unknown, at: string, signer: Signer): string | undefined {
  if (signature === undefined || DUMMY_SIGNATURES.includes(text(signature))) return undefined;
  if (!isBase64(signature))
    return `Invalid value at '${at}.thought_signature' (TYPE_BYTES), Base64 decoding failed for ${JSON.stringify(signature)}`;
  const [content = '', seal] = Buffer.from(text(signature), 'base64').toString().split('.');
  return seal === signer.sign(content) ? undefined : 'Corrupted thought signature.';
}

const listParts = (content: Json | undefined, field: string): Json[] =>
  objects(content?.['parts']).filter((part) => part[field] !== undefined);

/**
 * The content after calls must contain as many results (google-gemini/gemini-cli#7410;
 * microsoft/vscode#299295).
 */
function pairFault(contents: readonly Json[]): string | undefined {
  for (const [index, content] of contents.entries()) {
    const calls = listParts(content, 'functionCall').length;
    const responseParts = listParts(content, 'functionResponse');
    const contentBefore = contents[index - 1];
    if (calls > 0) {
      if (index === 0 || contentBefore?.['role'] === 'model') {
        return 'Please ensure that function call turn comes immediately after a user turn or after a function response turn.';
      }
      const contentAfter = contents[index + 1];
      if (contentAfter && listParts(contentAfter, 'functionResponse').length !== calls) {
        return 'Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.';
      }
      // A request must not end with the model's own calls.
      if (!contentAfter)
        return 'Please ensure that single turn requests end with a user role or the role field is empty.';
    }
    if (responseParts.length === 0) continue;
    const callsBefore = listParts(contentBefore, 'functionCall');
    if (callsBefore.length === 0)
      return 'Please ensure that function response turn comes immediately after a function call turn.';
    if (callsBefore.length !== responseParts.length) {
      return 'Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.';
    }
  }
  return undefined;
}

/**
 * Each step of the current turn needs a signature on its first call; parallel calls after the first
 * have none. Earlier turns are not checked (guide "Thought signatures", "Validation").
 */
function signatureFault(contents: readonly Json[]): string | undefined {
  const isQuestion = (content: Json): boolean =>
    content['role'] !== 'model' && objects(content['parts']).some((part) => part['functionResponse'] === undefined);
  const lastQuestionIndex = contents.findLastIndex(isQuestion);
  for (const [index, content] of contents.entries()) {
    const [first] = index > lastQuestionIndex ? listParts(content, 'functionCall') : [];
    if (!first || first['thoughtSignature'] !== undefined) continue;
    const name = isObject(first['functionCall']) ? text(first['functionCall']['name']) : '';
    return `Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance. Additional data, function call \`default_api:${name}\` , position ${index + 1}. Please refer to https://ai.google.dev/gemini-api/docs/thought-signatures for more details.`;
  }
  return undefined;
}

/**
 * Fields of `Schema` of @google/genai, a subset of OpenAPI's. JSON Schema belongs in
 * `parametersJsonSchema`.
 */
const SCHEMA_FIELDS = [
  'anyOf',
  'default',
  'description',
  'enum',
  'example',
  'format',
  'items',
  'maxItems',
  'maxLength',
  'maxProperties',
  'maximum',
  'minItems',
  'minLength',
  'minProperties',
  'minimum',
  'nullable',
  'pattern',
  'properties',
  'propertyOrdering',
  'required',
  'title',
  'type',
];

function toolsFault(body: Json): string | undefined {
  const seen = new Set<string>();
  for (const [index, tool] of objects(body['tools']).entries()) {
    const declaredFunctions = tool['functionDeclarations'] ?? tool['function_declarations'];
    for (const [place, one] of objects(declaredFunctions).entries()) {
      const functionPath = `tools[${index}].function_declarations[${place}]`;
      const other = otherField(one, [
        'name',
        'description',
        'parameters',
        'parametersJsonSchema',
        'response',
        'responseJsonSchema',
        'behavior',
      ]);
      if (other !== undefined) return unknownName(other, functionPath);
      const name = text(one['name']);
      if (!/^[A-Za-z_][\w.:-]{0,127}$/.test(name)) {
        return `* GenerateContentRequest.${functionPath}.name: [FIELD_INVALID] Invalid function name. Must start with a letter or an underscore. Must be alphanumeric (a-z, A-Z, 0-9), underscores (_), dots (.), colons (:), or dashes (-), with a maximum length of 128.\n`;
      }
      if (seen.has(name)) return `Duplicate function declaration found: ${name}`;
      seen.add(name);
      if (one['parameters'] !== undefined && one['parametersJsonSchema'] !== undefined)
        return `* GenerateContentRequest.${functionPath}: parameters and parameters_json_schema must not both be set.\n`;
      const fault = schemaFault(one['parameters'], `${functionPath}.parameters`);
      if (fault !== undefined) return fault;
    }
  }
  return undefined;
}

function schemaFault(schema: unknown, at: string): string | undefined {
  if (schema === undefined) return undefined;
  if (!isObject(schema)) return `Invalid value at '${at}'`;
  const other = otherField(schema, SCHEMA_FIELDS);
  if (other !== undefined) return unknownName(other, at);
  if (Array.isArray(schema['type'])) return `Proto field is not repeating, cannot start list. at '${at}.type'`;
  const inner = isObject(schema['properties'])
    ? Object.entries(schema['properties']).map(([name, value]) => schemaFault(value, `${at}.properties[${name}].value`))
    : [];
  return [...inner, schemaFault(schema['items'], `${at}.items`)].find((fault) => fault !== undefined);
}
