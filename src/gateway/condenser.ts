import type { IncomingHttpHeaders } from 'node:http';
import type { OverflowTokens } from '../api/tooLong';
import type { Usage } from '../core/cost/usage';
import type { ParsedBody } from './bodies';
import type { RecognizedRequest } from './wires';

export interface AgentCall {
  readonly route: string;
  readonly address: URL;
  readonly known: RecognizedRequest;
  readonly headers: IncomingHttpHeaders;
  readonly read: ParsedBody;
}

export interface PreparedCall {
  /** Undefined means the original body. */
  readonly bytes: Buffer | undefined;
  /**
   * @param overflow what the vendor said about the length
   * @returns undefined if there is no shorter version
   */
  shortened(overflow: OverflowTokens): Promise<PreparedCall | undefined>;
  /** For vendors that reject earlier thinking; undefined if there is none. */
  withoutThinking(): PreparedCall | undefined;
  /**
   * Returns the original call, for vendors that rejected this version as invalid.
   * @param words the vendor's message
   */
  asItCame(words: string): PreparedCall;
  answered(usage: Usage | undefined): void;
  /**
   * Settles the booked cost, whatever the outcome. Called once and only on the call that was
   * prepared first, not on its other versions.
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
   * @returns undefined for a call to forward unchanged
   * @throws StoppedCall, or the signal's reason if the agent disconnected. After any other error
   * the call is forwarded unchanged.
   */
  prepare(call: AgentCall, signal: AbortSignal): Promise<PreparedCall | undefined>;
}
