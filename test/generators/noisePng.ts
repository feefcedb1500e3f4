/** Generates incompressible pictures of a screenshot's size. */
import { crc32, deflateSync } from 'node:zlib';
import { Random } from './random';

/**
 * Creates a PNG of this size in bytes, to within a thousandth: gray noise, with white below.
 * @param bytes at most one byte per pixel.
 */
export function noisePng(width: number, height: number, bytes: number, seed: number): Buffer {
  const random = new Random(seed);
  const rowBytes = width + 1;
  const pixels = Buffer.alloc(rowBytes * height, 0xff);
  for (let at = 0; at + 4 <= bytes; at += 4) pixels.writeUInt32LE(random.int(2 ** 32), at);
  // The first byte of a row selects its filter; 0 is none.
  for (let at = 0; at < pixels.length; at += rowBytes) pixels[at] = 0;
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  // The picture has eight bits per pixel and is grayscale.
  header[8] = 8;
  return Buffer.concat([
    Buffer.from('89504e470d0a1a0a', 'hex'),
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(pixels, { level: 1 })),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function chunk(type: string, data: Buffer): Buffer {
  const typeAndData = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  check.writeUInt32BE(crc32(typeAndData));
  return Buffer.concat([length, typeAndData, check]);
}
