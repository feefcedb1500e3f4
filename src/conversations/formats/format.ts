import type { Conversation, ReadOptions, Source } from '../types';
import type { Fields } from '../text/values';
import type { RecordedRequests } from '../../core/account/recordedRequest';

/** Collects what a file says of its requests, record by record, and keeps nothing else of it. */
export interface RequestCollector {
  take(value: Fields): void;
  /** Undefined where no record tells of a usage. */
  result(): RecordedRequests | undefined;
  /** How many compactions there were so far. */
  readonly compactions: number;
}

/** Records of another file that stand before those of a conversation's own; or where they should be, and are not. */
export type EarlierRecords =
  | {
      readonly file: string;
      readonly bytes: Uint8Array;
      /** The ordinal of the first record that is not a part of it. */
      readonly end: number;
    }
  | { readonly missing: string };

/** How the conversations of a format are told and read: as JSON lines, as one JSON document, or as either. */
export interface Format {
  readonly lines?: {
    /** Whether only this format has such a record. */
    readonly isRecord: (value: Fields) => boolean;
    /** @throws {ConversationReadError} */
    readonly read: (
      input: string | Uint8Array,
      source: Source,
      options: ReadOptions,
      earlier: readonly EarlierRecords[],
    ) => Conversation;
    /** Absent where the agent records no usage. */
    readonly requests?: () => RequestCollector;
  };
  readonly document?: {
    /** The document in the form that {@link read} takes; undefined for one of another format. */
    readonly of: (value: unknown) => Fields | undefined;
    /**
     * @param input the text that the document was parsed from
     * @throws {ConversationReadError}
     */
    readonly read: (value: Fields, source: Source, options: ReadOptions, input: string | Uint8Array) => Conversation;
  };
}
