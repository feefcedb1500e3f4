import { statSync } from 'node:fs';
import { splitLocation } from '../../conversations/location';
import { convertFileError, readConversationFile } from '../../conversations/readFile';
import type { Edit } from '../../core/condense/edits/edits';
import { getPinnedIndexes } from '../../core/condense/ledger/pins';
import type { ApiMessage } from '../../core/messages/types';
import { openLedger } from '../../storage/ledgerStore';
import { getRecordedSystemAndVendor } from '../knownFacts';
import { applyListUpdate } from './listUpdate';
import type {
  FileConversation,
  LiveConversationContent,
  LiveConversation,
  LiveConversationUpdate,
  ConversationSource,
} from './messages';

/** Bytes of the largest file that is previewed; larger conversations would fill the memory. */
const MAX_PREVIEW_BYTES = 32 * 1024 ** 2;

/** Number of conversations kept open, including those that are only compared. */
const MAX_OPEN_CONVERSATIONS = 4;

export interface PreviewConversation {
  readonly id: string;
  readonly title: string;
  /**
   * The array stays the same object while the conversation is unchanged, because it is the key of
   * caches.
   */
  readonly messages: readonly ApiMessage[];
  /** Edits that the conversation's view already shows. */
  readonly edits: readonly Edit[];
  /** Indexes of messages pinned in the ledger. */
  readonly pinned: ReadonlySet<number>;
  readonly recordedFacts: ReturnType<typeof getRecordedSystemAndVendor>;
}

const EMPTY_LIVE_CONTENT: LiveConversationContent = { messages: [], edits: [] };

type PreviewContent = Omit<PreviewConversation, 'pinned'>;

export class PreviewConversationStore {
  private readonly liveContents = new Map<string, LiveConversationContent>();
  private readonly contentByKey = new Map<string, { readonly version: string; readonly content: PreviewContent }>();

  /** Keeps unchanged messages as the same objects, because they are keys of caches. */
  updateLiveConversation(id: string, { messages, edits }: LiveConversationUpdate): void {
    const previousContent = this.liveContents.get(id) ?? EMPTY_LIVE_CONTENT;
    this.liveContents.set(id, {
      messages: applyListUpdate(previousContent.messages, messages),
      edits: applyListUpdate(previousContent.edits, edits),
    });
  }

  /** @throws ConversationReadError */
  async openConversation(conversation: ConversationSource): Promise<PreviewConversation> {
    if (conversation.kind === 'live') return this.getLiveConversation(conversation);
    const content = this.readFileContent(conversation);
    const { ledger } = await openLedger(conversation.store, { id: content.id });
    return { ...content, pinned: getPinnedIndexes(ledger.pinned, content.messages) };
  }

  private getLiveConversation({ id, title, pinned }: LiveConversation): PreviewConversation {
    const { messages, edits } = this.liveContents.get(id) ?? EMPTY_LIVE_CONTENT;
    return { id, title, messages, edits, pinned: new Set(pinned), recordedFacts: {} };
  }

  private readFileContent({ path, history }: FileConversation): PreviewContent {
    const key = `${history} ${path}`;
    const version = readFileVersion(path);
    const cachedContent = this.contentByKey.get(key);
    this.contentByKey.delete(key);
    const content = cachedContent?.version === version ? cachedContent.content : readPreviewContent(path, history);
    this.contentByKey.set(key, { version, content });
    for (const oldestKey of [...this.contentByKey.keys()].slice(0, -MAX_OPEN_CONVERSATIONS))
      this.contentByKey.delete(oldestKey);
    return content;
  }
}

/**
 * Returns a text that changes if the file changes.
 * @throws ConversationReadError if the file is gone
 */
function readFileVersion(path: string): string {
  const { file } = splitLocation(path);
  try {
    const { mtimeMs, size } = statSync(file);
    return `${mtimeMs} ${size}`;
  } catch (error) {
    throw convertFileError(file, error);
  }
}

function readPreviewContent(path: string, history: FileConversation['history']): PreviewContent {
  const conversation = readConversationFile(path, { history }, { maxBytes: MAX_PREVIEW_BYTES });
  const { id, title, messages } = conversation;
  return { id, title, messages, edits: [], recordedFacts: getRecordedSystemAndVendor(conversation) };
}
