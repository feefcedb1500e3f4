import { anthropicWire } from './anthropic';
import { chatWire } from './chat';
import { geminiWire } from './gemini';
import { responsesWire } from './responses';
import type { WireFormat } from './wire';

export interface RecognizedRequest {
  readonly wire: WireFormat;
  /** `count`: the request asks only for a token count, not for an answer. */
  readonly purpose: 'answer' | 'count';
  readonly model?: string;
}

const GEMINI_PATH = /\/models\/([^/:]+):(generateContent|streamGenerateContent)$/;

/** @returns undefined for a request to forward unchanged */
export function findKnownRequest(method: string, path: string): RecognizedRequest | undefined {
  if (method !== 'POST') return undefined;
  if (path.endsWith('/messages')) return { wire: anthropicWire, purpose: 'answer' };
  if (path.endsWith('/messages/count_tokens')) return { wire: anthropicWire, purpose: 'count' };
  if (path.endsWith('/chat/completions')) return { wire: chatWire, purpose: 'answer' };
  if (path.endsWith('/responses')) return { wire: responsesWire, purpose: 'answer' };
  const geminiMatch = GEMINI_PATH.exec(path);
  const model = geminiMatch?.[1];
  return model === undefined ? undefined : { wire: geminiWire, purpose: 'answer', model: decodeURIComponent(model) };
}
