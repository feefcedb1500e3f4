/**
 * Interface between the server and the condensing engine, so that each can be tested and replaced
 * alone.
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { Overflow } from '../api/tooLong';
import type { Usage } from '../core/cost/usage';
import type { ReadBody } from './bodies';
import type { KnownRequest } from './wires';

export interface AgentCall {
  readonly route: string;
  /** The vendor's URL including the query. */
  readonly address: URL;
  readonly known: KnownRequest;
  readonly headers: IncomingHttpHeaders;
  readonly read: ReadBody;
}

/** What to send instead of the call. */
export interface PreparedCall {
  /** Undefined means the original body. */
  readonly bytes: Buffer | undefined;
  /**
   * A shorter one, for one that the vendor refused as too long.
   * @param overflow what the vendor said of the length
   * @returns undefined where there is none
   */
  shortened(overflow: Overflow): Promise<PreparedCall | undefined>;
  /**
   * A version without earlier thinking, for vendors that reject it; undefined if there is none to
   * remove.
   */
  withoutThinking(): PreparedCall | undefined;
  /**
   * What came, in place of a body that the vendor calls invalid.
   * @param words what the vendor said
   */
  asItCame(words: string): PreparedCall;
  /** The vendor answered, to the end. @param usage what it reported; undefined where it reported nothing. */
  answered(usage: Usage | undefined): void;
  /**
   * Nothing more is to come, whatever came of the call; told of what was prepared first, once.
   * @param isPaid whether the vendor took the call.
   */
  end(isPaid: boolean): void;
}

/** Sends the original body without alternatives or bookkeeping. */
export const AS_IT_CAME: PreparedCall = {
  bytes: undefined,
  shortened: () => Promise.resolve(undefined),
  withoutThinking: () => undefined,
  asItCame: () => AS_IT_CAME,
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
