import { describe, expect, it } from 'vitest';
import { countImageTokens, MAX_IMAGE_TOKENS, countPdfTokens } from './mediaTokens';

const source = (...bytes: (Buffer | string | number[])[]): unknown => ({
  type: 'base64',
  data: Buffer.concat(
    bytes.map((part) => (typeof part === 'string' ? Buffer.from(part, 'latin1') : Buffer.from(part))),
  ).toString('base64'),
});
const be16 = (value: number): number[] => [value >> 8, value & 0xff];
const be32 = (value: number): number[] => [...be16(value >>> 16), ...be16(value & 0xffff)];
const le16 = (value: number): number[] => be16(value).toReversed();
const le24 = (value: number): number[] => [value & 0xff, (value >> 8) & 0xff, value >> 16];

const png = (width: number, height: number): unknown =>
  source([0x89], 'PNG\r\n\x1a\n', be32(13), 'IHDR', be32(width), be32(height), [8, 6]);
const gif = (width: number, height: number): unknown => source('GIF89a', le16(width), le16(height));
const webp = (kind: string, body: number[]): unknown =>
  source('RIFF', be32(0), 'WEBP', kind, be32(0), body, new Array<number>(10).fill(0));
const frame = (marker: number, width: number, height: number): number[] => [
  0xff,
  marker,
  ...be16(17),
  8,
  ...be16(height),
  ...be16(width),
  3,
  0,
  0,
];
const segment = (marker: number, size: number): number[] => [
  0xff,
  marker,
  ...be16(size),
  ...new Array<number>(size - 2).fill(0xaa),
];
const jpeg = (...parts: number[][]): unknown => source([0xff, 0xd8], ...parts);

/** An image of 750 × 400 pixels has 400 tokens. */
const [W, H, TOKENS] = [750, 400, 400];

describe('the token count of an image', () => {
  it.each<[string, unknown]>([
    ['PNG', png(W, H)],
    ['GIF', gif(W, H)],
    ['WebP, lossy', webp('VP8 ', [0, 0, 0, 0x9d, 1, 0x2a, ...le16(W), ...le16(H)])],
    ['WebP, lossless', webp('VP8L', [0x2f, ...le24((W - 1) | (((H - 1) & 0x3ff) << 14)), (H - 1) >> 10])],
    ['WebP, extended', webp('VP8X', [0, 0, 0, 0, ...le24(W - 1), ...le24(H - 1)])],
    ['JPEG', jpeg(frame(0xc0, W, H))],
    [
      'JPEG, progressive, behind metadata and a table',
      jpeg(segment(0xe1, 5_000), segment(0xc4, 30), frame(0xc2, W, H)),
    ],
    ['JPEG with fill bytes', jpeg(segment(0xe0, 16), [0xff, 0xff, 0xff], frame(0xc0, W, H))],
  ])('uses the dimensions of a %s', (_, image) => {
    expect(countImageTokens(image)).toBe(TOKENS);
  });

  it('is scaled down as the API does, with a minimum of one token', () => {
    expect(countImageTokens(png(1568 * 2, 100 * 2))).toBe(countImageTokens(png(1568, 100)));
    expect(countImageTokens(png(10_000, 10_000))).toBe(MAX_IMAGE_TOKENS);
    expect(countImageTokens(png(1, 1))).toBe(1);
  });

  it.each<[string, unknown]>([
    ['a URL', { type: 'url', url: 'https://example.com/a.png' }],
    ['no source', undefined],
    ['no image', source('this is a text and no image at all')],
    ['an empty one', source('')],
    ['a PNG of no width', png(0, 10)],
    ['a JPEG cut off', jpeg(segment(0xe0, 16))],
    ['a JPEG with a broken length', jpeg([0xff, 0xe0, 0, 0], new Array<number>(20).fill(0))],
    ['a WebP cut off', source('RIFF0000WEBPVP8 ')],
  ])('is the largest possible for %s', (_, image) => {
    expect(countImageTokens(image)).toBe(MAX_IMAGE_TOKENS);
  });
});

describe('the token count of a PDF', () => {
  const pdf = (text: string): string => Buffer.from(text, 'latin1').toString('base64');
  it('is that of its visible pages, at least one', () => {
    expect(countPdfTokens(pdf('/Type /Pages /Type /Page\n/Type/Page>>'))).toBe(2 * 2250);
    expect(countPdfTokens(pdf('%PDF packed'))).toBe(2250);
  });
});
