/** Doing what the preview showed: pins are kept in the conversation's ledger, then it is condensed. */
import { agentOf } from '../../agent/runtime';
import { touches } from '../../core/condense/report/preview';
import { condenseFile } from '../condenseNow';
import { stored, toItsEnd } from '../conversations/background';
import type { Services } from '../../window/services';
import { manualSettings } from '../../window/settings/manualSettings';
import { liveOf, type ConversationName } from './conversation';

/** Pins these messages and no others. @throws Error where the ledger can't be written, or the conversation is gone */
export async function savePins(services: Services, name: ConversationName, pinned: readonly number[]): Promise<void> {
  if (name.kind === 'file') {
    await toItsEnd(services, { kind: 'pin', ...stored(services, name.path), pinned });
    return;
  }
  const { id, pinned: known } = liveOf(services, name.id);
  const live = await agentOf(services).live();
  for (const message of known) if (!pinned.includes(message)) await live.unpin(id, message);
  for (const message of pinned) if (!known.includes(message)) await live.pin(id, message);
}

/**
 * Condenses as the settings say; what came of it is told by a notification.
 * @param excluded indexes of the messages that no edit is to touch.
 */
export async function condensePreviewed(
  services: Services,
  name: ConversationName,
  pinned: readonly number[],
  excluded: readonly number[],
): Promise<void> {
  await savePins(services, name, pinned);
  if (name.kind === 'file') {
    await condenseFile(services, name.path, { ...manualSettings(), excluded });
    return;
  }
  const agent = agentOf(services);
  const { id } = liveOf(services, name.id);
  const live = await agent.live();
  const known = new Set(live.view(id)?.edits.map((edit) => edit.id));
  await agent.condense(id);
  const messages = new Set(excluded);
  for (const edit of live.view(id)?.edits ?? []) {
    if (!known.has(edit.id) && touches(edit, messages)) await live.toggleEdit(id, edit.id);
  }
}
