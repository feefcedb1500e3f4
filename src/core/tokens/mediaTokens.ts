import { isRecord } from '../messages/blocks';

/** Anthropic scales larger images to about this size (API guide, "Vision"). */
export const MAX_IMAGE_TOKENS = 1600;
const PIXELS_PER_TOKEN = 750;
const MAX_EDGE_PIXELS = 1568;

/**
 * Anthropic's rule: width × height / 750 after scaling. An image of unknown size counts as the
 * largest.
 */
export function countImageTokens(source: unknown): number {
  const size = getImageSize(source);
  if (!size) return MAX_IMAGE_TOKENS;
  const scale = Math.min(1, MAX_EDGE_PIXELS / Math.max(size.width, size.height));
  const tokens = Math.ceil((size.width * scale * (size.height * scale)) / PIXELS_PER_TOKEN);
  return Math.min(MAX_IMAGE_TOKENS, Math.max(1, tokens));
}

/** In pixels; undefined if referenced by URL. */
export const getImageSize = (source: unknown): ImageSize | undefined =>
  isRecord(source) && typeof source['data'] === 'string' ? readImageSize(source['data']) : undefined;

export interface ImageSize {
  readonly width: number;
  readonly height: number;
}

/** Characters of base64 to read, because metadata precedes a JPEG's frame header. */
const MAX_HEADER_CHARS = 64 * 1024 * 4;

function readImageSize(base64: string): ImageSize | undefined {
  const bytes = Buffer.from(base64.slice(0, MAX_HEADER_CHARS), 'base64');
  const size = readPngSize(bytes) ?? readGifSize(bytes) ?? readWebpSize(bytes) ?? readJpegSize(bytes);
  return size && size.width > 0 && size.height > 0 ? size : undefined;
}

const readPngSize = (bytes: Buffer): ImageSize | undefined =>
  bytes.length >= 24 && bytes.readUInt32BE(0) === 0x89504e47
    ? { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) }
    : undefined;

const readGifSize = (bytes: Buffer): ImageSize | undefined =>
  bytes.length >= 10 && bytes.toString('latin1', 0, 3) === 'GIF'
    ? { width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) }
    : undefined;

function readWebpSize(bytes: Buffer): ImageSize | undefined {
  if (bytes.length < 30 || bytes.toString('latin1', 8, 12) !== 'WEBP') return undefined;
  switch (bytes.toString('latin1', 12, 16)) {
    case 'VP8X':
      return { width: 1 + bytes.readUIntLE(24, 3), height: 1 + bytes.readUIntLE(27, 3) };
    case 'VP8L': {
      const bits = bytes.readUInt32LE(21);
      return { width: 1 + (bits & 0x3fff), height: 1 + ((bits >> 14) & 0x3fff) };
    }
    default:
      return { width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff };
  }
}

function readJpegSize(bytes: Buffer): ImageSize | undefined {
  if (bytes.length < 4 || bytes.readUInt16BE(0) !== 0xffd8) return undefined;
  let offset = 2;
  while (offset + 9 <= bytes.length && bytes[offset] === 0xff) {
    const segmentType = bytes[offset + 1] ?? 0;
    if (segmentType === 0xff) {
      offset += 1;
      continue;
    }
    const isFrame =
      segmentType >= 0xc0 &&
      segmentType <= 0xcf &&
      segmentType !== 0xc4 &&
      segmentType !== 0xc8 &&
      segmentType !== 0xcc;
    if (isFrame) return { width: bytes.readUInt16BE(offset + 7), height: bytes.readUInt16BE(offset + 5) };
    offset += 2 + bytes.readUInt16BE(offset + 2);
  }
  return undefined;
}

/** Middle of the 1,500 to 3,000 tokens per page (Anthropic's guide, "PDF support"). */
const TOKENS_PER_PDF_PAGE = 2250;

/** Counts the pages that need no decompression, at least one. */
export function countPdfTokens(base64: string): number {
  const pageMatches = Buffer.from(base64, 'base64')
    .toString('latin1')
    .match(/\/Type\s*\/Page(?![a-zA-Z])/g);
  return Math.max(1, pageMatches?.length ?? 0) * TOKENS_PER_PDF_PAGE;
}

/**
 * Fields with a file's base64 in vendors' requests (Gemini's `inlineData`, OpenAI's files and
 * audio).
 */
const FILE_DATA_FIELDS: ReadonlySet<string> = new Set(['data', 'file_data']);
/** Shorter texts count as text. */
const MIN_FILE_CHARS = 4_096;
const BASE64_DATA = /^[\w+/-]{1000}/;
const DATA_URL = /^data:[^,]{0,200};base64,/;

/**
 * Returns undefined for anything but a file. A file would have a thousand times more tokens if
 * counted as text.
 */
export function countFileTokens(field: string, value: unknown): number | undefined {
  if (typeof value !== 'string' || value.length < MIN_FILE_CHARS) return undefined;
  const [url = ''] = DATA_URL.exec(value) ?? [];
  if (url === '' && !FILE_DATA_FIELDS.has(field)) return undefined;
  const data = value.slice(url.length);
  if (!BASE64_DATA.test(data)) return undefined;
  return data.startsWith(PDF_START_BASE64) ? countPdfTokens(data) : countImageTokens({ data });
}

/** "%PDF" in base64. */
const PDF_START_BASE64 = 'JVBERi';
