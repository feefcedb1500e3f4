/**
 * A reader reports left-out records as never sent only if a table lists their kind. It counts and
 * names all other left-out records.
 */
import { describe, expect, it } from 'vitest';
import { readConversation } from './read';
import { getNoteText } from './notes';

const lines = (...records: readonly object[]): string => records.map((record) => JSON.stringify(record)).join('\n');

/**
 * Creates sessions with a record of a kind that is never sent to the model, or of a future kind.
 */
const SESSIONS: Readonly<Record<string, (kind: string) => string>> = {
  'claude-code, progress': (type) =>
    lines(
      { uuid: 'a', parentUuid: null, sessionId: 's', type: 'user', message: { role: 'user', content: 'Go' } },
      { uuid: 'b', parentUuid: 'a', sessionId: 's', type },
    ),
  'codex, ghost_snapshot': (type) =>
    lines(
      { timestamp: 't', type: 'session_meta', payload: { id: 's', cwd: '/p' } },
      { timestamp: 't', type: 'response_item', payload: { type: 'message', role: 'user', content: 'Go' } },
      { timestamp: 't', type: 'response_item', payload: { type } },
    ),
  'copilot, hook.start': (type) =>
    lines(
      { type: 'session.start', id: '1', parentId: null, timestamp: 't', data: { sessionId: 's', copilotVersion: '1' } },
      { type: 'user.message', id: '2', parentId: '1', timestamp: 't', data: { content: 'Go' } },
      { type, id: '3', parentId: '2', timestamp: 't', data: {} },
    ),
  'gemini, info': (type) =>
    lines(
      { sessionId: 's', projectHash: 'h', startTime: 't', lastUpdated: 't' },
      { id: '1', timestamp: 't', type: 'user', content: 'Go' },
      { id: '2', timestamp: 't', type, content: 'x' },
    ),
  'pi, label': (type) =>
    lines(
      { type: 'session', version: 3, id: 's', timestamp: 't', cwd: '/p' },
      { type: 'message', id: 'a', parentId: null, message: { role: 'user', content: 'Go' } },
      { type, id: 'b', parentId: 'a' },
    ),
  'cursor, turn_ended': (type) =>
    lines({ role: 'user', message: { content: [{ type: 'text', text: 'Go' }] } }, { type, status: 'success' }),
  'qwen, ui_telemetry': (subtype) =>
    lines(
      {
        uuid: 'a',
        parentUuid: null,
        sessionId: 's',
        type: 'user',
        cwd: '/p',
        version: '0.21',
        message: { role: 'user', parts: [{ text: 'Go' }] },
      },
      subtype === TOMORROW
        ? { uuid: 'b', parentUuid: 'a', sessionId: 's', type: subtype, cwd: '/p', version: '0.21' }
        : { uuid: 'b', parentUuid: 'a', sessionId: 's', type: 'system', subtype, cwd: '/p', version: '0.21' },
    ),
  'openhands, PauseEvent': (kind) =>
    JSON.stringify([
      {
        kind: 'MessageEvent',
        id: '1',
        timestamp: 't',
        source: 'user',
        llm_message: { role: 'user', content: [{ type: 'text', text: 'Go' }] },
      },
      { kind, id: '2', timestamp: 't', source: 'user' },
    ]),
};

const TOMORROW = 'kind_of_tomorrow';

describe.each(Object.entries(SESSIONS))('content of %s that was not sent', (name, session) => {
  const notesOf = (kind: string): string =>
    readConversation(session(kind), { name: 'test' }).notes.map(getNoteText).join('\n');
  const silent = name.slice(name.indexOf(' ') + 1);

  it('is noted as not sent', () => {
    expect(notesOf(silent)).toMatch(new RegExp(`not sent to the model: 1 [\\w ]*${silent}`));
    expect(notesOf(silent)).not.toContain('may be sent');
  });

  it('is not noted as unsent if its kind is unknown to the reader', () => {
    expect(notesOf(TOMORROW)).toMatch(new RegExp(`may be sent to the model \\(.*\\): 1 [\\w ]*${TOMORROW}`));
    expect(notesOf(TOMORROW)).not.toContain('is not sent');
  });
});
