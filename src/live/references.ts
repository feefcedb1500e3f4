/** Finds the content that references stand for, whether the view still shows them or not. */
import { expandReference, referencesOf, type ReferencedContent } from '../core/condense/edits/references';
import type { ReferenceId } from '../core/messages/markers';
import type { ApiMessage } from '../core/messages/types';
import type { LiveConversation } from './liveConversation';

/** The parts of a conversation that recall needs. */
export type Recallable = Pick<LiveConversation, 'ledger' | 'originals'> & {
  /** Its messages; if they are not at hand, empty, and places are given less exactly. */
  readonly messages: readonly ApiMessage[];
};

/** A reference's content, with what it says. */
export interface FoundReference {
  readonly reference: ReferenceId;
  readonly content: ReferencedContent;
  /** Of a `cut` the text itself, of a `summary` the messages' JSON, of a `block` (an image, thinking) its JSON. */
  readonly text: string;
}

/** Of all condensations, undone ones too: the agent may have read the marker before. */
export const referencedBy = ({ ledger }: Pick<Recallable, 'ledger'>): Map<ReferenceId, ReferencedContent> =>
  referencesOf(ledger.condensations.flatMap(({ edits }) => edits));

/**
 * The originals behind references, in the order asked for; those that the conversation doesn't know are left out.
 * @throws StorageError where one is missing or damaged.
 */
export async function originalsBehind(
  conversation: Recallable,
  references: readonly ReferenceId[],
): Promise<FoundReference[]> {
  const known = referencedBy(conversation);
  const wanted = references.flatMap((reference) => known.get(reference) ?? []);
  const originals = await conversation.originals([...new Set(wanted.map(({ before }) => before))]);
  const found: FoundReference[] = [];
  for (const content of wanted) {
    const text = expandReference(content, (hash) => originals.get(hash));
    found.push({ reference: content.reference, content, text });
  }
  return found;
}
