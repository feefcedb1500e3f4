import type { IncomingMessage } from 'node:http';
import { normalizeErrorJson } from '../api/refusal';
import { isThinkingRejection } from '../api/refusedThinking';
import { findOverflow, findExceededBodyLimits, type OverflowReport } from '../api/tooLong';
import { isRecord } from '../core/messages/blocks';
import type { RejectionProblem } from '../live/attempts';
import type { VendorRefusal } from './deliveryState';
import { decompressBody } from './unpacking';

/** Bytes, compressed and decompressed. */
const MAX_REFUSAL_BYTES = 1024 * 1024;

export async function readVendorRefusal(answer: IncomingMessage): Promise<VendorRefusal> {
  const bytes = await readBeginningOfAnswer(answer);
  // We forward the agent's `accept-encoding`, so vendors compress rejections too.
  const whole =
    bytes.length > MAX_REFUSAL_BYTES
      ? undefined
      : await decompressBody(bytes, answer.headers['content-encoding'], MAX_REFUSAL_BYTES);
  const words = whole?.toString();
  const overflow = parseOverflowFromRefusal(words ?? '', answer.statusCode);
  return { answer, bytes, words, problem: overflow ? 'too-long' : classifyRejection(words), overflow };
}

function classifyRejection(words: string | undefined): RejectionProblem {
  if (words === undefined) return 'unreadable';
  return isThinkingRejection(words) ? 'thinking' : 'invalid';
}

async function readBeginningOfAnswer(answer: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > MAX_REFUSAL_BYTES) break;
  }
  return Buffer.concat(chunks);
}

/**
 * Undefined if the request's size was not the reason.
 * @param words a body in any form that {@link normalizeErrorJson} knows
 */
export function parseOverflowFromRefusal(words: string, status: number | undefined): OverflowReport | undefined {
  let error: unknown;
  try {
    const value: unknown = JSON.parse(normalizeErrorJson(words) ?? words);
    error = isRecord(value) ? (value['error'] ?? value) : undefined;
  } catch {
    // The text is not JSON.
  }
  const { code, type, message } = isRecord(error) ? error : {};
  const said = typeof message === 'string' ? message : words;
  const tooLong = findOverflow(said, code, type);
  const weight = tooLong ? undefined : findExceededBodyLimits(status, said, type);
  return weight ? { weight } : tooLong;
}
