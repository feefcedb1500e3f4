/** Preserves exact JSON where JavaScript values can't: long numbers and duplicate keys. */
import { readFileSync, statSync } from 'node:fs';
import { isRecord } from '../core/messages/blocks';
import { getJsonAt, listObjectsIn, replaceSpans, rewriteJson, type JsonReplacement } from '../core/json/rewriteJson';
import type { ApiMessage } from '../core/messages/types';
import { isSqliteDatabase, SQLITE_MAGIC_BYTES } from './databases';
import type { MessageCounter } from '../core/tokens/messageCounter';
import { exportConversation, type ExportedConversation } from './export';
import { splitLocation } from './location';
import type { Conversation } from './types';

/** V8 limits strings to about 500 million characters. */
const MAX_RAW_BYTES = 400_000_000;

/** Undefined for databases and for files that are too large or unreadable. */
export function readSourceText(location: string): string | undefined {
  try {
    const { file } = splitLocation(location);
    if (statSync(file).size > MAX_RAW_BYTES) return undefined;
    const bytes = readFileSync(file);
    return isSqliteDatabase(bytes.subarray(0, SQLITE_MAGIC_BYTES))
      ? undefined
      : bytes.toString('utf8').replace(/^\uFEFF/, '');
  } catch {
    return undefined;
  }
}

/**
 * Unedited content stays byte-identical if the source has Anthropic's format. In other formats only
 * unedited call parameters do.
 * @param origins index of each message's original
 */
export function renderMessagesJson(
  conversation: Conversation,
  messages: readonly ApiMessage[],
  source: string | undefined,
  origins?: readonly number[],
): string {
  const document = { ...conversation.request, messages };
  if (source === undefined) return `${JSON.stringify(document)}\n`;
  const parsedSource = conversation.format === 'anthropic' ? parseOrUndefined(source) : undefined;
  const originalIndexes = origins?.map((origin) => (origin >= 0 ? origin : undefined));
  if (Array.isArray(parsedSource))
    return `{"messages":${rewriteJson(source, messages, ([key]) => (key === undefined ? originalIndexes : undefined)).trim()}}\n`;
  if (isRecord(parsedSource)) {
    return `${rewriteJson(source, document, ([key, ...below]) => (key === 'messages' && below.length === 0 ? originalIndexes : undefined)).trim()}\n`;
  }
  return copyOriginalCallJson(`${JSON.stringify(document)}\n`, source);
}

/**
 * Content that Anthropic's API accepts is unchanged; other content is converted as in an export.
 */
export function renderAnthropicJson(
  conversation: Conversation,
  messages: readonly ApiMessage[],
  location: string,
  origins: readonly number[],
  counter: MessageCounter,
): Pick<ExportedConversation, 'text' | 'notes'> {
  if (conversation.format === 'anthropic') {
    return { text: renderMessagesJson(conversation, messages, readSourceText(location), origins), notes: [] };
  }
  const exportedConversation = exportConversation({ ...conversation, messages }, 'anthropic', counter);
  return { text: restoreOriginalCallJson(exportedConversation, location), notes: exportedConversation.notes };
}

export function restoreOriginalCallJson({ text, extension }: ExportedConversation, location: string): string {
  const source = extension === 'json' ? readSourceText(location) : undefined;
  return source === undefined ? text : copyOriginalCallJson(text, source);
}

function parseOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * Restores unedited call parameters as the source has them, matched by call id.
 * @param source JSON or JSON lines; broken lines are skipped
 */
export function copyOriginalCallJson(text: string, source: string): string {
  const originalParameters = new Map<string, string>();
  for (const { id, parameters } of findCallsInJson(source)) {
    if (JSON.stringify(JSON.parse(parameters)) !== parameters) originalParameters.set(id, parameters);
  }
  if (originalParameters.size === 0) return text;
  const replacements: JsonReplacement[] = [];
  for (const { id, parameters, start, end, isText } of findCallsInJson(text)) {
    const original = originalParameters.get(id);
    if (original === undefined) continue;
    const rewrittenJson = rewriteJson(original, JSON.parse(parameters));
    replacements.push({ start, end, json: isText ? JSON.stringify(rewrittenJson) : rewrittenJson });
  }
  return replaceSpans(text, replacements);
}

interface ToolCallJson {
  readonly id: string;
  readonly parameters: string;
  readonly start: number;
  readonly end: number;
  /** True if the parameters are a JSON-encoded string, as in OpenAI's APIs. */
  readonly isText: boolean;
}

function* findCallsInJson(text: string): Generator<ToolCallJson, void> {
  for (const { members, offset } of listObjectsIn(text)) {
    const getMemberJson = (name: string): string | undefined => {
      const member = members.findLast(({ key }) => key === name);
      return member && text.slice(offset + member.start, offset + member.end);
    };
    const callId = parseJsonString(getMemberJson('call_id')) ?? parseJsonString(getMemberJson('id'));
    if (callId === undefined) continue;
    for (const name of ['input', 'arguments', 'function']) {
      const member = members.findLast(({ key }) => key === name);
      if (!member) continue;
      let jsonStart = offset + member.start;
      let json = text.slice(jsonStart, offset + member.end);
      if (name === 'function') {
        const rawArguments = getJsonAt(json, ['arguments']);
        if (rawArguments === undefined) continue;
        jsonStart += json.lastIndexOf(rawArguments);
        json = rawArguments;
      }
      const isText = json.startsWith('"');
      const parameters = isText ? (parseJsonString(json) ?? '') : json;
      if (isRecord(parseOrUndefined(parameters)))
        yield { id: callId, parameters, start: jsonStart, end: jsonStart + json.length, isText };
    }
  }
}

function parseJsonString(json: string | undefined): string | undefined {
  const value = json?.startsWith('"') ? parseOrUndefined(json) : undefined;
  return typeof value === 'string' ? value : undefined;
}
