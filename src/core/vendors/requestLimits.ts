import { getVendorEntry, type Vendor } from './vendors';

export interface RequestLimits {
  readonly bytes?: number;
  /** With more than `above` images, no edge may exceed `edge` pixels. */
  readonly manyImages?: { readonly above: number; readonly edge: number };
}

/**
 * Anthropic calls a request with more images a many-image request (guide "Vision", general limits).
 */
export const MAX_IMAGES_AT_FULL_SIZE = 20;

/** Claude's limits on every host (guide "Vision", general limits). */
const CLAUDE_IMAGE_LIMITS = { manyImages: { above: MAX_IMAGES_AT_FULL_SIZE, edge: 2000 } } as const;

/**
 * At vendors' own URLs. Anthropic: API overview, "Request size limits"; OpenAI: guide "Images and
 * vision" (images only); Gemini: its rejection ("20971520 bytes"); Bedrock: API reference,
 * InvokeModel, `body`. Rejections tell other vendors' limits.
 */
const MAX_REQUEST_BYTES: Readonly<Partial<Record<Vendor, number>>> = {
  anthropic: 32_000_000,
  openai: 50_000_000,
  gemini: 20_971_520,
  bedrock: 25_000_000,
};

/**
 * @param host destination; undefined means the vendor's own servers. Other hosts may have other
 * limits.
 */
export function getRequestLimits(vendor: Vendor, model: string, host: string | undefined): RequestLimits {
  const bytes =
    host === undefined || getVendorEntry(vendor).ownHosts?.test(host) === true ? MAX_REQUEST_BYTES[vendor] : undefined;
  return { ...(/claude/i.test(model) && CLAUDE_IMAGE_LIMITS), ...(bytes !== undefined && { bytes }) };
}
