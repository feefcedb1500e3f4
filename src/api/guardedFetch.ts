import { setImmediate } from 'node:timers/promises';
import { ApiError } from './apiError';
import type { LargeTextPlaceholders } from './jsonFrames';
import { normalizeErrorJson } from './refusal';

/** In UTF-16 units. Encoding a longer body takes noticeable time, so other work goes first. */
const MIN_BODY_BYTES_TO_YIELD_BEFORE = 1_000_000;

/**
 * Follows no redirect, since a key must not reach an unconfigured address. Rejects web pages, and
 * rewrites error responses for the SDKs.
 */
export const createFetchWithoutRedirects =
  (name: string, onBytes: () => void, frames: LargeTextPlaceholders, send: typeof fetch = fetch): typeof fetch =>
  async (input, init) => {
    if (typeof init?.body === 'string' && init.body.length > MIN_BODY_BYTES_TO_YIELD_BEFORE) await setImmediate();
    const bodyWithLargeTexts =
      typeof init?.body === 'string' && !frames.isEmpty ? await writeBodyWithLargeTexts(init.body, frames) : undefined;
    const response = await send(input, {
      ...init,
      ...(bodyWithLargeTexts && { body: bodyWithLargeTexts }),
      redirect: 'manual',
    });
    const rejectResponse = async (sentence: string): Promise<never> => {
      await response.body?.cancel();
      throw new ApiError('endpoint', { name, status: response.status, sentence });
    };
    if (response.status >= 300 && response.status < 400) {
      return rejectResponse(
        `The endpoint redirects${describeRedirectTarget(response.headers.get('location'))}, which is not followed.`,
      );
    }
    if (response.ok && response.headers.get('content-type')?.includes('text/html') === true) {
      return rejectResponse('The endpoint answered with a web page: there is no API at this address.');
    }
    if (!response.ok) {
      const body = await response.text();
      onBytes();
      const { status, statusText } = response;
      const headers = new Headers(response.headers);
      // The body is already decompressed.
      for (const name of ['content-length', 'content-encoding']) headers.delete(name);
      return new Response(normalizeErrorJson(body) ?? body, { status, statusText, headers });
    }
    if (!response.body) {
      onBytes();
      return response;
    }
    const observedBody = response.body.pipeThrough(
      new TransformStream<Uint8Array, Uint8Array>({
        transform(chunk, controller) {
          onBytes();
          controller.enqueue(chunk);
        },
        flush() {
          onBytes();
        },
      }),
    );
    return new Response(observedBody, {
      status: response.status,
      statusText: response.statusText,
      headers: response.headers,
    });
  };

async function writeBodyWithLargeTexts(json: string, frames: LargeTextPlaceholders): Promise<Uint8Array<ArrayBuffer>> {
  const encodedPieces: Uint8Array[] = [];
  for (const piece of frames.writeJsonInPieces(json)) {
    encodedPieces.push(Buffer.from(piece));
    await setImmediate();
  }
  return Buffer.concat(encodedPieces);
}

/** The path and query of a redirect may contain secrets. */
const describeRedirectTarget = (location: string | null): string =>
  location !== null && URL.canParse(location) ? ` to ${new URL(location).origin}` : '';
