/**
 * Any text is read as a conversation or rejected with a clear error. There must be no other error
 * and no message of a wrong shape.
 */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { assertMessage } from './formats/messageShape';
import { readConversation } from './read';
import { ConversationReadError } from './readError';
import { getNoteText } from './notes';

const HEADS = [
  { type: 'session_meta', payload: { id: 's' } },
  { type: 'session.start', data: { sessionId: 's' }, id: 'e' },
  { sessionId: 's', projectHash: 'h' },
  { type: 'user', uuid: 'u', message: { role: 'user', content: 'hi' } },
];

/** Values that are as often of the right kind as of a wrong one. */
const value = fc.oneof(
  fc.constantFrom<unknown>('', 'x', 7, null, true, [], {}, ['x'], [null], { text: 'x' }, { output: 'x' }),
  fc.jsonValue({ maxDepth: 3 }),
);
const part = fc.dictionary(
  fc.constantFrom(
    'type',
    'text',
    'callID',
    'tool',
    'state',
    'id',
    'mime',
    'url',
    'functionResponse',
    'inlineData',
    'toolCallId',
  ),
  fc.oneof(
    value,
    fc.constantFrom(
      'text',
      'tool',
      'file',
      'reasoning',
      'subtask',
      'input_image',
      { status: 'completed' },
      { status: 'error' },
    ),
  ),
);
const content = fc.oneof(value, fc.array(part, { maxLength: 3 }));
const fields = fc.dictionary(
  fc.constantFrom(
    'role',
    'content',
    'toolCalls',
    'thoughts',
    'toolRequests',
    'result',
    'output',
    'call_id',
    'name',
    'arguments',
    'id',
    'summary',
    'success',
    'replacement_history',
    'num_turns',
    'action',
    'input',
    'reasoningText',
    'status',
    'args',
    'parts',
    'error',
    '$set',
    '$rewindTo',
    'agentId',
  ),
  fc.oneof(content, fc.constantFrom('user', 'assistant', 'x')),
);
const type = fc.constantFrom(
  'message',
  'function_call',
  'function_call_output',
  'custom_tool_call',
  'local_shell_call',
  'reasoning',
  'compacted',
  'thread_rolled_back',
  'user.message',
  'assistant.message',
  'tool.execution_start',
  'tool.execution_complete',
  'session.compaction_complete',
  'session.snapshot_rewind',
  'user',
  'gemini',
  'info',
  'compaction',
  'system',
);
const record = fc.record({ type, fields }).map(({ type: kind, fields: own }) => ({ type: kind, ...own }));
const envelope = fc.oneof(
  record,
  record.map((payload) => ({ type: 'response_item', payload })),
  record.map((payload) => ({ type: 'event_msg', payload })),
  record.map((payload) => ({ type: 'compacted', payload })),
  fc.record({ type, data: fields }),
);
const lines = fc
  .record({ head: fc.constantFrom(...HEADS), records: fc.array(envelope, { maxLength: 8 }) })
  .map(({ head, records }) => [head, ...records].map((each) => JSON.stringify(each)).join('\n'));
const document = fc
  .array(fc.record({ info: fields, parts: fc.array(fc.oneof(part, record), { maxLength: 3 }) }), { maxLength: 5 })
  .map((messages) => JSON.stringify({ info: { id: 'ses_1' }, messages }));
const session = fc
  .array(record, { maxLength: 5 })
  .map((messages) => JSON.stringify({ sessionId: 's', projectHash: 'h', messages }));

it('every text is read as a conversation or rejected with a reason', () => {
  let read = 0;
  fc.assert(
    fc.property(
      fc.oneof(lines, document, session),
      fc.constantFrom('active' as const, 'all' as const),
      (text, history) => {
        try {
          const { messages, title, notes } = readConversation(text, { path: '/x/y' }, { history });
          messages.forEach((message, index) => {
            assertMessage(message, `messages[${index}]`);
          });
          expect(title.length).toBeGreaterThan(0);
          expect(notes.every((note) => getNoteText(note).trim() !== '')).toBe(true);
          read += 1;
        } catch (error) {
          if (!(error instanceof ConversationReadError)) throw error;
        }
      },
    ),
    // Runs many cases, because they are cheap and many are rejected at once.
    { numRuns: 2_000 },
  );
  expect(read).toBeGreaterThan(500);
});
