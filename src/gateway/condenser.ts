import type { IncomingHttpHeaders } from 'node:http';
import type { OverflowReport } from '../api/tooLong';
import type { Usage } from '../core/cost/usage';
import type { ParsedBody } from './bodies';
import type { RecognizedRequest } from './wires';

export interface AgentHttpCall {
  readonly route: string;
  readonly address: URL;
  readonly recognized: RecognizedRequest;
  readonly headers: IncomingHttpHeaders;
  readonly read: ParsedBody;
}

export interface PreparedHttpCall {
  /** Bytes of the changed body; undefined if the original body is sent. */
  readonly bytes: Buffer | undefined;
  /**
   * Makes a shorter version of a call that the vendor rejected as too long; undefined if there is
   * none.
   */
  shorten(overflow: OverflowReport): Promise<PreparedHttpCall | undefined>;
  /**
   * Makes a version without earlier thinking, for vendors that reject it; undefined if there is
   * none.
   */
  dropThinking(): PreparedHttpCall | undefined;
  /**
   * Returns the original call, for vendors that rejected this version as invalid.
   * @param words the vendor's message
   */
  revertToOriginal(words: string): PreparedHttpCall;
  recordAnswer(usage: Usage | undefined): void;
  /**
   * Settles the booked cost. Called once, on the version that was prepared first.
   * @param isPaid true if the vendor accepted the call, or may have
   */
  end(isPaid: boolean): void;
}

export const UNCHANGED_HTTP_CALL: PreparedHttpCall = {
  bytes: undefined,
  shorten: () => Promise.resolve(undefined),
  dropThinking: () => undefined,
  revertToOriginal: () => UNCHANGED_HTTP_CALL,
  recordAnswer: () => undefined,
  end: () => undefined,
};

/** Thrown if the call must not be sent; the agent shows the message. */
export class StoppedCallError extends Error {}

export interface GatewayCondenser {
  /**
   * @returns undefined to forward the call unchanged
   * @throws StoppedCallError, or the signal's reason if the agent disconnected. After any other
   *   error the call is forwarded unchanged.
   */
  prepare(call: AgentHttpCall, signal: AbortSignal): Promise<PreparedHttpCall | undefined>;
}
