/** Requests of real agents, kept outside of the repository (../shared/real-agents): the strict servers' rules take them. */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { anthropicFault, type Signer } from './anthropicRules';
import { geminiFault } from './geminiRules';
import { isObject, text, type Json } from './json';
import { chatFault, responsesFault } from './openaiRules';

const RECORDED = join(import.meta.dirname, '../../../shared/real-agents/recorded');

/** Seals were made by the servers of then: here each is true. */
const signer: Signer = { sign: () => 'sealed' };

/** A recorded body without what was shortened in it, and sealed anew. */
const restored = (text: string): Json => {
  const body: unknown = JSON.parse(text, (field, value: unknown) => {
    if (field === 'signature') return 'sealed';
    if (field === 'thoughtSignature') return 'skip_thought_signature_validator';
    if (field === 'encrypted_content') return 'x.sealed';
    // The old name of the model's thinking belongs to servers that want it back.
    if (field === 'reasoning_content') return undefined;
    if (isObject(value) && 'shortened' in value) return { type: 'object' };
    return value;
  });
  return isObject(body) ? body : {};
};

const files = existsSync(RECORDED) ? globSync(join(RECORDED, '*.json')).sort() : [];

describe.runIf(files.length > 0)('a recorded request', () => {
  it.each(files.map((file) => [basename(file, '.json'), file]))('of %s is taken', (_, file) => {
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
