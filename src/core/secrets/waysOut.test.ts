/** Every output must mask before it truncates, so that no part of a key gets out. */
import { describe, expect, it } from 'vitest';
import { ExportLosses } from '../../conversations/export/losses';
import { renderHandover } from '../../conversations/export/handover';
import { assistant, call, result, user } from '../testing';
import { createCounter } from '../testingCounter';
import { nativeConfigSchema } from '../condense/summary/nativeConfig';
import { planSummary } from '../condense/summary/plan';
import { buildSummaryPrompt } from '../condense/summary/prompt';
import { makeTestModel } from '../condense/summary/testing';
import { maskMessage } from './maskMessages';

const LINES = Array.from({ length: 49 }, (_, line) => `MIIEow${String(line).padStart(2, '0')}${'aB3+/xYz'.repeat(7)}`);
const PEM = `-----BEGIN RSA PRIVATE KEY-----\n${LINES.join('\n')}\n-----END RSA PRIVATE KEY-----`;
/**
 * The text has 12,000 characters and ends with the key, since a shortened result keeps its head
 * and tail.
 */
const RESULT = 'a line of a log\n'.repeat(1000).slice(0, 12_000 - PEM.length) + PEM;

/** Any cut splits a key, and the rest has no recognizable prefix. */
const KEY = `ghp_${'a7Bq9z'.repeat(6)}`;
const KEYS = `${KEY}\n`.repeat(400);

const conversation = [
  user('Look at the server.'),
  assistant(call('a', 'Bash', { command: 'cat log', password: 'hunter22' })),
  user(result('a', RESULT)),
  assistant('Done.'),
  user('And now?'),
  assistant('Nothing more.'),
  user('Good.'),
];

describe('a key that a cut would split', () => {
  it('does not appear in a request to another vendor, not even in part', async () => {
    const planned = await planSummary({
      context: { messages: conversation, edits: [], counter: createCounter(), vendor: 'anthropic' },
      config: nativeConfigSchema.parse({ keepLast: 1 }),
      model: makeTestModel({ vendor: 'openai' }),
    });
    if (planned.kind !== 'plan') throw new Error(planned.kind);
    const prompt = JSON.stringify(planned.parts.map((part) => buildSummaryPrompt({ ...planned, conversation: part })));
    expect(LINES.filter((line) => prompt.includes(line))).toEqual([]);
    expect(prompt).not.toContain('hunter22');
    expect(prompt).toContain('[key]');
  });

  it('is masked whole wherever the cut is: in a result, a parameter, an earlier summary or the system prompt', async () => {
    const messages = [
      user('Look.'),
      { ...user(`Before: ${KEY}`), isSummary: true },
      assistant(call('a', 'Bash', { command: KEYS })),
      user(result('a', KEYS)),
      ...conversation.slice(3),
    ];
    const planned = await planSummary({
      context: { messages, edits: [], counter: createCounter(), vendor: 'anthropic', system: `Use ${KEY}.` },
      config: nativeConfigSchema.parse({ keepLast: 1, keepFirst: 1 }),
      model: makeTestModel({ vendor: 'openai' }),
    });
    if (planned.kind !== 'plan') throw new Error(planned.kind);
    expect(planned.earlier).toBe('Before: [key]');
    expect(planned.system).toBe('Use [key].');
    expect(planned.parts.join()).not.toContain(KEY.slice(-8));
  });

  it('does not appear in the hand-over prompt, not even in part', () => {
    const losses = new ExportLosses();
    const text = renderHandover({ title: 't', messages: conversation }, createCounter(), losses);
    expect(LINES.filter((line) => text.includes(line))).toEqual([]);
    expect(text).not.toContain('hunter22');
  });
});

describe('masking a parameter of a call', () => {
  it.each([
    ['a number', { password: 12345678 }],
    ['a list', { api_key: ['hunter22'] }],
    ['an option of a program', { args: ['--password', 'hunter22'] }],
    ['an option of a known program', { argv: ['curl', '-s', '-u', 'me:hunter22'] }],
    ['a variable with a name and a value', { env: [{ name: 'DB_PASSWORD', value: 'hunter22' }] }],
    ['a variable', { env: { DB_PASSWORD: 'hunter22' } }],
    ['a header with its scheme', { headers: { Authorization: 'Token hunter22hunter22' } }],
    ['a line of .pgpass', { old_string: 'db.example.com:5432:shop:me:hunter22' }],
    ['a variable to the end of its line', { command: 'export DB_PASSWORD=hunter22)%{12345678' }],
    ['an assignment in words whose own name is a secret’s', { credentials: 'log in with password=hunter22hunter22' }],
    ['a cookie among others', { headers: { Cookie: 'theme=dark; session=8f3kd93khunter22' } }],
  ])('masks a key given as %s', (_, input) => {
    const text = JSON.stringify(maskMessage(assistant(call('a', 'Bash', input))));
    expect(text).not.toMatch(/hunter22|12345678/);
    expect(text).toContain('[key]');
  });

  it.each([
    { args: ['--file', 'password.ts'] },
    { limit: 12345678, max_tokens: 4096 },
    { argv: ['grep', '-u', 'me:hunter22'] },
    { fields: [{ name: 'title', value: 'hunter22' }, 7] },
    {
      headers: { Cookie: 'theme=dark', Accept: 'text/plain, text/html' },
      token: 'of the "if" statement',
      password: 'a\nb',
    },
  ])('keeps a parameter without a key: %j', (input) => {
    const message = assistant(call('a', 'Bash', input));
    expect(maskMessage(message)).toBe(message);
  });

  it("depends on the parameter's name, even after many others had the same value", () => {
    const made = (input: Readonly<Record<string, string>>): string =>
      JSON.stringify(maskMessage(assistant(call('a', 'Bash', input))));
    expect(made({ note: 'hunter22' })).toContain('hunter22');
    for (let value = 0; value < 5_001; value++) maskMessage(assistant(call('a', 'Bash', { note: `value ${value}` })));
    expect(made({ password: 'hunter22' })).not.toContain('hunter22');
    expect(made({ note: 'hunter22' })).toContain('hunter22');
    expect(made({ password: 'hunter22' })).not.toContain('hunter22');
  });
});
