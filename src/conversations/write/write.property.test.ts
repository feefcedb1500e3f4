/**
 * Files are written for an agent from random histories and condensations. The agent must send the
 * view and lose nothing.
 */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { validHistory } from '../../../test/generators/arbitraries';
import { condense, setup } from '../../../test/generators/setups';
import type { ApiMessage } from '../../core/messages/types';
import { readConversation } from '../read';
import { selectEffectiveHistory } from '../formats/roo';
import { renderClaudeSession } from './claudeCode';
import { createCompactionSidecar, applyCompactionSidecar } from './clineCompaction';
import { renderCondensedTask } from './roo';

/** Histories as agents have them, without a system prompt among the messages. */
const histories = validHistory.map((messages) => messages.filter(({ role }) => role !== 'system'));
const check = (property: (messages: readonly ApiMessage[], view: readonly ApiMessage[]) => void): Promise<void> =>
  fc.assert(
    fc.asyncProperty(histories, setup, async (messages, how) => {
      property(messages, (await condense(how, messages)).view);
    }),
  );

const said = (messages: readonly unknown[]): unknown =>
  (messages as readonly ApiMessage[]).map(({ role, content }) => ({
    role,
    content: typeof content === 'string' ? [{ type: 'text', text: content }] : content,
  }));
/** Merges consecutive messages of one role, which are one message to the API. */
function merged(messages: readonly ApiMessage[]): unknown {
  const turns: { readonly role: string; readonly content: unknown[] }[] = [];
  for (const { role, content } of messages) {
    const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
    const last = turns.at(-1);
    if (last?.role === role) last.content.push(...blocks);
    else turns.push({ role, content: [...blocks] });
  }
  return turns;
}
/** Lists a history's blocks regardless of their order. */
const blocksIn = (messages: readonly ApiMessage[]): string[] =>
  messages
    .flatMap(({ role, content }) =>
      (typeof content === 'string' ? [{ type: 'text', text: content }] : content).map((block) =>
        JSON.stringify([role, block]),
      ),
    )
    .sort();
const PATH = '/home/me/.claude/projects/p/s.jsonl';
const ROW = { condenseId: 'c1', cost: 0, tokensBefore: 900, tokensAfter: 400, text: 'condensed' };

it('Roo sends the condensed version of a task, keeps its own messages, and shows them again after a rewind', async () => {
  await check((messages, view) => {
    const history = messages.map((message, index) => ({ ...message, ts: 1_000 + index }));
    const { messages: read } = readConversation(JSON.stringify(history), { path: 'api_conversation_history.json' });
    const shown = view.map((message, index) => (message === messages[index] ? (read[index] ?? message) : message));
    const rows = [{ ts: 1_000 + history.length, type: 'say', say: 'text', text: 'x' }];
    const made = renderCondensedTask({ history, rows }, read, shown, ROW);
    // Passes the history through JSON, because the agent reads it from a file.
    const written = JSON.parse(JSON.stringify(made.history)) as ApiMessage[];
    expect(said(selectEffectiveHistory(written))).toEqual(said(JSON.parse(JSON.stringify(view)) as unknown[]));
    expect(said(written.slice(0, history.length))).toEqual(said(JSON.parse(JSON.stringify(history)) as unknown[]));
    expect(written.slice(0, history.length).every((each) => each['condenseParent'] === ROW.condenseId)).toBe(true);
    const times = [...written.map(({ ts }) => ts), ...made.rows.slice(1).map((row) => (row as { ts: number }).ts)];
    expect(new Set(times).size).toBe(times.length);
    expect(made.rows.slice(0, rows.length)).toEqual(rows);
  });
});

it('Cline 4 uses the sidecar, adds later messages after it, and ignores it for another history', async () => {
  await check((messages, view) => {
    const stored = messages.map(({ role, content }, index) => ({
      id: `m${index}`,
      role,
      content: typeof content === 'string' ? [{ type: 'text', text: content }] : content,
      ts: index,
    }));
    const session = { version: 1, sessionId: 's', messages: stored };
    const sidecar = JSON.parse(
      JSON.stringify(createCompactionSidecar({ session, view, now: new Date(0) })),
    ) as typeof session;
    expect(said(applyCompactionSidecar(sidecar, session) ?? [])).toEqual(
      said(JSON.parse(JSON.stringify(view)) as unknown[]),
    );
    const late = { role: 'user', content: [{ type: 'text', text: 'late' }] };
    const grown = applyCompactionSidecar(sidecar, { ...session, messages: [...stored, late] });
    expect(grown?.slice(view.length)).toEqual([late]);
    const other = stored.map((each, index) => (index === 0 ? { ...each, content: [...each.content, late] } : each));
    expect(applyCompactionSidecar(sidecar, { ...session, messages: other })).toBeUndefined();
    expect(applyCompactionSidecar(sidecar, { ...session, messages: stored.slice(1) })).toBeUndefined();
  });
});

it('Claude Code resumes a given-back session with the condensed messages, whose records have new IDs and are linked', async () => {
  await check((_messages, view) => {
    let ids = 0;
    const newId = (): string => `00000000-0000-4000-8000-${String(ids++).padStart(12, '0')}`;
    const records = [{ cwd: '/w', version: '2.1.39', uuid: 'old' }];
    const text = renderClaudeSession({ sessionId: 's', title: 'T', view, records, now: new Date(0), newId });
    const [summary, customTitle, ...lines] = text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    const uuids = lines.map(({ uuid }) => uuid);
    expect(new Set(uuids).size).toBe(uuids.length);
    expect(lines.map(({ parentUuid }) => parentUuid)).toEqual([null, ...uuids.slice(0, -1)]);
    expect(summary).toMatchObject({ type: 'summary', summary: 'T', leafUuid: uuids.at(-1) });
    expect(customTitle).toEqual({ type: 'custom-title', customTitle: 'T', sessionId: 's' });
    expect(lines.every(({ cwd, sessionId }) => cwd === '/w' && sessionId === 's')).toBe(true);
    // Results are sorted like their calls, as the agent itself does. Reading and writing again
    // changes nothing more.
    const first = readConversation(text, { path: PATH }).messages;
    expect(blocksIn(first)).toEqual(blocksIn(view));
    const again = renderClaudeSession({ sessionId: 's', title: 'T', view: first, records, now: new Date(0), newId });
    expect(merged(readConversation(again, { path: PATH }).messages)).toEqual(merged(first));
  });
});
