/** AWS's binary event stream, in which Bedrock wraps the events (Smithy specification, "Amazon Event Stream"). */
import { crc32 } from 'node:zlib';

/** One frame; `exception` in place of a chunk for an error. */
export function eventStreamFrame(event: unknown, exception?: string): Buffer {
  const payload = exception === undefined ? { bytes: Buffer.from(JSON.stringify(event)).toString('base64') } : event;
  const headers = Buffer.concat(
    Object.entries(
      exception === undefined
        ? { ':event-type': 'chunk', ':content-type': 'application/json', ':message-type': 'event' }
        : { ':exception-type': exception, ':content-type': 'application/json', ':message-type': 'exception' },
    ).map(([name, value]) => {
      const lengths = Buffer.alloc(2);
      lengths.writeUInt16BE(value.length);
      // 7: the value is a string.
      return Buffer.concat([
        Buffer.from([name.length]),
        Buffer.from(name),
        Buffer.from([7]),
        lengths,
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
