import { hashText, type Hash } from '../../hash';
import { getValueAt } from '../../messages/path';
import type { ApiMessage, ContentPlace } from '../../messages/types';
import type { Slice } from '../../slice';
import type { Edit } from './edits';
import type { ReferenceId } from '../../messages/markers';

export interface ReferencedContent extends Slice {
  readonly reference: ReferenceId;
  readonly kind: Edit['kind'];
  readonly place: ContentPlace;
  /** Hash of the whole original string that contains the slice. */
  readonly before: Hash;
}

export function collectReferences(edits: readonly Edit[]): Map<ReferenceId, ReferencedContent> {
  const references = new Map<ReferenceId, ReferencedContent>();
  for (const edit of edits) {
    if (edit.kind === 'summary') {
      const { reference, before, start } = edit;
      const place = { message: start, path: [] };
      references.set(reference, { reference, kind: edit.kind, place, before, start: 0, end: Infinity });
      continue;
    }
    if (edit.kind === 'block') {
      const { place, before, placeholder } = edit;
      if (placeholder)
        references.set(placeholder.reference, {
          reference: placeholder.reference,
          kind: edit.kind,
          place,
          before,
          start: 0,
          end: Infinity,
        });
      continue;
    }
    for (const { reference, start, end } of edit.cuts) {
      if (reference !== undefined)
        references.set(reference, { reference, kind: edit.kind, place: edit.place, before: edit.before, start, end });
    }
  }
  return references;
}

export function collectReferencedTexts(
  messages: readonly ApiMessage[],
  edits: readonly Edit[],
): Record<ReferenceId, string> {
  const texts = [...collectReferences(edits)].flatMap(([reference, { kind, place, start, end }]) => {
    // Skips summaries, whose messages callers render themselves.
    if (kind === 'summary') return [];
    const value = getValueAt(messages[place.message], place.path);
    const text = typeof value === 'string' ? value.slice(start, end) : JSON.stringify(value);
    return [[reference, text] as const];
  });
  return Object.fromEntries(texts);
}

/** @throws Error if the stored original is missing or damaged */
export function expandReference(content: ReferencedContent, findOriginal: (hash: Hash) => string | undefined): string {
  const slice = findOriginal(content.before)?.slice(content.start, content.end);
  if (slice === undefined || !hashText(slice).startsWith(content.reference)) {
    throw new Error(`the original of ref ${content.reference} is missing or damaged`);
  }
  return slice;
}
