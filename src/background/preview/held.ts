import { statSync } from 'node:fs';
import { splitLocation } from '../../conversations/location';
import { convertFileError, readConversationFile } from '../../conversations/readFile';
import type { Edit } from '../../core/condense/edits/edits';
import { getPinnedIndexes } from '../../core/condense/ledger/pins';
import type { ApiMessage } from '../../core/messages/types';
import { openLedger } from '../../storage/ledgerStore';
import { getKnownFacts } from '../knownFacts';
import { applyUpdate } from './listUpdate';
import type { FileConversation, LiveContent, LiveConversation, LiveUpdate, ConversationSource } from './messages';

/** Larger conversations would fill the memory. */
const MAX_PREVIEW_BYTES = 32 * 1024 ** 2;

/** This number includes conversations that are only compared. */
const MAX_HELD_CONVERSATIONS = 4;

export interface PreviewConversation {
  readonly id: string;
  readonly title: string;
  /**
   * The array stays identical while the conversation is unchanged, because caches are keyed by it.
   */
  readonly messages: readonly ApiMessage[];
  /** Edits that the view shows before this condensation. */
  readonly edits: readonly Edit[];
  /** Indexes of messages pinned in the ledger. */
  readonly pinned: ReadonlySet<number>;
  readonly known: ReturnType<typeof getKnownFacts>;
}

const NO_CONTENT: LiveContent = { messages: [], edits: [] };

type PreviewContent = Omit<PreviewConversation, 'pinned'>;

export class PreviewConversations {
  private readonly liveContents = new Map<string, LiveContent>();
  private readonly contents = new Map<string, { readonly version: string; readonly content: PreviewContent }>();

  /** Keeps unchanged message objects identical, because caches are keyed by them. */
  update(id: string, { messages, edits }: LiveUpdate): void {
    const before = this.liveContents.get(id) ?? NO_CONTENT;
    this.liveContents.set(id, {
      messages: applyUpdate(before.messages, messages),
      edits: applyUpdate(before.edits, edits),
    });
  }

  /** @throws ConversationReadError */
  async open(conversation: ConversationSource): Promise<PreviewConversation> {
    if (conversation.kind === 'live') return this.getLiveConversation(conversation);
    const content = this.readFileContent(conversation);
    const { ledger } = await openLedger(conversation.store, { id: content.id });
    return { ...content, pinned: getPinnedIndexes(ledger.pinned, content.messages) };
  }

  private getLiveConversation({ id, title, pinned }: LiveConversation): PreviewConversation {
    const { messages, edits } = this.liveContents.get(id) ?? NO_CONTENT;
    return { id, title, messages, edits, pinned: new Set(pinned), known: {} };
  }

  private readFileContent({ path, history }: FileConversation): PreviewContent {
    const key = `${history} ${path}`;
    const version = readVersion(path);
    const known = this.contents.get(key);
    this.contents.delete(key);
    const content = known?.version === version ? known.content : readContent(path, history);
    this.contents.set(key, { version, content });
    for (const old of [...this.contents.keys()].slice(0, -MAX_HELD_CONVERSATIONS)) this.contents.delete(old);
    return content;
  }
}

/**
 * Returns a text that changes if the file changes.
 * @throws ConversationReadError if the file is gone
 */
function readVersion(path: string): string {
  const { file } = splitLocation(path);
  try {
    const { mtimeMs, size } = statSync(file);
    return `${mtimeMs} ${size}`;
  } catch (error) {
    throw convertFileError(file, error);
  }
}

function readContent(path: string, history: FileConversation['history']): PreviewContent {
  const conversation = readConversationFile(path, { history }, { maxBytes: MAX_PREVIEW_BYTES });
  const { id, title, messages } = conversation;
  return { id, title, messages, edits: [], known: getKnownFacts(conversation) };
}
