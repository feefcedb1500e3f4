/** Edits JSON text and keeps everything else byte-identical. */
import type { Path } from '../messages/types';

export type JsonEdit = { readonly path: Path } & (
  | { readonly string: string }
  | { readonly json: string }
  | { readonly removed: true }
);

/** Thrown if a path has no value, or if the value to change is not a string. */
export class JsonPathError extends Error {
  override readonly name = 'JsonPathError';
  constructor(path: Path, expected: string) {
    super(`${expected} expected at ${path.length === 0 ? 'the top' : path.join('.')}`);
  }
}

export interface EditedJsonHead {
  readonly head: string;
  readonly end: number;
}

/**
 * Of duplicate keys the last one counts, as in `JSON.parse`. Takes linear time.
 * @param text valid JSON
 * @param edits no edit's path may be the beginning of another's
 * @throws JsonPathError
 */
export function editJson(text: string, edits: readonly JsonEdit[]): string {
  const { head, end } = editJsonHead(text, edits);
  return head + text.slice(end);
}

/**
 * Returns only the part that {@link editJson} changes. Texts with a common start have the same
 * edited start.
 * @throws JsonPathError
 */
export function editJsonHead(text: string, edits: readonly JsonEdit[]): EditedJsonHead {
  if (edits.length === 0) return { head: '', end: 0 };
  const splices: TextReplacement[] = [];
  new JsonEditor(text, splices).editValue(skipJsonSpace(text, 0), buildEditTree(edits), []);
  splices.sort((a, b) => a.start - b.start);
  let editedHead = '';
  let copiedEnd = 0;
  for (const { start, end, json } of splices) {
    editedHead += text.slice(copiedEnd, start) + json;
    copiedEnd = end;
  }
  return { head: editedHead, end: copiedEnd };
}

interface TextReplacement {
  readonly start: number;
  readonly end: number;
  readonly json: string;
}

interface JsonEditTree {
  edit?: JsonEdit;
  readonly children: Map<string | number, JsonEditTree>;
}

function buildEditTree(edits: readonly JsonEdit[]): JsonEditTree {
  const root: JsonEditTree = { children: new Map() };
  for (const edit of edits) {
    let tree = root;
    for (const key of edit.path) {
      const next = tree.children.get(key) ?? { children: new Map() };
      tree.children.set(key, next);
      tree = next;
    }
    tree.edit = edit;
  }
  return root;
}

const isRemovedByEdit = ({ edit }: JsonEditTree): boolean => edit !== undefined && 'removed' in edit;

interface JsonEntrySpan {
  readonly start: number;
  readonly end: number;
  readonly isRemoved: boolean;
}

class JsonEditor {
  constructor(
    private readonly text: string,
    private readonly splices: TextReplacement[],
  ) {}

  editValue(start: number, tree: JsonEditTree, path: Path): number {
    const { edit } = tree;
    if (edit) {
      const end = skipJsonValue(this.text, start);
      if ('removed' in edit) throw new JsonPathError(path, 'an element or a member');
      if ('string' in edit && this.text[start] !== '"') throw new JsonPathError(path, 'a string');
      this.splices.push({ start, end, json: 'string' in edit ? JSON.stringify(edit.string) : edit.json });
      return end;
    }
    switch (this.text[start]) {
      case '[':
        return this.editArray(start, tree, path);
      case '{':
        return this.editObject(start, tree, path);
      default:
        throw new JsonPathError(path, 'an object or an array');
    }
  }

  private editArray(start: number, { children }: JsonEditTree, path: Path): number {
    const entries: JsonEntrySpan[] = [];
    let editedCount = 0;
    let offset = skipJsonSpace(this.text, start + 1);
    for (let index = 0; this.text[offset] !== ']'; index++) {
      const tree = children.get(index);
      if (tree) editedCount++;
      const isRemoved = tree !== undefined && isRemovedByEdit(tree);
      const end =
        tree && !isRemoved ? this.editValue(offset, tree, path.concat(index)) : skipJsonValue(this.text, offset);
      entries.push({ start: offset, end, isRemoved });
      offset = this.skipComma(end);
    }
    if (editedCount < children.size) throw new JsonPathError(path, `elements ${[...children.keys()].join(', ')}`);
    this.removeEntries(entries);
    return offset + 1;
  }

  private editObject(start: number, { children }: JsonEditTree, path: Path): number {
    const entries: JsonEntrySpan[] = [];
    const valueStarts = new Map<string, number>();
    let offset = skipJsonSpace(this.text, start + 1);
    while (this.text[offset] !== '}') {
      const keyEnd = skipJsonString(this.text, offset);
      const key = JSON.parse(this.text.slice(offset, keyEnd)) as string;
      const valueStart = skipJsonSpace(this.text, skipJsonSpace(this.text, keyEnd) + 1);
      const tree = children.get(key);
      if (tree) valueStarts.set(key, valueStart);
      const end = skipJsonValue(this.text, valueStart);
      // All duplicates of a removed key must go; a remaining one would take effect.
      entries.push({ start: offset, end, isRemoved: tree !== undefined && isRemovedByEdit(tree) });
      offset = this.skipComma(end);
    }
    for (const [key, tree] of children) {
      const valueStart = valueStarts.get(String(key));
      if (typeof key !== 'string' || valueStart === undefined) throw new JsonPathError(path.concat(key), 'a value');
      if (!isRemovedByEdit(tree)) this.editValue(valueStart, tree, path.concat(key));
    }
    this.removeEntries(entries);
    return offset + 1;
  }

  private skipComma(end: number): number {
    const offset = skipJsonSpace(this.text, end);
    return this.text[offset] === ',' ? skipJsonSpace(this.text, offset + 1) : offset;
  }

  /** Removes the comma after removed entries, or before them at the end of the list. */
  private removeEntries(entries: readonly JsonEntrySpan[]): void {
    let runStart: number | undefined;
    entries.forEach((entry, index) => {
      if (entry.isRemoved) {
        runStart ??= index;
        return;
      }
      if (runStart !== undefined)
        this.splices.push({ start: entries[runStart]?.start ?? 0, end: entry.start, json: '' });
      runStart = undefined;
    });
    if (runStart === undefined) return;
    const previousEntry = entries[runStart - 1];
    const start = previousEntry ? previousEntry.end : (entries[runStart]?.start ?? 0);
    this.splices.push({ start, end: entries.at(-1)?.end ?? start, json: '' });
  }
}

const WHITESPACE = /[ \n\r\t]*/y;
const SCALAR_VALUE = /[^\s,\]}]*/y;
const STRUCTURAL_CHAR = /["[\]{}]/g;

export function skipJsonSpace(text: string, start: number): number {
  const code = text.charCodeAt(start);
  if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return start;
  WHITESPACE.lastIndex = start;
  WHITESPACE.test(text);
  return WHITESPACE.lastIndex;
}

export function skipJsonString(text: string, from: number): number {
  for (let offset = from; ;) {
    offset = text.indexOf('"', offset + 1);
    if (offset < 0) throw new JsonPathError([], 'valid JSON');
    let backslashes = 0;
    while (text.charCodeAt(offset - 1 - backslashes) === 0x5c) backslashes++;
    if (backslashes % 2 === 0) return offset + 1;
  }
}

/**
 * Not recursive, so deep nesting can't overflow the stack.
 * @returns the offset after the value at `start`
 */
export function skipJsonValue(text: string, start: number): number {
  const firstChar = text[start];
  if (firstChar === '"') return skipJsonString(text, start);
  if (firstChar !== '{' && firstChar !== '[') {
    SCALAR_VALUE.lastIndex = start;
    SCALAR_VALUE.test(text);
    return SCALAR_VALUE.lastIndex;
  }
  let depth = 0;
  for (let offset = start; ;) {
    STRUCTURAL_CHAR.lastIndex = offset;
    const match = STRUCTURAL_CHAR.exec(text);
    if (!match) throw new JsonPathError([], 'valid JSON');
    const structuralChar = match[0];
    offset = match.index + 1;
    if (structuralChar === '"') offset = skipJsonString(text, match.index);
    else if (structuralChar === '{' || structuralChar === '[') depth++;
    else if (--depth === 0) return offset;
  }
}
