import type { Fault } from './behaviour';
import type { Exchange } from './modelServer';

/** One event of a stream as the wire has it; `isPiece`: a piece of the answer, after which a fault may come. */
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
 * As over a network, where what was sent is read before the loss shows: a reset that comes together with the last bytes is to one client the
 * connection's end, and takes those bytes from another. In milliseconds.
 */
const CUT_AFTER_MS = 50;

/** Writes the events, and the fault in their middle. */
export function sendStream(exchange: Exchange, events: Iterable<WireEvent>, framing: Framing, fault?: Fault): void {
  const { record, response } = exchange;
  record.status = 200;
  response.writeHead(200, { 'content-type': framing.contentType, 'request-id': `req_${record.index}` });
  response.flushHeaders();
  let pieces = 0;
  for (const { data, isPiece = false } of events) {
    if (fault && isPiece && pieces === fault.after) {
      fail(exchange, fault, framing);
      return;
    }
    if (isPiece) pieces++;
    response.write(data);
  }
  response.end();
}

function fail({ response, hangUp }: Exchange, fault: Fault, framing: Framing): void {
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
