/**
 * Checks that recorded requests of real agents satisfy the strict rules. The recordings are outside
 * the repository (../shared/real-agents).
 */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { anthropicFault, type Signer } from './anthropicRules';
import { geminiFault } from './geminiRules';
import { isObject, text, type Json } from './json';
import { chatFault, responsesFault } from './openaiRules';

const RECORDED = join(import.meta.dirname, '../../../shared/real-agents/recorded');

/** Other servers made the recorded signatures, so this signer accepts all. */
const signer: Signer = { sign: () => 'sealed' };

/** Expands what the recording abbreviated, and replaces signatures by accepted ones. */
const restored = (text: string): Json => {
  const body: unknown = JSON.parse(text, (field, value: unknown) => {
    if (field === 'signature') return 'sealed';
    if (field === 'thoughtSignature') return 'skip_thought_signature_validator';
    if (field === 'encrypted_content') return 'x.sealed';
    // Agents send this older name of the thinking field to servers that require it.
    if (field === 'reasoning_content') return undefined;
    if (isObject(value) && 'shortened' in value) return { type: 'object' };
    return value;
  });
  return isObject(body) ? body : {};
};

const files = existsSync(RECORDED) ? globSync(join(RECORDED, '*.json')).sort() : [];

describe.runIf(files.length > 0)('the Anthropic test server', () => {
  it.each(files.map((file) => [basename(file, '.json'), file]))('accepts the recorded request of %s', (_, file) => {
    const record = restored(readFileSync(file, 'utf8'));
    const body = isObject(record['body']) ? record['body'] : {};
    const path = text(record['path']);
    const betas = text(isObject(record['headers']) ? record['headers']['anthropic-beta'] : '');
    const fault = path.includes('enerateContent')
      ? geminiFault(body, signer)
      : path.includes('/chat/completions')
        ? chatFault(body, {})
        : path.includes('/responses')
          ? responsesFault(body, signer)
          : anthropicFault(body, signer, { turns: true }, betas);
    expect(fault).toBeUndefined();
  });
});
