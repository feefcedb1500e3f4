import { expect, it } from 'vitest';
import { normalizeName } from '../agents/agentRun';

it('the file names recorded in two runs of an agent are normalized to the same form', () => {
  const pairs = [
    [
      'tool-outputs/run_shell__toolu_1ac88d5b7193749478_3fjqj.txt',
      'tool-outputs/run_shell__toolu_94c64cb17f697709c7_f1m98.txt',
    ],
    ['data/1763900000000_a1b2c/task.json', 'data/1763900012345_zzzzz/task.json'],
    [
      'projects/-work--agents-beds-agent-KQdk71-work/chats/eae0424a-6996-4d8d-8bdf-fce80ba6f9dc.jsonl',
      'projects/-work--agents-beds-agent-abcdef-work/chats/0a1b2c3d-6996-4d8d-8bdf-fce80ba6f9dc.jsonl',
    ],
    ['storage/ses_5fA0b1/msg_77xY.json', 'storage/ses_0000aa/msg_1.json'],
  ];
  for (const [one = '', other = ''] of pairs) expect(normalizeName(one)).toBe(normalizeName(other));
  expect(normalizeName('settings.json')).not.toBe(normalizeName('secrets.json'));
});
