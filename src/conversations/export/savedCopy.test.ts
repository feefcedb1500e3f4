/** "Save Condensed Copy…" writes Anthropic messages JSON for every agent's conversation. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { isRecord } from '../../core/messages/blocks';
import { renderAnthropicJson } from '../rawText';
import { readConversationFile } from '../readFile';
import { checkWithAnthropicServer, counter, signer, type Json } from './testing';

const FIXTURES = join(import.meta.dirname, '../../../test/fixtures/sessions');

const signed = (_key: string, value: unknown): unknown =>
  isRecord(value) && value['type'] === 'thinking'
    ? { ...value, signature: signer.sign(String(value['thinking'])) }
    : value;

// A conversation in Anthropic's form is left as it is, even if it is incomplete.
it.each(readdirSync(FIXTURES).filter((name) => name !== 'anthropic.json'))(
  'a copy of the fixture %s is written so that Anthropic accepts it',
  (name) => {
    const path = join(FIXTURES, name);
    const conversation = readConversationFile(path);
    const origins = conversation.messages.map((_, index) => index);
    const { text } = renderAnthropicJson(conversation, conversation.messages, path, origins, counter);
    // The server accepts only its own signatures.
    const { system, tools, messages } = JSON.parse(text, signed) as Json;
    const request = { ...(system !== undefined && { system }), ...(tools !== undefined && { tools }), messages };
    expect(checkWithAnthropicServer(request)).toBeUndefined();
  },
);
