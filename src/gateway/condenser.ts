import type { IncomingHttpHeaders } from 'node:http';
import type { OverflowTokens } from '../api/tooLong';
import type { Usage } from '../core/cost/usage';
import type { ParsedBody } from './bodies';
import type { RecognizedRequest } from './wires';

export interface AgentCall {
  readonly route: string;
  /** The vendor's URL including the query. */
  readonly address: URL;
  readonly known: RecognizedRequest;
  readonly headers: IncomingHttpHeaders;
  readonly read: ParsedBody;
}

export interface PreparedCall {
  /** Undefined means the original body. */
  readonly bytes: Buffer | undefined;
  /**
   * Makes a shorter version, if the vendor rejected this one as too long.
   * @param overflow what the vendor said about the length
   * @returns undefined if there is none
   */
  shortened(overflow: OverflowTokens): Promise<PreparedCall | undefined>;
  /**
   * Makes a version without earlier thinking, for vendors that reject it; undefined if there is
   * none.
   */
  withoutThinking(): PreparedCall | undefined;
  /**
   * Returns the original, if the vendor rejected this version as invalid.
   * @param words the vendor's message
   */
  asItCame(words: string): PreparedCall;
  /** Called when the vendor's answer has ended. @param usage undefined if not reported */
  answered(usage: Usage | undefined): void;
  /**
   * Called once, on the first version, whatever its outcome.
   * @param isPaid true if the vendor accepted the call, or may have
   */
  end(isPaid: boolean): void;
}

export const UNCHANGED_CALL: PreparedCall = {
  bytes: undefined,
  shortened: () => Promise.resolve(undefined),
  withoutThinking: () => undefined,
  asItCame: () => UNCHANGED_CALL,
  answered: () => undefined,
  end: () => undefined,
};

/** Thrown if the call must not be sent; the agent shows the message. */
export class StoppedCall extends Error {}

export interface Condenser {
  /**
   * @returns undefined for a call that is not condensed and is forwarded unchanged
   * @throws StoppedCall, or the signal's reason if the agent disconnected. Other errors are
   * reported and the call is forwarded unchanged.
   */
  prepare(call: AgentCall, signal: AbortSignal): Promise<PreparedCall | undefined>;
}
