/** Calls block, so run them in a worker. */
import type { FillLevel } from '../../core/account/fillLevel';
import type { MessageCounter } from '../../core/tokens/messageCounter';
import { parseTruncatedJson } from '../text/jsonHead';
import { listDamage } from '../notes';
import { asBuffer } from '../text/lines';
import { readConversation } from '../read';
import { ConversationReadError } from '../readError';
import { readConversationFile, type FileAccess, type FileHead } from '../readFile';
import { UNTITLED } from '../title';
import type { Conversation, HistoryScope } from '../types';
import { selectWrittenMessages } from '../write/claudeCode';
import { readGrowingBeginnings, FIRST_BEGINNING_BYTES, type FileBeginning } from './beginnings';
import type { FoundConversation } from './types';

/** Plain data, which crosses worker boundaries and is stored on disk. */
export interface ConversationDetails {
  readonly path: string;
  /** The file's time; the details are valid while time and size of the file are unchanged. */
  readonly modified: number;
  readonly bytes?: number;
  readonly id?: string;
  readonly title?: string;
  readonly workspace?: string;
  readonly parent?: string;
  /**
   * o200k tokens that the agent would send next. Undefined until counted, and for files that are
   * too large.
   */
  readonly tokens?: number;
  /**
   * Tokens of texts that the agent adds itself in each session, such as its list of skills. A copy
   * does not contain them.
   */
  readonly renewed?: number;
  readonly fill?: FillLevel;
  readonly problem?: string;
  /** What could not be read, in sentences; absent if everything was. */
  readonly damage?: string;
  /** True for a conversation without messages, which VS Code stores for each opened chat. */
  readonly isBlank?: boolean;
  /** False if only the beginning of the file was read. */
  readonly isComplete: boolean;
}

/** Parsing larger files in the background would take hundreds of megabytes. */
export const MAX_COUNTED_BYTES = 32 * 1024 ** 2;

export const isSmallConversation = ({ bytes }: FoundConversation): boolean =>
  bytes !== undefined && bytes <= FIRST_BEGINNING_BYTES;

export const isTooLargeToCount = ({ bytes }: FoundConversation): boolean =>
  bytes !== undefined && bytes > MAX_COUNTED_BYTES;

const toFileState = ({ path, modified, bytes }: FoundConversation) => ({
  path,
  modified,
  ...(bytes !== undefined && { bytes }),
});

export interface DetailsFromBeginning {
  readonly details: ConversationDetails;
  /** {@link readDetailsFromWholeFile} continues from this beginning. Undefined if nothing could be read. */
  readonly head: FileHead | undefined;
}

/** Reports no problems; they are reported when the whole file is read. */
export function readDetailsFromBeginning(foundFile: FoundConversation): DetailsFromBeginning {
  const isComplete = isTooLargeToCount(foundFile);
  let fileHead: FileHead | undefined;
  try {
    for (const beginning of readGrowingBeginnings(foundFile.path)) {
      fileHead = { bytes: beginning.bytes, modified: foundFile.modified, size: foundFile.bytes ?? 0 };
      const conversation = parseBeginning(beginning, foundFile.path);
      if (conversation && conversation.title !== UNTITLED) {
        return { details: { ...toFileState(foundFile), ...pickNames(conversation), isComplete }, head: fileHead };
      }
    }
  } catch {
    // The file is gone or can't be opened.
  }
  return { details: { ...toFileState(foundFile), isComplete }, head: fileHead };
}

function parseBeginning({ bytes, isWhole }: FileBeginning, path: string): Conversation | undefined {
  const headText = asBuffer(bytes).toString('utf8');
  // Drops the incomplete last record of a truncated file.
  const text = headText.slice(0, isWhole ? undefined : headText.lastIndexOf('\n') + 1) || headText;
  try {
    const document = parseTruncatedJson(text);
    const isJsonLines =
      typeof document === 'object' && document !== null && !Array.isArray(document) && !('messages' in document);
    const input = isJsonLines || document === undefined ? text : JSON.stringify(document);
    return readConversation(input, { path }, { history: 'all' });
  } catch {
    return undefined;
  }
}

export const areDetailsUpToDate = (details: ConversationDetails, { modified, bytes }: FoundConversation): boolean =>
  details.modified === modified && details.bytes === bytes;

export function readDetailsFromWholeFile(
  foundFile: FoundConversation,
  counter: MessageCounter,
  history: HistoryScope,
  getFillLevel: (conversation: Conversation) => FillLevel,
  access: Pick<FileAccess, 'head' | 'databases'> = {},
): ConversationDetails {
  const state = { ...toFileState(foundFile), isComplete: true };
  try {
    const conversation = readConversationFile(foundFile.path, { history }, { maxBytes: MAX_COUNTED_BYTES, ...access });
    const tokens = counter.countMessages(conversation.messages);
    const renewedTokens = tokens - counter.countMessages(selectWrittenMessages(conversation.messages));
    const fill = getFillLevel(conversation);
    const damageText = listDamage(conversation.notes).join(' ');
    return {
      ...{ ...state, ...pickNames(conversation), tokens, fill },
      ...(renewedTokens > 0 && { renewed: renewedTokens }),
      ...(damageText !== '' && { damage: damageText }),
    };
  } catch (error) {
    if (error instanceof ConversationReadError && error.problem === 'nothing-said') return { ...state, isBlank: true };
    const problem = error instanceof ConversationReadError ? error.reason : String(error);
    return { ...state, ...(foundFile.title !== undefined && { title: foundFile.title }), problem };
  }
}

const pickNames = ({ id, title, workspace, parent }: Conversation) => ({
  id,
  title,
  ...(workspace !== undefined && { workspace }),
  ...(parent !== undefined && { parent }),
});
