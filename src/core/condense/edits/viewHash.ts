import { hashText, type Hash } from '../../hash';
import type { ApiMessage } from '../../messages/types';

/** Hash of messages as JSON: a view that was written to a file is recognized by it. */
export const viewHash = (messages: readonly ApiMessage[]): Hash => hashText(JSON.stringify(messages));
