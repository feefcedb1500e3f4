/** Tests the account of a Claude Code session that was given back condensed and then continued. */
import { expect, it } from 'vitest';
import { assistant, user } from '../../test/fixtures/conversations/claudeCodeLines';
import { readClaudeCode } from '../conversations/formats/claudeCode/claudeCode';
import { renderClaudeSession } from '../conversations/write/claudeCode';
import { MessageCounter } from '../core/tokens/messageCounter';
import { countCopiedRequestsOnce } from '../core/account/once';
import { computeSessionAccount } from './sessionAccount';

const SESSION = '00000000-0000-4000-8000-000000000001';
const PATH = '/home/me/session.jsonl';

let count = 0;
const newId = (): string => `00000000-0000-4000-8000-${String(++count).padStart(12, '0')}`;

const answer = { id: 'msg_1', model: 'claude-opus-4-5', usage: { input_tokens: 90_000, output_tokens: 500 } };
const given = renderClaudeSession({
  sessionId: SESSION,
  title: 'Sticky header',
  view: [
    { role: 'user', content: 'Make the header sticky.' },
    { ...answer, role: 'assistant', content: [{ type: 'text', text: 'Done.' }] },
  ],
  records: [],
  now: new Date(2026, 0, 2, 12),
  newId,
});

const account = (text: string) =>
  countCopiedRequestsOnce([
    computeSessionAccount(
      { agent: 'Claude Code', path: PATH, modified: 0 },
      readClaudeCode(text, { path: PATH }, { history: 'all' }),
      { counter: new MessageCounter({ count: (words) => words.length }), prices: { lookup: () => undefined } },
    ),
  ])[0];

it('the account of a given-back session excludes answers paid for in the original session', () => {
  expect(account(given)).toMatchObject({ source: 'recorded', usage: [], fill: [] });
});

it('the account of a given-back session includes requests made after it was given back', () => {
  const last = JSON.parse(given.trimEnd().split('\n').at(-1) ?? '') as { readonly uuid: string };
  const goneOn = [
    user('u2', last.uuid, 'And the footer.'),
    assistant('a2', 'u2', 'msg_2', { type: 'text', text: 'Done.' }),
  ];
  const one = account(`${given}${goneOn.map((record) => `${JSON.stringify(record)}\n`).join('')}`);
  expect(one?.source).toBe('recorded');
  expect(one?.usage).toMatchObject([{ requests: 1, day: '2026-02-12' }]);
});
