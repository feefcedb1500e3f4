import { describe, expect, it } from 'vitest';
import type { ApiMessage } from '../../core/messages/types';
import { createCompactionSidecar, applyCompactionSidecar } from './clineCompaction';

const now = new Date('2026-01-02T03:04:05Z');
const SUMMARY: ApiMessage = { role: 'user', content: 'summary' };
const session = (...messages: unknown[]) => ({ messages });
const sidecarOf = (of: Readonly<Record<string, unknown>>, view: readonly ApiMessage[] = [SUMMARY]) =>
  createCompactionSidecar({ session: of, view, now });

describe("Cline's compaction sidecar", () => {
  it("has the session's ID, agent and system prompt if the session has them", () => {
    const named = { ...session({ role: 'user', content: 'a' }), sessionId: 's', agent: 'lead', system_prompt: 'be' };
    expect(sidecarOf(named)).toMatchObject({
      version: 1,
      updated_at: '2026-01-02T03:04:05.000Z',
      sessionId: 's',
      conversation_id: 's',
      agent: 'lead',
      system_prompt: 'be',
      source_message_count: 1,
      messages: [{ role: 'user', content: [{ type: 'text', text: 'summary' }] }],
    });
    const fields = Object.keys(sidecarOf(session()));
    for (const field of ['sessionId', 'agent', 'system_prompt', 'source_last_message_key'])
      expect(fields).not.toContain(field);
  });

  it.each([
    ['its id', { role: 'user', content: 'a', id: ' m1 ', ts: 5 }, 'id:m1'],
    ['its time if the ID is blank', { role: 'user', content: 'a', id: ' ', ts: 5 }, 'ts:user:5'],
    ['what it says', { role: 'assistant', content: 'a' }, 'content:assistant:"a"'],
    ['what the user typed', { role: 'user', content: '<user_input mode="act">a</user_input>' }, 'content:user:"a"'],
  ])('identifies the last message by %s', (_, message, key) => {
    expect(sidecarOf(session(message))['source_last_message_key']).toBe(key);
  });

  it("has results restored in Cline's form, and keeps text that is no longer JSON", () => {
    const result = (...content: unknown[]): ApiMessage => ({
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: 't', content: content as never }],
    });
    const part = (text: string) => ({ type: 'text', text, clineJson: true });
    const view = [result(part('{"rows":3}'), part('{"rows":'), part('3'), { type: 'text', text: 'as it is' }, 'bare')];
    expect(sidecarOf(session(), view)['messages']).toEqual([
      result(
        { rows: 3 },
        { type: 'text', text: '{"rows":' },
        { type: 'text', text: '3' },
        { type: 'text', text: 'as it is' },
        'bare',
      ),
    ]);
    const plain: ApiMessage = { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't', content: 'ok' }] };
    expect(sidecarOf(session(), [plain])['messages']).toEqual([plain]);
  });
});

it('a file mentioned in a Cline session is restored unchanged, or as text if it was shortened', () => {
  const file = { type: 'file', path: '/p/a.md', content: '# A\n' };
  const block = (text: string): ApiMessage => ({ role: 'user', content: [{ type: 'text', text, clineFile: file }] });
  const whole = '<file_content path="/p/a.md">\n# A\n\n</file_content>';
  expect(sidecarOf(session(), [block(whole), block('shorter')])['messages']).toEqual([
    { role: 'user', content: [file] },
    { role: 'user', content: [{ type: 'text', text: 'shorter' }] },
  ]);
});

describe('what Cline sends with a compaction sidecar', () => {
  const first = {
    role: 'user',
    content: [{ type: 'text', text: '<user_input>go</user_input>' }, { type: 'image' }, 3],
  };
  const second = { role: 'assistant', content: 'done', id: 'a', ts: 1 };
  const source = session(first, second);
  const sidecar = sidecarOf(source);

  it('is the condensed conversation followed by later messages', () => {
    const later = { role: 'user', content: 'more' };
    expect(applyCompactionSidecar(sidecar, session(first, second, later))).toEqual([
      { role: 'user', content: [{ type: 'text', text: 'summary' }] },
      later,
    ]);
  });

  it('is unchanged if only IDs, times and tags differ', () => {
    const typed = { ...first, content: [{ type: 'text', text: 'go' }, ...first.content.slice(1)] };
    expect(applyCompactionSidecar(sidecar, session(typed, { ...second, id: 'b', ts: 2 }))).toHaveLength(1);
  });

  it.each([
    ['the session is shorter', sidecar, session(first)],
    ['another thing was said', sidecar, session(first, { ...second, content: 'undone' })],
    ['another model answered', sidecar, session(first, { ...second, modelInfo: { id: 'm' } })],
    ['the user said what has no form', sidecar, session({ ...first, content: 3 }, second)],
    ['the session has no messages', sidecar, {}],
    ['it has no count', { ...sidecar, source_message_count: 'two' }, source],
    ['it has no hash', { ...sidecar, source_prefix_hash: undefined }, source],
    ['it has no messages', { ...sidecar, messages: 'none' }, source],
  ])('is undefined if %s', (_, beside, of) => {
    expect(applyCompactionSidecar(beside, of)).toBeUndefined();
  });
});
