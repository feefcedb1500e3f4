import { describe, expect, it } from 'vitest';
import { AGENT_LIST, AGENTS } from '.';
import { TOOL_KINDS } from './types';

describe.each(Object.entries(AGENTS))(
  'the agent table, in its row for %s,',
  (id, { name, tools, stores, formats, giveBack, seen }) => {
    it('has tools with lower-case names and known kinds, including read, edit, command and search', () => {
      for (const [tool, rule] of Object.entries(tools)) {
        expect(tool).toBe(tool.toLowerCase());
        expect(TOOL_KINDS).toContain(rule.kind);
      }
      // The agent's conversations can't be understood without tools of these kinds.
      const kinds = new Set(Object.values(tools).map(({ kind }) => kind));
      for (const kind of ['read', 'edit', 'command', 'search'] as const) expect(kinds).toContain(kind);
    });

    it('has stores and tested versions if and only if it has formats', () => {
      expect(id).toMatch(/^[a-z-]+$/);
      expect(name.trim()).toBe(name);
      expect(formats.length > 0).toBe(stores.length > 0);
      expect(formats.length > 0).toBe(seen !== undefined && seen.versions !== '');
      if (giveBack) expect(formats).not.toHaveLength(0);
    });
  },
);

it('the agent table has each agent once', () => {
  const names = AGENT_LIST.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
});
