import type { IncomingMessage } from 'node:http';
import { normalizeRefusal } from '../api/refusal';
import { isThinkingRejection } from '../api/refusedThinking';
import { findOverflow, findOverWeight, type OverflowTokens } from '../api/tooLong';
import { isRecord } from '../core/messages/blocks';
import type { RejectionProblem } from '../live/attempts';
import type { Refusal } from './deliveryState';
import { unpackBody } from './unpacking';

/** Bytes, compressed and decompressed. */
const MAX_REFUSAL_BYTES = 1024 * 1024;

export async function readRefusal(answer: IncomingMessage): Promise<Refusal> {
  const bytes = await readBeginning(answer);
  // We forward the agent's `accept-encoding`, so vendors compress rejections too.
  const whole =
    bytes.length > MAX_REFUSAL_BYTES
      ? undefined
      : await unpackBody(bytes, answer.headers['content-encoding'], MAX_REFUSAL_BYTES);
  const words = whole?.toString();
  const overflow = parseOverflow(words ?? '', answer.statusCode);
  return { answer, bytes, words, problem: overflow ? 'too-long' : makeProblem(words), overflow };
}

function makeProblem(words: string | undefined): RejectionProblem {
  if (words === undefined) return 'unreadable';
  return isThinkingRejection(words) ? 'thinking' : 'invalid';
}

async function readBeginning(answer: IncomingMessage): Promise<Buffer> {
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
 * @param words a body in any form that {@link normalizeRefusal} knows
 */
export function parseOverflow(words: string, status: number | undefined): OverflowTokens | undefined {
  let error: unknown;
  try {
    const value: unknown = JSON.parse(normalizeRefusal(words) ?? words);
    error = isRecord(value) ? (value['error'] ?? value) : undefined;
  } catch {
    // The text is not JSON.
  }
  const { code, type, message } = isRecord(error) ? error : {};
  const said = typeof message === 'string' ? message : words;
  const tooLong = findOverflow(said, code, type);
  const weight = tooLong ? undefined : findOverWeight(status, said, type);
  return weight ? { weight } : tooLong;
}
