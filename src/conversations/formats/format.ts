import type { Conversation, ReadOptions, InputSource } from '../types';
import type { Fields } from '../text/values';
import type { RecordedRequests } from '../../core/account/recordedRequest';

export interface RequestCollector {
  takeRecord(value: Fields): void;
  getResult(): RecordedRequests | undefined;
  readonly compactions: number;
}

/**
 * Records in another file that come before the conversation's own, or the name of that file if it
 * is missing.
 */
export type EarlierRecords =
  | {
      readonly file: string;
      readonly bytes: Uint8Array;
      /** Ordinal of the first record that is not included. */
      readonly end: number;
    }
  | { readonly missing: string };

export interface ConversationReader {
  readonly lines?: {
    /** True if the record can only belong to this format. */
    readonly isRecord: (value: Fields) => boolean;
    /** @throws {ConversationReadError} */
    readonly read: (
      input: string | Uint8Array,
      source: InputSource,
      options: ReadOptions,
      earlier: readonly EarlierRecords[],
    ) => Conversation;
    readonly requests?: () => RequestCollector;
  };
  readonly document?: {
    /**
     * Returns the document in the form that {@link read} accepts, or undefined if it has another
     * format.
     */
    readonly normalize: (value: unknown) => Fields | undefined;
    /**
     * @param input the document's text
     * @throws {ConversationReadError}
     */
    readonly read: (
      value: Fields,
      source: InputSource,
      options: ReadOptions,
      input: string | Uint8Array,
    ) => Conversation;
  };
}
