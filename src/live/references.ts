/** Finds what references replaced, even if the view no longer shows them. */
import { expandReference, collectReferences, type ReferencedContent } from '../core/condense/edits/references';
import type { ReferenceId } from '../core/messages/markers';
import type { ApiMessage } from '../core/messages/types';
import type { LiveConversation } from './liveConversation';

export type RecallableConversation = Pick<LiveConversation, 'ledger' | 'originals'> & {
  /** If empty, the answer names less exactly where the content was. */
  readonly messages: readonly ApiMessage[];
};

export interface ResolvedReference {
  readonly reference: ReferenceId;
  readonly content: ReferencedContent;
  /** The text of a `cut`, or the JSON of a summary's messages or of a `block` (image, thinking). */
  readonly text: string;
}

/** Includes undone condensations, because the agent may have seen their markers. */
export const mapReferencesToContent = ({
  ledger,
}: Pick<RecallableConversation, 'ledger'>): Map<ReferenceId, ReferencedContent> =>
  collectReferences(ledger.condensations.flatMap(({ edits }) => edits));

/**
 * Omits unknown references.
 * @throws StorageError if an original is missing or damaged
 */
export async function readReferencedOriginals(
  conversation: RecallableConversation,
  references: readonly ReferenceId[],
): Promise<ResolvedReference[]> {
  const referenceMap = mapReferencesToContent(conversation);
  const wantedContents = references.flatMap((reference) => referenceMap.get(reference) ?? []);
  const textByHash = await conversation.originals([...new Set(wantedContents.map(({ before }) => before))]);
  const originals: ResolvedReference[] = [];
  for (const content of wantedContents) {
    const text = expandReference(content, (hash) => textByHash.get(hash));
    originals.push({ reference: content.reference, content, text });
  }
  return originals;
}
