/** The server's only view of the engine behind it: so each can be tested and replaced alone. */
import type { IncomingHttpHeaders } from 'node:http';
import type { Overflow } from '../api/tooLong';
import type { Usage } from '../core/cost/usage';
import type { ReadBody } from './bodies';
import type { KnownRequest } from './wires';

/** A request of an agent, read. */
export interface AgentCall {
  /** Which upstream it goes to. */
  readonly route: string;
  /** The vendor's address for it, with its query. */
  readonly address: URL;
  readonly known: KnownRequest;
  readonly headers: IncomingHttpHeaders;
  readonly read: ReadBody;
}

/** The body to send in a call's place. */
export interface PreparedCall {
  /** The body; undefined: as it came. */
  readonly bytes: Buffer | undefined;
  /**
   * A shorter one, for one that the vendor refused as too long.
   * @param overflow what the vendor said of the length
   * @returns undefined where there is none
   */
  shortened(overflow: Overflow): Promise<PreparedCall | undefined>;
  /** One without what the model thought earlier, which the vendor does not take back; undefined where there is nothing to leave out. */
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

/** What came, for which nothing else can be sent, and whose answer nobody waits for. */
export const AS_IT_CAME: PreparedCall = {
  bytes: undefined,
  shortened: () => Promise.resolve(undefined),
  withoutThinking: () => undefined,
  asItCame: () => AS_IT_CAME,
  answered: () => undefined,
  end: () => undefined,
};

/** A call that is not to be sent; its message is the agent's answer, in words for a person. */
export class StoppedCall extends Error {}

/** Condenses calls. */
export interface Condenser {
  /**
   * @returns undefined for a call that is not the engine's: it passes as it came.
   * @throws StoppedCall. The signal's reason where the agent went away. What else is thrown is told, and the call passes as it came.
   */
  prepare(call: AgentCall, signal: AbortSignal): Promise<PreparedCall | undefined>;
}
