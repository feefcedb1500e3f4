import * as http from 'node:http';
import type { AddressInfo } from 'node:net';
import * as zlib from 'node:zlib';
import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { inTemporaryFolder } from '../../test/support/inTemporaryFolder';
import { createCounter } from '../core/testingCounter';
import { createTestBed } from '../live/testing';
import { LiveCondenser } from './liveCondenser';
import { startGateway, type Gateway, type GatewayEvent } from './server';
import { decompressRequest, createZstdCoding } from './unpacking';
import { makeRequestBody, PATH_BY_WIRE, WIRE_NAMES } from './wires/testing';
import type { WireName } from './wires/wire';

const CODINGS = {
  gzip: [zlib.gzipSync, zlib.gunzipSync],
  'X-Gzip': [zlib.gzipSync, zlib.gunzipSync],
  deflate: [zlib.deflateSync, zlib.inflateSync],
  br: [zlib.brotliCompressSync, zlib.brotliDecompressSync],
  zstd: [zlib.zstdCompressSync, zlib.zstdDecompressSync],
} as const satisfies Record<string, readonly [(bytes: Buffer) => Buffer, (bytes: Buffer) => Buffer]>;
type Coding = keyof typeof CODINGS;
const NAMES = Object.keys(CODINGS) as Coding[];

interface Seen {
  readonly encoding: string | undefined;
  readonly length: string | undefined;
  readonly bytes: Buffer;
}

const seen: Seen[] = [];
/** Chooses the vendor's status, which is 200 by default. */
let chooseStatus: (one: Seen) => number = () => 200;
let vendor: http.Server;

beforeAll(async () => {
  vendor = http.createServer((request, response) => {
    void request.toArray().then((chunks) => {
      const { 'content-encoding': encoding, 'content-length': length } = request.headers;
      const one = { encoding, length, bytes: Buffer.concat(chunks as Buffer[]) };
      seen.push(one);
      const status = chooseStatus(one);
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(status === 200 ? '{"ok":true}' : '{"error":{"message":"messages.1: nonsense"}}');
    });
  });
  await new Promise<void>((resolve) => vendor.listen(0, '127.0.0.1', resolve));
});
afterAll(() => {
  vendor.closeAllConnections();
  vendor.close();
});
beforeEach(() => {
  seen.length = 0;
  chooseStatus = () => 200;
});

/** Runs a test on a gateway with a low threshold. */
const withGateway = (
  run: (gateway: Gateway, events: GatewayEvent[]) => Promise<void>,
  bodyBytes = 64 * 1024 * 1024,
): Promise<void> =>
  inTemporaryFolder(async (root) => {
    const condenser = new LiveCondenser({
      live: createTestBed(root, { settings: { provider: 'truncation' } }).live,
      counter: createCounter(),
      addresses: new Map(),
      window: 20_000,
    });
    const { port } = vendor.address() as AddressInfo;
    const events: GatewayEvent[] = [];
    const gateway = await startGateway({
      routes: new Map([['a', new URL(`http://127.0.0.1:${port}`)]]),
      condenser,
      limits: { bodyBytes },
      report: (event) => events.push(event),
    });
    try {
      await run(gateway, events);
    } finally {
      await gateway.close();
    }
  });

const post = async (gateway: Gateway, wire: WireName, body: Buffer, encoding?: string): Promise<number> => {
  const response = await fetch(`${gateway.url('a')}${PATH_BY_WIRE[wire]}`, {
    method: 'POST',
    body: new Uint8Array(body),
    headers: { 'content-type': 'application/json', ...(encoding !== undefined && { 'content-encoding': encoding }) },
  });
  await response.arrayBuffer();
  return response.status;
};

const sentPlain = async (wire: WireName, body: Buffer): Promise<Buffer> => {
  await withGateway(async (gateway) => {
    await post(gateway, wire, body);
  });
  return seen.pop()!.bytes;
};

describe('a compressed request through the gateway', () => {
  it.each(WIRE_NAMES.flatMap((wire) => NAMES.map((coding) => [wire, coding] as const)))(
    'in the format %s with %s reaches the vendor condensed and compressed the same way',
    async (wire, coding) => {
      const [pack, unpack] = CODINGS[coding];
      const body = Buffer.from(makeRequestBody(wire, 40));
      const plain = await sentPlain(wire, body);
      expect(plain.length).toBeLessThan(body.length / 2);
      await withGateway(async (gateway, events) => {
        expect(await post(gateway, wire, pack(body), coding)).toBe(200);
        expect(events.map(({ kind }) => kind)).toEqual(['condensed']);
      });
      const [one] = seen;
      expect(one).toMatchObject({ encoding: coding, length: String(one!.bytes.length) });
      expect(unpack(one!.bytes).equals(plain)).toBe(true);
    },
  );

  it('is forwarded unchanged if nothing is condensed', async () => {
    await withGateway(async (gateway) => {
      for (const wire of WIRE_NAMES) {
        for (const coding of NAMES) {
          const bytes = CODINGS[coding][0](Buffer.from(makeRequestBody(wire, 2)));
          await post(gateway, wire, bytes, coding);
          expect(seen.at(-1)!.bytes.equals(bytes)).toBe(true);
        }
      }
    });
  });

  it('is forwarded unchanged if its condensed form is rejected', async () => {
    await withGateway(async (gateway) => {
      const bytes = zlib.zstdCompressSync(makeRequestBody('anthropic', 40));
      chooseStatus = (one) => (one.bytes.equals(bytes) ? 200 : 400);
      expect(await post(gateway, 'anthropic', bytes, 'zstd')).toBe(200);
      expect(seen.length).toBeGreaterThan(1);
      expect(seen.at(-1)!.bytes.equals(bytes)).toBe(true);
    });
  });

  it.each([
    ['cut off', 'gzip', zlib.gzipSync(makeRequestBody('anthropic', 40)).subarray(0, -1)],
    ['not packed at all', 'br', Buffer.from(makeRequestBody('anthropic', 40))],
    ['packed otherwise than it says', 'zstd', zlib.gzipSync(makeRequestBody('anthropic', 40))],
    ['with something behind its end', 'deflate', Buffer.concat([zlib.deflateSync('{}'), Buffer.from('more')])],
    ['empty', 'gzip', Buffer.alloc(0)],
    ['packed twice', 'gzip, br', zlib.brotliCompressSync(zlib.gzipSync(makeRequestBody('anthropic', 40)))],
    ['packed in a way that nobody knows', 'rot13', Buffer.from('{"zrffntrf":[]}')],
  ])('that is %s is forwarded unchanged, which is reported once', async (_, encoding, bytes) => {
    await withGateway(async (gateway, events) => {
      for (let time = 0; time < 2; time++) expect(await post(gateway, 'anthropic', bytes, encoding)).toBe(200);
      expect(seen.map((one) => [one.encoding, one.bytes.equals(bytes)])).toEqual([
        [encoding, true],
        [encoding, true],
      ]);
      const problems = events.filter(({ kind }) => kind === 'problem').map(({ detail }) => detail);
      expect(problems).toEqual([expect.stringMatching(/^A packed request passed as it came: it/)]);
      expect(problems[0]).not.toContain('rot13');
    });
  });

  it.each(NAMES)('with %s that unpacks to a thousand times its length is forwarded unchanged', async (coding) => {
    const bomb = CODINGS[coding][0](Buffer.alloc(4 * 1024 * 1024));
    await withGateway(async (gateway, events) => {
      await post(gateway, 'anthropic', bomb, coding);
      expect(seen[0]!.bytes.equals(bomb)).toBe(true);
      expect(events[0]?.detail).toContain('is longer than 1048576 bytes');
    }, 1024 * 1024);
  });
});

it('a compressed request of any bytes is unpacked correctly or not at all, and compressed again the same way', async () => {
  const coding = fc.constantFrom(...NAMES);
  await fc.assert(
    fc.asyncProperty(
      fc.uint8Array({ maxLength: 4_000 }),
      coding,
      coding,
      fc.nat(4_000),
      async (array, made, said, cut) => {
        const bytes = Buffer.from(array);
        const packed = CODINGS[made][0](bytes);
        const isWhole = cut >= packed.length;
        const read = await decompressRequest(packed.subarray(0, cut), said, 10_000);
        const isTrue = isWhole && CODINGS[made][0] === CODINGS[said][0];
        expect('unread' in read).toBe(!isTrue);
        if ('unread' in read) return;
        expect(read.bytes.equals(bytes)).toBe(true);
        expect(CODINGS[said][1](await read.pack(bytes)).equals(bytes)).toBe(true);
      },
    ),
  );
});

it('on a Node.js without zstd, a request compressed with zstd is forwarded, with a message that says what it needs', async () => {
  const packed = zlib.zstdCompressSync('{}');
  for (const missing of [
    {},
    { zstdCompress: zlib.zstdCompress },
    { createZstdDecompress: zlib.createZstdDecompress },
  ]) {
    expect(await decompressRequest(packed, 'zstd', 100, new Map([['zstd', createZstdCoding(missing)]]))).toEqual({
      unread: 'this Node.js has no zstd; it needs 22.15 or later',
    });
  }
});
