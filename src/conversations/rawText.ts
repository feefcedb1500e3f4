/**
 * What a conversation's file says word for word, where a JavaScript value can't hold it: numbers of many digits, duplicate keys. What is
 * written for an agent or an API, and was not edited, leaves as it came.
 */
import { readFileSync, statSync } from 'node:fs';
import { isRecord } from '../core/messages/blocks';
import { jsonAt, objectsIn, replaceSpans, rewriteJson, type Replacement } from '../core/json/rewriteJson';
import type { ApiMessage } from '../core/messages/types';
import { isDatabase, MAGIC_BYTES } from './databases';
import type { MessageCounter } from '../core/tokens/messageCounter';
import { exportConversation, type ExportedConversation } from './export';
import { splitLocation } from './location';
import type { Conversation } from './types';

/** A string of V8 has at most some 500 million characters; what is larger is no document of messages. */
const MAX_BYTES = 400_000_000;

/** The text of a conversation's file; undefined of a database, and of what is too large or can't be read. */
export function sourceText(location: string): string | undefined {
  try {
    const { file } = splitLocation(location);
    if (statSync(file).size > MAX_BYTES) return undefined;
    const bytes = readFileSync(file);
    return isDatabase(bytes.subarray(0, MAGIC_BYTES)) ? undefined : bytes.toString('utf8').replace(/^\uFEFF/, '');
  } catch {
    return undefined;
  }
}

/**
 * The messages as Anthropic messages JSON, with what else stood in the request. Of a document in that form all that was not edited
 * stays byte for byte; of another one the parameters of tool calls do.
 * @param source the conversation's file, as {@link sourceText} gives it.
 * @param origins for each message the index of the one of the conversation that it was; default: found by equality and ids.
 */
export function messagesJson(
  conversation: Conversation,
  messages: readonly ApiMessage[],
  source: string | undefined,
  origins?: readonly number[],
): string {
  const document = { ...conversation.request, messages };
  if (source === undefined) return `${JSON.stringify(document)}\n`;
  const whole = conversation.format === 'anthropic' ? parsed(source) : undefined;
  const from = origins?.map((origin) => (origin >= 0 ? origin : undefined));
  if (Array.isArray(whole))
    return `{"messages":${rewriteJson(source, messages, ([key]) => (key === undefined ? from : undefined)).trim()}}\n`;
  if (isRecord(whole)) {
    return `${rewriteJson(source, document, ([key, ...below]) => (key === 'messages' && below.length === 0 ? from : undefined)).trim()}\n`;
  }
  return keepCalls(`${JSON.stringify(document)}\n`, source);
}

/**
 * Messages that Anthropic's API takes, of a conversation in any format: what came in its form stays as it came, all else is converted as
 * an export is.
 * @param origins see {@link messagesJson}
 * @param counter for the export
 * @returns the text, and what could not go along
 */
export function anthropicJson(
  conversation: Conversation,
  messages: readonly ApiMessage[],
  location: string,
  origins: readonly number[],
  counter: MessageCounter,
): Pick<ExportedConversation, 'text' | 'notes'> {
  if (conversation.format === 'anthropic') {
    return { text: messagesJson(conversation, messages, sourceText(location), origins), notes: [] };
  }
  const exported = exportConversation({ ...conversation, messages }, 'anthropic', counter);
  return { text: withRawCalls(exported, location), notes: exported.notes };
}

/** An export's text with the parameters of tool calls as the conversation's file has them, where it is JSON. */
export function withRawCalls({ text, extension }: ExportedConversation, location: string): string {
  const source = extension === 'json' ? sourceText(location) : undefined;
  return source === undefined ? text : keepCalls(text, source);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * Puts the parameters of tool calls, by their ids, as the source has them, where that was not edited.
 * @param text JSON, or JSON lines.
 * @param source the same; a line that is no JSON is passed over.
 */
export function keepCalls(text: string, source: string): string {
  const raw = new Map<string, string>();
  for (const { id, parameters } of callsIn(source)) {
    // As it would be written anyway: nothing to keep.
    if (JSON.stringify(JSON.parse(parameters)) !== parameters) raw.set(id, parameters);
  }
  if (raw.size === 0) return text;
  const replaced: Replacement[] = [];
  for (const { id, parameters, start, end, isText } of callsIn(text)) {
    const known = raw.get(id);
    if (known === undefined) continue;
    const made = rewriteJson(known, JSON.parse(parameters));
    replaced.push({ start, end, json: isText ? JSON.stringify(made) : made });
  }
  return replaceSpans(text, replaced);
}

interface CallText {
  readonly id: string;
  /** JSON of an object. */
  readonly parameters: string;
  /** Where the parameters stand in the whole text. */
  readonly start: number;
  readonly end: number;
  /** They stand there as a JSON string that holds JSON, as OpenAI's APIs have them. */
  readonly isText: boolean;
}

/** The calls in a text: Anthropic's blocks, OpenAI's calls of both APIs. */
function* callsIn(text: string): Generator<CallText, void> {
  for (const { members, offset } of objectsIn(text)) {
    const field = (name: string): string | undefined => {
      const member = members.findLast(({ key }) => key === name);
      return member && text.slice(offset + member.start, offset + member.end);
    };
    const id = textOf(field('call_id')) ?? textOf(field('id'));
    if (id === undefined) continue;
    for (const name of ['input', 'arguments', 'function']) {
      const member = members.findLast(({ key }) => key === name);
      if (!member) continue;
      let start = offset + member.start;
      let json = text.slice(start, offset + member.end);
      if (name === 'function') {
        const inner = jsonAt(json, ['arguments']);
        if (inner === undefined) continue;
        start += json.lastIndexOf(inner);
        json = inner;
      }
      const isText = json.startsWith('"');
      const parameters = isText ? (textOf(json) ?? '') : json;
      if (isRecord(parsed(parameters))) yield { id, parameters, start, end: start + json.length, isText };
    }
  }
}

function textOf(json: string | undefined): string | undefined {
  const value = json?.startsWith('"') ? parsed(json) : undefined;
  return typeof value === 'string' ? value : undefined;
}
