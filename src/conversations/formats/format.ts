import type { Conversation, ReadOptions, Source } from '../types';
import type { Fields } from '../text/values';
import type { RecordedRequests } from '../../core/account/recordedRequest';

/** Collects requests from a file's records, one record at a time, without keeping the records. */
export interface RequestCollector {
  takeRecord(value: Fields): void;
  /** Undefined if no record has usage. */
  getResult(): RecordedRequests | undefined;
  /** Number of compactions so far. */
  readonly compactions: number;
}

/**
 * Records of another file that precede a conversation's own, or the name of that file if it is
 * missing.
 */
export type EarlierRecords =
  | {
      readonly file: string;
      readonly bytes: Uint8Array;
      /** Ordinal of the first record that is not included. */
      readonly end: number;
    }
  | { readonly missing: string };

/** How to recognize and read a format: as JSON lines, one JSON document, or either. */
export interface ConversationReader {
  readonly lines?: {
    /** True if no other format has records of this form. */
    readonly isRecord: (value: Fields) => boolean;
    /** @throws {ConversationReadError} */
    readonly read: (
      input: string | Uint8Array,
      source: Source,
      options: ReadOptions,
      earlier: readonly EarlierRecords[],
    ) => Conversation;
    /** Absent if the agent records no usage. */
    readonly requests?: () => RequestCollector;
  };
  readonly document?: {
    /** Returns the document in the form that {@link read} accepts; undefined for another format. */
    readonly of: (value: unknown) => Fields | undefined;
    /**
     * @param input the text that the document was parsed from
     * @throws {ConversationReadError}
     */
    readonly read: (value: Fields, source: Source, options: ReadOptions, input: string | Uint8Array) => Conversation;
  };
}
