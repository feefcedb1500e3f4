/** The details that reading a found conversation gives. Runs in a worker: the calls block. */
import type { FillLevel } from '../../core/account/fillLevel';
import type { MessageCounter } from '../../core/tokens/messageCounter';
import { parseHead } from '../text/jsonHead';
import { asBuffer } from '../text/lines';
import { readConversation } from '../read';
import { ConversationReadError } from '../readError';
import { readConversationFile, type FileAccess, type FileHead } from '../readFile';
import { UNTITLED } from '../title';
import type { Conversation, HistoryScope } from '../types';
import { beginnings, FIRST_BYTES, type Beginning } from './beginnings';
import type { FoundConversation } from './types';

/** Plain data: it crosses worker boundaries and is kept on disk. */
export interface ConversationDetails {
  readonly path: string;
  /** The state of the file that was read: details count as long as both are the same. */
  readonly modified: number;
  readonly bytes?: number;
  /** The conversation's own id. */
  readonly id?: string;
  readonly title?: string;
  /** The folder that the agent worked in. */
  readonly workspace?: string;
  /** The id of the conversation that started it. */
  readonly parent?: string;
  /**
   * o200k tokens of the messages that the agent would send next: what can be condensed. Undefined until they are counted, and where the
   * file is too large.
   */
  readonly tokens?: number;
  /** How full the model's window is; known where `tokens` is. */
  readonly fill?: FillLevel;
  /** Why it can't be read, in words for a person. */
  readonly problem?: string;
  /** It is a conversation in which nothing was said, such as VS Code keeps for each chat that was opened: no trouble. */
  readonly isBlank?: boolean;
  /** False while only the beginning of the file was read. */
  readonly isComplete: boolean;
}

/** Larger files are not read in the background: their parse would take hundreds of megabytes. */
export const MAX_COUNTED_BYTES = 32 * 1024 ** 2;

/** Whether it is read whole at once: reading its beginning first would read it twice. */
export const isSmall = ({ bytes }: FoundConversation): boolean => bytes !== undefined && bytes <= FIRST_BYTES;

/** Whether nothing but its beginning is ever read in the background. */
export const isTooLarge = ({ bytes }: FoundConversation): boolean => bytes !== undefined && bytes > MAX_COUNTED_BYTES;

const stateOf = ({ path, modified, bytes }: FoundConversation) => ({
  path,
  modified,
  ...(bytes !== undefined && { bytes }),
});

export interface HeadDetails {
  readonly details: ConversationDetails;
  /** The beginning that was read for them: {@link wholeDetails} goes on behind it. Undefined if nothing could be read. */
  readonly head: FileHead | undefined;
}

/** Title and workspace from the beginning of a file; what is wrong with the file is told when it is read whole. */
export function headDetails(found: FoundConversation): HeadDetails {
  const isComplete = isTooLarge(found);
  let head: FileHead | undefined;
  try {
    for (const beginning of beginnings(found.path)) {
      head = { bytes: beginning.bytes, modified: found.modified, size: found.bytes ?? 0 };
      const conversation = conversationIn(beginning, found.path);
      if (conversation && conversation.title !== UNTITLED) {
        return { details: { ...stateOf(found), ...namesOf(conversation), isComplete }, head };
      }
    }
  } catch {
    // A file that is gone or can't be opened.
  }
  return { details: { ...stateOf(found), isComplete }, head };
}

/** The conversation at the beginning of a file, as far as it is whole. */
function conversationIn({ bytes, isWhole }: Beginning, path: string): Conversation | undefined {
  const head = asBuffer(bytes).toString('utf8');
  // Behind the last newline stands half a record; a document in one line is taken as far as it is whole.
  const text = head.slice(0, isWhole ? undefined : head.lastIndexOf('\n') + 1) || head;
  try {
    const document = parseHead(text);
    const isLines =
      typeof document === 'object' && document !== null && !Array.isArray(document) && !('messages' in document);
    const input = isLines || document === undefined ? text : JSON.stringify(document);
    return readConversation(input, { path }, { history: 'all' });
  } catch {
    return undefined;
  }
}

/** Whether details are those of the file as it was found. */
export const isCurrent = (details: ConversationDetails, { modified, bytes }: FoundConversation): boolean =>
  details.modified === modified && details.bytes === bytes;

/**
 * Everything, from the whole conversation.
 * @param already what {@link headDetails} read of it, and the databases that are open.
 */
export function wholeDetails(
  found: FoundConversation,
  counter: MessageCounter,
  history: HistoryScope,
  fillOf: (conversation: Conversation) => FillLevel,
  already: Pick<FileAccess, 'head' | 'databases'> = {},
): ConversationDetails {
  const state = { ...stateOf(found), isComplete: true };
  try {
    const conversation = readConversationFile(found.path, { history }, { maxBytes: MAX_COUNTED_BYTES, ...already });
    const tokens = counter.messages(conversation.messages);
    return { ...state, ...namesOf(conversation), tokens, fill: fillOf(conversation) };
  } catch (error) {
    if (error instanceof ConversationReadError && error.problem === 'nothing-said') return { ...state, isBlank: true };
    const problem = error instanceof ConversationReadError ? error.reason : String(error);
    return { ...state, ...(found.title !== undefined && { title: found.title }), problem };
  }
}

const namesOf = ({ id, title, workspace, parent }: Conversation) => ({
  id,
  title,
  ...(workspace !== undefined && { workspace }),
  ...(parent !== undefined && { parent }),
});
