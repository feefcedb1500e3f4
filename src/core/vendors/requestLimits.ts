/** Limits of a request beside its tokens: images have many bytes and pixels, and few tokens. */
import { vendorEntry, type Vendor } from './vendors';

/** Limits that a vendor's servers put on a request; absent: none that is known. */
export interface RequestLimits {
  /** Bytes of the body. */
  readonly bytes?: number;
  /** Where there are more images than `above`, none may have an edge of more pixels than `edge`. */
  readonly manyImages?: { readonly above: number; readonly edge: number };
}

/** What Anthropic means by a many-image request: one with more images than this (guide "Vision", general limits). */
export const MANY_IMAGES = 20;

/** Claude's, wherever it runs (the same guide). */
const CLAUDE = { manyImages: { above: MANY_IMAGES, edge: 2000 } } as const;

/**
 * Bytes of a body at the vendors' own addresses. Anthropic: 32 MB (API overview, "Request size limits"); OpenAI: 50 MB of images
 * (guide "Images and vision"); Gemini: "Request payload size exceeds the limit: 20971520 bytes."; Bedrock: 25,000,000
 * (API reference, InvokeModel, `body`). The others publish none: theirs is learned when they refuse.
 */
const BYTES: Readonly<Partial<Record<Vendor, number>>> = {
  anthropic: 32_000_000,
  openai: 50_000_000,
  gemini: 20_971_520,
  bedrock: 25_000_000,
};

/**
 * The limits of a model's requests.
 * @param host where they go; undefined: to the vendor's own servers. Others may take more or less.
 */
export function getRequestLimits(vendor: Vendor, model: string, host: string | undefined): RequestLimits {
  const bytes = host === undefined || vendorEntry(vendor).ownHosts?.test(host) === true ? BYTES[vendor] : undefined;
  return { ...(/claude/i.test(model) && CLAUDE), ...(bytes !== undefined && { bytes }) };
}
