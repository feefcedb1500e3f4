import { expect, it } from 'vitest';
import { describeEstimatedSessions, describeReplayedRequests } from './words';

it('the account names the agents whose sessions are estimated', () => {
  const estimated = [
    { agent: 'Cursor', sessions: 2 },
    { agent: 'Copilot CLI', sessions: 1 },
  ];
  expect(describeEstimatedSessions({ estimated })).toBe('estimated: 2 sessions of Cursor, 1 session of Copilot CLI');
  expect(describeEstimatedSessions({ estimated: [] })).toBe('');
});

it('the account says that an estimate can be too high if it includes Copilot CLI', () => {
  expect(describeReplayedRequests(2, { estimated: [{ agent: 'Cursor', sessions: 1 }] })).not.toContain('less');
  expect(describeReplayedRequests(2, { estimated: [{ agent: 'Copilot CLI', sessions: 1 }] })).toContain(
    'usually up to 2.5 times as much; for Copilot CLI it is often less',
  );
});
