import type { Fault } from './behaviour';
import type { Exchange } from './modelServer';

/**
 * An event that is sent. If `isPiece` is true, it is part of the answer, and a fault may occur
 * before it.
 */
export interface WireEvent {
  readonly data: string | Buffer;
  readonly isPiece?: boolean;
}

export interface Framing {
  readonly contentType: string;
  readonly malformed: string | Buffer;
  readonly error: (fault: Fault) => string | Buffer;
}

/**
 * Milliseconds before a reset, so that the client reads the sent data first. Otherwise some clients
 * treat a reset with the last bytes as a normal end, and others lose the bytes.
 */
const CUT_AFTER_MS = 50;

/** Sends the events, and the fault if there is one. */
export function sendStream(exchange: Exchange, events: Iterable<WireEvent>, framing: Framing, fault?: Fault): void {
  const { record, response } = exchange;
  record.status = 200;
  response.writeHead(200, { 'content-type': framing.contentType, 'request-id': `req_${record.index}` });
  response.flushHeaders();
  let sentPieces = 0;
  for (const { data, isPiece = false } of events) {
    if (fault && isPiece && sentPieces === fault.after) {
      injectFault(exchange, fault, framing);
      return;
    }
    if (isPiece) sentPieces++;
    response.write(data);
  }
  response.end();
}

function injectFault({ response, hangUp }: Exchange, fault: Fault, framing: Framing): void {
  switch (fault.kind) {
    case 'stall':
      return;
    case 'cut':
      response.write('', () => setTimeout(hangUp, CUT_AFTER_MS));
      return;
    case 'no-end':
      response.end();
      return;
    case 'malformed':
      response.end(framing.malformed);
      return;
    case 'error':
      response.end(framing.error(fault));
  }
}
