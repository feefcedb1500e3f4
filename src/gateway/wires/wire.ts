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
  /**
   * Paths of the message's items in the body; several if the message consists of several results.
   */
  readonly items: readonly Path[];
  readonly blocks: readonly BlockSource[];
}

export interface BlockSource {
  readonly path: Path;
  readonly strings: readonly StringSource[];
}

/** Says that strings below the path `from` in a block are below the path `to` in the body. */
export interface StringSource {
  readonly from: Path;
  readonly to: Path;
  /** True if the string at `to` is JSON in which the block's strings are. */
  readonly inText?: true;
}

/** Thrown if the view can't be expressed in this format; nothing was written. */
export class WireError extends Error {
  override readonly name = 'WireError';
}

/**
 * Writes only up to the last change.
 * @param continueFrom number of messages that were written before
 * @param view messages that are the same objects as in the original are unchanged
 * @throws WireError; JsonPathError if a place is missing
 */
export function writeViewIntoBody(
  wire: WireFormat,
  text: string,
  body: RequestBody,
  { sources }: WireRequest,
  { original, messages: view, origins }: Pick<View, 'original' | 'messages' | 'origins'>,
  continueFrom = { view: 0, original: 0 },
): EditedJsonHead {
  if (original.length !== sources.length || view.length !== origins.length) {
    throw new WireError('The view is not one of this request.');
  }
  const changes = new RequestBodyChanges(body, wire);
  let nextOriginal = continueFrom.original;
  view.forEach((message, index) => {
    if (index < continueFrom.view) return;
    const origin = origins[index] ?? SUMMARY_ORIGIN;
    if (origin === SUMMARY_ORIGIN) {
      const nextOrigin = origins.slice(index + 1).find((other) => other !== SUMMARY_ORIGIN) ?? original.length;
      changes.addSummary(message, sources.slice(nextOriginal, nextOrigin));
      nextOriginal = nextOrigin;
      return;
    }
    if (origin !== nextOriginal) throw new WireError(`Message ${nextOriginal} is missing in the view.`);
    nextOriginal++;
    const originalMessage = original[origin];
    const source = sources[origin];
    if (originalMessage && source && originalMessage !== message)
      changes.changeMessage(originalMessage, message, source);
  });
  if (nextOriginal !== original.length) throw new WireError(`Message ${nextOriginal} is missing in the view.`);
  return editJsonHead(text, changes.listEdits());
}

class RequestBodyChanges {
  private readonly edits: JsonEdit[] = [];
  private readonly editsByText = new Map<string, { readonly to: Path; readonly edits: JsonEdit[] }>();

  constructor(
    private readonly body: RequestBody,
    private readonly wire: WireFormat,
  ) {}

  listEdits(): JsonEdit[] {
    const textEdits = [...this.editsByText.values()].map(({ to, edits }): JsonEdit => {
      const text = getValueAt(this.body, to);
      if (typeof text !== 'string') throw new WireError(`No text stands at ${to.join('.')}.`);
      return { path: to, string: editJson(text, edits) };
    });
    return [...this.edits, ...textEdits];
  }

  addSummary(message: ApiMessage, sources: readonly MessageSource[]): void {
    const [firstPath, ...otherPaths] = sources.flatMap(({ items }) => items);
    const blockTexts = getBlocks(message).map((block) => block['text']);
    const summaryTexts = typeof message.content === 'string' ? [message.content] : blockTexts;
    if (!firstPath || summaryTexts.some((word) => typeof word !== 'string')) {
      throw new WireError('A summary stands where it can not be written.');
    }
    this.edits.push({ path: firstPath, json: JSON.stringify(this.wire.userItem(summaryTexts.join('\n\n'))) });
    for (const path of otherPaths) this.edits.push({ path, removed: true });
  }

  changeMessage(oldMessage: ApiMessage, newMessage: ApiMessage, { blocks }: MessageSource): void {
    const viewBlocks = getBlocks(newMessage);
    let position = 0;
    getBlocks(oldMessage).forEach((block, index) => {
      const source = blocks[index];
      const viewBlock = viewBlocks[position];
      if (!source) throw new WireError('A block has no place in the request.');
      if (block === viewBlock) position++;
      // Only thinking can be removed from a message; other blocks keep their positions.
      else if (isAnyThinking(block) && !(viewBlock && isAnyThinking(viewBlock)))
        this.edits.push({ path: source.path, removed: true });
      else {
        if (!viewBlock) throw new WireError('A block is missing in the view.');
        this.changeValue(block, viewBlock, [], source);
        position++;
      }
    });
    if (position !== viewBlocks.length) throw new WireError('The view has a block more than the request.');
  }

  private changeValue(oldValue: unknown, newValue: unknown, path: Path, source: BlockSource): void {
    if (oldValue === newValue) return;
    if (typeof oldValue === 'string' && typeof newValue === 'string') {
      this.changeString(newValue, path, source);
      return;
    }
    if (Array.isArray(oldValue) && Array.isArray(newValue) && oldValue.length === newValue.length) {
      oldValue.forEach((item, index) => {
        this.changeValue(item, newValue[index], path.concat(index), source);
      });
      return;
    }
    if (!isRecord(oldValue) || !isRecord(newValue))
      throw new WireError(`More than strings changed at ${path.join('.')}.`);
    if (oldValue['type'] !== newValue['type']) {
      this.replaceBlock(newValue, path, source);
      return;
    }
    const keys = Object.keys(oldValue);
    if (keys.length !== Object.keys(newValue).length) throw new WireError(`Fields changed at ${path.join('.')}.`);
    for (const key of keys) {
      if (!Object.hasOwn(newValue, key)) throw new WireError(`Fields changed at ${path.join('.')}.`);
      this.changeValue(oldValue[key], newValue[key], path.concat(key), source);
    }
  }

  private replaceBlock(newBlock: Readonly<Record<string, unknown>>, path: Path, source: BlockSource): void {
    const sourcePath = path.length === 0 ? source.path : findSourcePlace(path, source)?.to;
    if (!sourcePath || typeof newBlock['text'] !== 'string')
      throw new WireError('A block became something else than a text.');
    const part = this.wire.textPart(newBlock['text'], sourcePath, getValueAt(this.body, sourcePath));
    this.edits.push({ path: sourcePath, json: JSON.stringify(part) });
  }

  private changeString(text: string, path: Path, source: BlockSource): void {
    const sourcePlace = findSourcePlace(path, source);
    if (!sourcePlace) throw new WireError(`The string at ${path.join('.')} has no place in the request.`);
    const { to, rest, inText } = sourcePlace;
    if (!inText) {
      this.edits.push({ path: to, string: text });
      return;
    }
    const key = JSON.stringify(to);
    const textEdits = this.editsByText.get(key) ?? { to, edits: [] };
    this.editsByText.set(key, textEdits);
    textEdits.edits.push({ path: rest, string: text });
  }
}

function findSourcePlace(
  path: Path,
  { strings }: BlockSource,
): { readonly to: Path; readonly rest: Path; readonly inText: boolean } | undefined {
  for (const { from, to, inText } of strings) {
    if (from.length > path.length || !from.every((key, at) => key === path[at])) continue;
    const remainingPath = path.slice(from.length);
    return inText ? { to, rest: remainingPath, inText } : { to: to.concat(remainingPath), rest: [], inText: false };
  }
  return undefined;
}
