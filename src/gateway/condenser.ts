/**
 * Interface between the server and the condensing engine, so that each can be tested and replaced
 * alone.
 */
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

/** What to send instead of the call. */
export interface PreparedCall {
  /** Undefined means the original body. */
  readonly bytes: Buffer | undefined;
  /**
   * A shorter version, if the vendor rejected this one as too long.
   * @param overflow what the vendor said about the length
   * @returns undefined if there is none
   */
  shortened(overflow: OverflowTokens): Promise<PreparedCall | undefined>;
  /**
   * A version without earlier thinking, for vendors that reject it; undefined if there is none to
   * remove.
   */
  withoutThinking(): PreparedCall | undefined;
  /**
   * The original, if the vendor rejected this version as invalid.
   * @param words the vendor's message
   */
  asItCame(words: string): PreparedCall;
  /** The vendor's answer has ended. @param usage undefined if it reported none */
  answered(usage: Usage | undefined): void;
  /**
   * The call is over, whatever its outcome. Called once, on the first version.
   * @param isPaid true if the vendor accepted the call, or may have
   */
  end(isPaid: boolean): void;
}

/** Sends the original body without alternatives or bookkeeping. */
export const UNCHANGED_CALL: PreparedCall = {
  bytes: undefined,
  shortened: () => Promise.resolve(undefined),
  withoutThinking: () => undefined,
  asItCame: () => UNCHANGED_CALL,
  answered: () => undefined,
  end: () => undefined,
};

/** Thrown if the call must not be sent; the message is shown by the agent. */
export class StoppedCall extends Error {}

export interface Condenser {
  /**
   * @returns undefined for a call that is not condensed and is forwarded unchanged.
   * @throws StoppedCall, or the signal's reason if the agent disconnected. Other errors are
   * reported and the call is forwarded unchanged.
   */
  prepare(call: AgentCall, signal: AbortSignal): Promise<PreparedCall | undefined>;
}
