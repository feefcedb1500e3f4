import type { IncomingMessage } from 'node:http';
import { normalizeErrorJson } from '../api/refusal';
import { isThinkingRejection } from '../api/refusedThinking';
import { findOverflow, findExceededBodyLimits, type OverflowReport } from '../api/tooLong';
import { isRecord } from '../core/messages/blocks';
import type { RejectionProblem } from '../live/attempts';
import type { VendorRefusal } from './deliveryState';
import { decompressBody } from './unpacking';

/** Maximum size in bytes of a rejection that is read, compressed and decompressed. */
const MAX_REFUSAL_BYTES = 1024 * 1024;

export async function readVendorRefusal(answer: IncomingMessage): Promise<VendorRefusal> {
  const bytes = await readBeginningOfAnswer(answer);
  // We forward the agent's `accept-encoding`, so vendors compress rejections too.
  const unpackedBytes =
    bytes.length > MAX_REFUSAL_BYTES
      ? undefined
      : await decompressBody(bytes, answer.headers['content-encoding'], MAX_REFUSAL_BYTES);
  const text = unpackedBytes?.toString();
  const overflow = parseOverflowFromRefusal(text ?? '', answer.statusCode);
  return { answer, bytes, text, problem: overflow ? 'too-long' : classifyRejection(text), overflow };
}

function classifyRejection(text: string | undefined): RejectionProblem {
  if (text === undefined) return 'unreadable';
  return isThinkingRejection(text) ? 'thinking' : 'invalid';
}

async function readBeginningOfAnswer(answer: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let receivedBytes = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    receivedBytes += chunk.length;
    if (receivedBytes > MAX_REFUSAL_BYTES) break;
  }
  return Buffer.concat(chunks);
}

/**
 * @param text a body in any form that {@link normalizeErrorJson} knows
 * @returns undefined if the request's size was not the reason
 */
export function parseOverflowFromRefusal(text: string, status: number | undefined): OverflowReport | undefined {
  let error: unknown;
  try {
    const value: unknown = JSON.parse(normalizeErrorJson(text) ?? text);
    error = isRecord(value) ? (value['error'] ?? value) : undefined;
  } catch {
    // The text is not JSON.
  }
  const { code, type, message } = isRecord(error) ? error : {};
  const vendorMessage = typeof message === 'string' ? message : text;
  const contextOverflow = findOverflow(vendorMessage, code, type);
  const bodyOverflow = contextOverflow ? undefined : findExceededBodyLimits(status, vendorMessage, type);
  return bodyOverflow ? { weight: bodyOverflow } : contextOverflow;
}
