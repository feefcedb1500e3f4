/** Real sessions of Claude Code can be given back, whatever any of its versions wrote into them. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ALL_CORPUS_FOLDERS, sessionFiles } from '../../test/bench/corpus';
import { inTemporaryFolder } from '../../test/support/inTemporaryFolder';
import { readConversation } from '../conversations/read';
import type { ApiMessage } from '../core/messages/types';
import { nodeFiles } from '../storage/nodeFiles';
import { giveBackConversation } from './giveBack';
import { condenseFile, makeFileOld } from './testing';

const sessions = sessionFiles(ALL_CORPUS_FOLDERS).filter(
  ({ path }) => path.endsWith('.jsonl') && /[\\/]claude-code[\\/]/.test(path),
);

/**
 * Renders roles and blocks as JSON. Consecutive messages of one role count as one, as in the API.
 */
function renderTurns(messages: readonly ApiMessage[]): readonly string[] {
  const turns: { readonly role: string; readonly content: unknown[] }[] = [];
  for (const { role, content } of messages) {
    const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
    const last = turns.at(-1);
    if (last?.role === role) last.content.push(...blocks);
    else turns.push({ role, content: [...blocks] });
  }
  return turns.map((turn) => JSON.stringify(turn));
}

describe.runIf(sessions.length > 0)('giving back a condensed session of Claude Code', () => {
  it.each(sessions)('writes a session that continues the real session $name', ({ path }) =>
    inTemporaryFolder(async (home) => {
      const copy = join(home, '.claude', 'projects', '-home-me-notes', '5f0e7000-8000-4a1b-9c3d-4e5f0198c7a2.jsonl');
      mkdirSync(dirname(copy), { recursive: true });
      writeFileSync(copy, readFileSync(path));
      makeFileOld(copy);
      const { edits, view } = await condenseFile(copy, readFileSync(copy));
      const row = { cost: 0, tokensBefore: 2, tokensAfter: 1, text: 'Truncation' };
      const given = await giveBackConversation(
        { path: copy, edits, row },
        { files: nodeFiles, root: join(home, 'kept'), now: () => new Date() },
      );
      const written = readConversation(readFileSync(given.path), { path: given.path }).messages;
      // Claude Code announces its skills, agents and tools again itself.
      const wanted = view.filter((message) => message['isRenewed'] !== true);
      expect(wanted).not.toEqual([]);
      expect(renderTurns(written)).toEqual(renderTurns(wanted));
    }),
  );
});
