import type { ToolTable } from '../../../messages/tools';
import type { ConversationContext, ModelCall } from '../../types';
import type { CallParts } from './callParts';
import type { SmartConfig } from './config';

/** What a pass works with, beside the draft. */
export interface PassParts {
  readonly context: ConversationContext;
  readonly config: SmartConfig;
  readonly tools: ToolTable;
  readonly calls: CallParts;
  /** o200k tokens of the messages at which a pass stops. */
  readonly targetTokens: number | undefined;
  /** Told what a pass is doing, in words. */
  readonly onProgress: (doing: string) => void;
  /** Told after each call, whatever came of it. */
  readonly onCall: (call: ModelCall) => void;
  /** Told what a person should know of a pass. */
  readonly onNote: (note: string) => void;
}
