import { describe, expect, it } from 'vitest';
import { findGiveBackTarget } from '../core/agents/giveBackTarget';
import { requireGiveBackTarget } from './target';

const TASK = 'tasks/019a3f1e/api_conversation_history.json';

describe('the way in which a condensed conversation can be given back', () => {
  it.each([
    [`/home/me/.config/Code/User/globalStorage/rooveterinaryinc.roo-cline/${TASK}`, 'roo-task'],
    [`/home/me/.config/Code/User/globalStorage/zoocodeorganization.zoo-code/${TASK}`, 'roo-task'],
    [`/home/me/.config/Code/User/globalStorage/kilocode.kilo-code/${TASK}`, undefined],
    [`/home/me/.config/Code/User/globalStorage/saoudrizwan.claude-dev/${TASK}`, undefined],
    ['/home/me/.cline/data/sessions/1_a/1_a.messages.json', 'cline-sidecar'],
    ['/home/me/.cline/data/sessions/1_a/2_b.messages.json', undefined],
    ['/home/me/.claude/projects/-app/5f0e7000-8000-4a1b-9c3d-4e5f0198c7a2.jsonl', 'claude-code-session'],
    ['/home/me/.claude/projects/-app/5f0e7000-8000-4a1b-9c3d-4e5f0198c7a2/subagents/agent-a1.jsonl', undefined],
    ['/home/me/.codex/sessions/2026/01/01/rollout-1.jsonl', undefined],
  ])('depends on the path of its file: for %s it is %s', (path, target) => {
    expect(findGiveBackTarget(path)).toBe(target);
    if (target === undefined)
      expect(() => requireGiveBackTarget(path)).toThrow(/does not continue with what other programs write/);
    else expect(requireGiveBackTarget(path)).toBe(target);
  });

  it("is known for a user's own folder if the agent is Roo or Zoo", () => {
    const path = `/mnt/tasks-of-mine/${TASK}`;
    expect(findGiveBackTarget(path)).toBeUndefined();
    expect([findGiveBackTarget(path, 'Roo Code'), findGiveBackTarget(path, 'Zoo Code')]).toEqual([
      'roo-task',
      'roo-task',
    ]);
    expect([findGiveBackTarget(path, 'Kilo Code'), findGiveBackTarget(path, 'Cline')]).toEqual([undefined, undefined]);
  });
});
