/**
 * Converts a body to core messages, and writes a view back into the raw JSON. Unedited parts stay
 * byte-identical.
 */
import type { Usage } from '../../core/cost/usage';
import type { View } from '../../core/condense/edits/view';
import { editJsonHead, editJson, type EditedJsonHead, type JsonEdit } from '../../core/json/editJson';
import { getBlocks, isAnyThinking, isRecord } from '../../core/messages/blocks';
import { SUMMARY_ORIGIN } from '../../core/messages/firewall';
import { getValueAt } from '../../core/messages/path';
import type { ApiMessage, Path } from '../../core/messages/types';

export type WireName = 'anthropic' | 'chat' | 'responses' | 'gemini';

export type RequestBody = Readonly<Record<string, unknown>>;

export interface WireFormat {
  readonly name: WireName;
  readonly list: string;
  /** @returns undefined if the body has another format or lacks part of the conversation */
  read(body: RequestBody): WireRequest | undefined;
  textPart(text: string, path: Path, before: unknown): unknown;
  userItem(text: string): unknown;
  usage(event: RequestBody, before: Usage | undefined): Usage | undefined;
  /** Returns the error in a stream event or in a successful answer. */
  failure(event: RequestBody): unknown;
}

export interface WireRequest {
  /** Absent if the model is in the URL (Gemini). */
  readonly model?: string;
  /** Includes instructions and other text before the conversation. */
  readonly system?: string;
  readonly messages: readonly ApiMessage[];
  readonly sources: readonly MessageSource[];
  readonly tools: readonly unknown[];
  readonly maxOutputTokens?: number;
}

export interface MessageSource {
  /** A message with several results may have several items. */
  readonly items: readonly Path[];
  readonly blocks: readonly BlockSource[];
}

export interface BlockSource {
  readonly path: Path;
  readonly strings: readonly StringSource[];
}

/** Maps strings below `from` in the block to `to` in the body. */
export interface StringSource {
  readonly from: Path;
  readonly to: Path;
  /** True if the string at `to` is JSON that contains the strings. */
  readonly inText?: true;
}

/** The view can't be expressed in this format; nothing was written. */
export class WireError extends Error {
  override readonly name = 'WireError';
}

/**
 * Writes a view in place of a body's messages, up to the last change.
 * @param from number of messages to skip, since they were written before
 * @param view a message that is the identical object in the original is unchanged
 * @throws WireError if the view can't be expressed in this format; JsonPathError if a place is
 * missing
 */
export function writeViewIntoBody(
  wire: WireFormat,
  text: string,
  body: RequestBody,
  { sources }: WireRequest,
  { original, messages: view, origins }: Pick<View, 'original' | 'messages' | 'origins'>,
  from = { view: 0, original: 0 },
): EditedJsonHead {
  if (original.length !== sources.length || view.length !== origins.length) {
    throw new WireError('The view is not one of this request.');
  }
  const changes = new RequestBodyChanges(body, wire);
  let next = from.original;
  view.forEach((message, index) => {
    if (index < from.view) return;
    const origin = origins[index] ?? SUMMARY_ORIGIN;
    if (origin === SUMMARY_ORIGIN) {
      const nextOrigin = origins.slice(index + 1).find((other) => other !== SUMMARY_ORIGIN) ?? original.length;
      changes.addSummary(message, sources.slice(next, nextOrigin));
      next = nextOrigin;
      return;
    }
    if (origin !== next) throw new WireError(`Message ${next} is missing in the view.`);
    next++;
    const before = original[origin];
    const source = sources[origin];
    if (before && source && before !== message) changes.changeMessage(before, message, source);
  });
  if (next !== original.length) throw new WireError(`Message ${next} is missing in the view.`);
  return editJsonHead(text, changes.listEdits());
}

class RequestBodyChanges {
  private readonly edits: JsonEdit[] = [];
  private readonly inTexts = new Map<string, { readonly to: Path; readonly edits: JsonEdit[] }>();

  constructor(
    private readonly body: RequestBody,
    private readonly wire: WireFormat,
  ) {}

  listEdits(): JsonEdit[] {
    const written = [...this.inTexts.values()].map(({ to, edits }): JsonEdit => {
      const text = getValueAt(this.body, to);
      if (typeof text !== 'string') throw new WireError(`No text stands at ${to.join('.')}.`);
      return { path: to, string: editJson(text, edits) };
    });
    return [...this.edits, ...written];
  }

  addSummary(message: ApiMessage, sources: readonly MessageSource[]): void {
    const [first, ...rest] = sources.flatMap(({ items }) => items);
    const text = getBlocks(message).map((block) => block['text']);
    const texts = typeof message.content === 'string' ? [message.content] : text;
    if (!first || texts.some((word) => typeof word !== 'string')) {
      throw new WireError('A summary stands where it can not be written.');
    }
    this.edits.push({ path: first, json: JSON.stringify(this.wire.userItem(texts.join('\n\n'))) });
    for (const path of rest) this.edits.push({ path, removed: true });
  }

  changeMessage(before: ApiMessage, after: ApiMessage, { blocks }: MessageSource): void {
    const shown = getBlocks(after);
    let at = 0;
    getBlocks(before).forEach((block, index) => {
      const source = blocks[index];
      const now = shown[at];
      if (!source) throw new WireError('A block has no place in the request.');
      if (block === now) at++;
      // Only thinking can be removed from a message; other blocks keep their positions.
      else if (isAnyThinking(block) && !(now && isAnyThinking(now)))
        this.edits.push({ path: source.path, removed: true });
      else {
        if (!now) throw new WireError('A block is missing in the view.');
        this.changeValue(block, now, [], source);
        at++;
      }
    });
    if (at !== shown.length) throw new WireError('The view has a block more than the request.');
  }

  private changeValue(before: unknown, after: unknown, path: Path, source: BlockSource): void {
    if (before === after) return;
    if (typeof before === 'string' && typeof after === 'string') {
      this.changeString(after, path, source);
      return;
    }
    if (Array.isArray(before) && Array.isArray(after) && before.length === after.length) {
      before.forEach((item, index) => {
        this.changeValue(item, after[index], path.concat(index), source);
      });
      return;
    }
    if (!isRecord(before) || !isRecord(after)) throw new WireError(`More than strings changed at ${path.join('.')}.`);
    if (before['type'] !== after['type']) {
      this.replaceBlock(after, path, source);
      return;
    }
    const keys = Object.keys(before);
    if (keys.length !== Object.keys(after).length) throw new WireError(`Fields changed at ${path.join('.')}.`);
    for (const key of keys) {
      if (!Object.hasOwn(after, key)) throw new WireError(`Fields changed at ${path.join('.')}.`);
      this.changeValue(before[key], after[key], path.concat(key), source);
    }
  }

  private replaceBlock(after: Readonly<Record<string, unknown>>, path: Path, source: BlockSource): void {
    const place = path.length === 0 ? source.path : findSourcePlace(path, source)?.to;
    if (!place || typeof after['text'] !== 'string') throw new WireError('A block became something else than a text.');
    const part = this.wire.textPart(after['text'], place, getValueAt(this.body, place));
    this.edits.push({ path: place, json: JSON.stringify(part) });
  }

  private changeString(text: string, path: Path, source: BlockSource): void {
    const place = findSourcePlace(path, source);
    if (!place) throw new WireError(`The string at ${path.join('.')} has no place in the request.`);
    const { to, rest, inText } = place;
    if (!inText) {
      this.edits.push({ path: to, string: text });
      return;
    }
    const key = JSON.stringify(to);
    const changed = this.inTexts.get(key) ?? { to, edits: [] };
    this.inTexts.set(key, changed);
    changed.edits.push({ path: rest, string: text });
  }
}

function findSourcePlace(
  path: Path,
  { strings }: BlockSource,
): { readonly to: Path; readonly rest: Path; readonly inText: boolean } | undefined {
  for (const { from, to, inText } of strings) {
    if (from.length > path.length || !from.every((key, at) => key === path[at])) continue;
    const rest = path.slice(from.length);
    return inText ? { to, rest, inText } : { to: to.concat(rest), rest: [], inText: false };
  }
  return undefined;
}
