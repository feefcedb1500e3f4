/** Every way out masks whole texts: a key at the end of a result that is cut short must not leave in part. */
import { describe, expect, it } from 'vitest';
import { Losses } from '../../conversations/export/losses';
import { handoverText } from '../../conversations/export/handover';
import { assistant, call, result, user } from '../testing';
import { freshCounter } from '../testingCounter';
import { nativeConfigSchema } from '../condense/summary/nativeConfig';
import { planSummary } from '../condense/summary/plan';
import { buildPrompt } from '../condense/summary/prompt';
import { testModel } from '../condense/summary/testing';

const LINES = Array.from({ length: 49 }, (_, line) => `MIIEow${String(line).padStart(2, '0')}${'aB3+/xYz'.repeat(7)}`);
const PEM = `-----BEGIN RSA PRIVATE KEY-----\n${LINES.join('\n')}\n-----END RSA PRIVATE KEY-----`;
/** 12,000 characters, the key last: what stays of a result are its head and its tail. */
const RESULT = 'a line of a log\n'.repeat(1000).slice(0, 12_000 - PEM.length) + PEM;

const conversation = [
  user('Look at the server.'),
  assistant(call('a', 'Bash', { command: 'cat log', password: 'hunter22' })),
  user(result('a', RESULT)),
  assistant('Done.'),
  user('And now?'),
  assistant('Nothing more.'),
  user('Good.'),
];

describe('a key that a cut goes through', () => {
  it('is in no request to another vendor', async () => {
    const planned = await planSummary({
      context: { messages: conversation, edits: [], counter: freshCounter(), vendor: 'anthropic' },
      config: nativeConfigSchema.parse({ keepLast: 1 }),
      model: testModel({ vendor: 'openai' }),
    });
    if (planned.kind !== 'plan') throw new Error(planned.kind);
    const prompt = JSON.stringify(planned.parts.map((part) => buildPrompt({ ...planned, conversation: part })));
    expect(LINES.filter((line) => prompt.includes(line))).toEqual([]);
    expect(prompt).not.toContain('hunter22');
    expect(prompt).toContain('[key]');
  });

  it('is in no hand-over prompt', () => {
    const losses = new Losses();
    const text = handoverText({ title: 't', messages: conversation }, freshCounter(), losses);
    expect(LINES.filter((line) => text.includes(line))).toEqual([]);
    expect(text).not.toContain('hunter22');
  });
});
