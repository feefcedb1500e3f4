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
      // Only when what was written is on its way.
      response.write('', () => {
        hangUp();
      });
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
