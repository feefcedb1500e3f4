/**
 * Encodes AWS's binary event stream, which Bedrock uses (Smithy specification, "Amazon Event
 * Stream").
 */
import { crc32 } from 'node:zlib';

export const eventFrame = (type: string, payload: unknown): Buffer =>
  makeFrame({ ':event-type': type, ':content-type': 'application/json', ':message-type': 'event' }, payload);

export const exceptionFrame = (type: string, message: string): Buffer =>
  makeFrame(
    { ':exception-type': type, ':content-type': 'application/json', ':message-type': 'exception' },
    { message },
  );

/** Wraps an event of a model's own API, as InvokeModelWithResponseStream does. */
export const chunkFrame = (event: unknown): Buffer =>
  eventFrame('chunk', { bytes: Buffer.from(JSON.stringify(event)).toString('base64') });

function makeFrame(names: Readonly<Record<string, string>>, payload: unknown): Buffer {
  const headers = Buffer.concat(
    Object.entries(names).map(([name, value]) => {
      const lengthFields = Buffer.alloc(2);
      lengthFields.writeUInt16BE(value.length);
      // The type 7 is a string.
      return Buffer.concat([
        Buffer.from([name.length]),
        Buffer.from(name),
        Buffer.from([7]),
        lengthFields,
        Buffer.from(value),
      ]);
    }),
  );
  const body = Buffer.from(JSON.stringify(payload));
  const prelude = Buffer.alloc(12);
  prelude.writeUInt32BE(12 + headers.length + body.length + 4, 0);
  prelude.writeUInt32BE(headers.length, 4);
  prelude.writeUInt32BE(crc32(prelude.subarray(0, 8)), 8);
  const message = Buffer.concat([prelude, headers, body]);
  const check = Buffer.alloc(4);
  check.writeUInt32BE(crc32(message));
  return Buffer.concat([message, check]);
}
