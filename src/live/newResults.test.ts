/** New results are condensed before they are first sent. */
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { FOLDER_MARKER_FILE_NAME } from '../storage/ownFolder';
import { inTemporaryFolder } from '../../test/support/inTemporaryFolder';
import { isNewResultsCondensation } from '../core/condense/ledger/ledger';
import { findCutsWithBrokenReferences } from '../core/condense/lossless/integrity';
import { getBlocks } from '../core/messages/blocks';
import { findMarkers } from '../core/messages/markers';
import { getValueAt } from '../core/messages/path';
import type { ApiMessage } from '../core/messages/types';
import { makeToolExchange, makeLines, user } from '../core/testing';
import type { LiveConversations } from './liveConversations';
import type { LiveSettings } from './types';
import type { PreparedRequest } from './request';
import { createCounter } from '../core/testingCounter';
import { readLedger } from '../storage/ledgerStore';
import { nodeFiles } from '../storage/nodeFiles';
import type { OpenFile, OpenMode } from '../storage/files';
import { LiveConversation } from './liveConversation';
import { DUE_MESSAGES, stringify, createTestBed, countMarkers as marked, createRequest, createModel } from './testing';

const SHOWN = makeLines('a', 60);
const part = (from: number, to: number): string => SHOWN.split('\n').slice(from, to).join('\n');
const readA = (id: string, text: string): ApiMessage[] =>
  makeToolExchange(id, 'Read', { file_path: '/src/a.ts', part: id }, text);
const TASK = user('Look at the files');
const FIRST = [TASK, ...readA('1', SHOWN)];
const SECOND = [...FIRST, ...readA('2', part(10, 50))];
const THIRD = [...SECOND, ...makeToolExchange('3', 'Bash', { command: 'date' }, 'Monday')];

/** Sends longer and longer beginnings of a conversation, as an agent does. */
async function sendAll(live: LiveConversations, upTo: readonly ApiMessage[]): Promise<PreparedRequest> {
  let prepared: PreparedRequest | undefined;
  for (let end = 1; end <= upTo.length; end += 2) prepared = await live.prepare(createRequest(upTo.slice(0, end)));
  if (!prepared) throw new Error('nothing was sent');
  return prepared;
}

describe('a single new result that is too large', () => {
  const HUGE = makeLines('log', 40_000).replace('log line 20000 ', 'Error: log line 20000 ');
  const sent = [...FIRST, ...makeToolExchange('big', 'Bash', { command: 'make' }, HUGE)];
  const model = createModel({ contextWindow: 200_000 });

  it('is shortened before it is sent, so that the request fits, earlier messages stay, and all can be recalled', () =>
    inTemporaryFolder(async (root) => {
      const { live } = createTestBed(root);
      expect(createCounter().countText(HUGE)).toBeGreaterThan(300_000);
      const first = await live.prepare(createRequest(FIRST, { model, canRecall: true }));
      const prepared = await live.prepare(createRequest(sent, { model, canRecall: true }));
      expect(prepared.outcome).toBeUndefined();
      expect(prepared.tokens).toBeLessThan(20_000);
      expect(stringify(prepared.messages.slice(0, 3))).toBe(stringify(first.messages));
      const seen = getValueAt(prepared.messages[4], ['content', 0, 'content']) as string;
      // The result is cut between lines, and its beginning, end and error stay.
      const whole = new Set(HUGE.split('\n'));
      for (const line of seen.split('\n')) expect(whole.has(line) || findMarkers(line).length > 0).toBe(true);
      for (const kept of ['log line 0 with', 'log line 39999 with', 'Error: log line 20000 with'])
        expect(seen).toContain(kept);
      const [marked, second] = findMarkers(seen);
      const text = `${HUGE}\n`;
      for (const found of [marked!, second!]) {
        const { text: recalled } = await live.recall(prepared.conversation, {
          references: [found.reference],
          fromLine: 3,
          toLine: 5,
        });
        const body = recalled.split('\n').slice(1).join('\n');
        expect(body.split('\n')).toHaveLength(3);
        expect(text).toContain(`${body}\n`);
      }
      const { text: searched } = await live.recall(prepared.conversation, { words: 'line 12345 some' });
      expect(searched).toContain('log line 12345 with some words in it');
    }));

  it('is shortened without a recall tool only if the request would not fit', () =>
    inTemporaryFolder(async (root) => {
      const { live } = createTestBed(root);
      const wide = createModel({ contextWindow: 1_000_000 });
      await live.prepare(createRequest(FIRST, { model: wide }));
      expect(stringify((await live.prepare(createRequest(sent, { model: wide }))).messages)).toBe(stringify(sent));
      const other = createTestBed(`${root}/other`).live;
      await other.prepare(createRequest(FIRST, { model }));
      expect((await other.prepare(createRequest(sent, { model }))).tokens).toBeLessThan(20_000);
    }));

  it('stays whole if the agent recalled it', () =>
    inTemporaryFolder(async (root) => {
      const { live } = createTestBed(root);
      const small = createModel({ contextWindow: 64_000 });
      const recalled = `[ref abcdef: result of Bash make, message 3, lines 1 to 2400 of 40000]\n${makeLines('log', 2_400)}`;
      expect(createCounter().countText(recalled)).toBeGreaterThan(20_000);
      const asked = [
        ...FIRST,
        ...makeToolExchange('2', 'contextCondenser_recall', { references: ['abcdef'], maxTokens: 20_000 }, recalled),
      ];
      await live.prepare(createRequest(FIRST, { model: small, canRecall: true }));
      const { messages } = await live.prepare(createRequest(asked, { model: small, canRecall: true }));
      expect(stringify(messages)).toBe(stringify(asked));
    }));

  it('stays whole if shortening is off and it fits', () =>
    inTemporaryFolder(async (root) => {
      const { live } = createTestBed(root, { settings: { largeResultPercent: 0 } });
      const wide = createModel({ contextWindow: 1_000_000 });
      const prepared = await live.prepare(createRequest(sent, { model: wide, canRecall: true }));
      expect(stringify(prepared.messages)).toBe(stringify(sent));
    }));
});

describe('a new result that repeats earlier content', () => {
  it('is sent as a reference, and earlier messages stay byte for byte, even after a restart', () =>
    inTemporaryFolder(async (root) => {
      const { live } = createTestBed(root);
      const first = await sendAll(live, FIRST);
      const second = await live.prepare(createRequest(SECOND));
      expect(stringify(second.messages.slice(0, first.messages.length))).toBe(stringify(first.messages));
      expect(marked(second.messages)).toBe(1);
      expect(live.active()).toMatchObject({ condensations: [], newResults: { results: 1 } });
      await live.waitUntilSettled();
      const third = await createTestBed(root).live.prepare(createRequest(THIRD));
      expect(stringify(third.messages.slice(0, second.messages.length))).toBe(stringify(second.messages));
    }));

  it('is condensed without waiting for the disk, can be recalled meanwhile, and costs only a cache miss after a crash', () =>
    inTemporaryFolder(async (root) => {
      const never = {
        ...nodeFiles,
        open: (path: string, mode: OpenMode) =>
          mode === 'append' ? new Promise<OpenFile>(() => undefined) : nodeFiles.open(path, mode),
      };
      const { live } = createTestBed(root, { storage: { files: never } });
      const { conversation, messages } = await sendAll(live, SECOND);
      const [found] = findMarkers(stringify(messages));
      expect((await live.recall(conversation, { references: [found!.reference] })).text).toContain(part(10, 50));
      expect(live.active()).toMatchObject({ newResults: { results: 1 } });
      const third = await createTestBed(root).live.prepare(createRequest(THIRD));
      expect(stringify(third.messages)).toBe(stringify(THIRD));
    }));

  it('is kept in memory while the disk is full, which is reported once', () =>
    inTemporaryFolder(async (root) => {
      let isFull = true;
      const files = {
        ...nodeFiles,
        makeFolder: (path: string) =>
          isFull
            ? Promise.reject(Object.assign(new Error('ENOSPC: no space left'), { code: 'ENOSPC' }))
            : nodeFiles.makeFolder(path),
      };
      const { live, events } = createTestBed(root, { storage: { files } });
      const twice = (name: string): ApiMessage[] =>
        [60, 40].flatMap((count) =>
          makeToolExchange(
            `${name}${count}`,
            'Read',
            { file_path: `/src/${name}.ts`, limit: count },
            makeLines(name, count),
          ),
        );
      const again = [...SECOND, ...twice('b')];
      const second = await sendAll(live, SECOND);
      await live.waitUntilSettled();
      await live.prepare(createRequest(again.slice(0, -2)));
      await live.prepare(createRequest(again));
      await live.waitUntilSettled();
      expect(events.filter(({ kind }) => kind === 'problem')).toHaveLength(1);
      isFull = false;
      const last = [...again, ...twice('c')];
      const prepared = await live.prepare(createRequest(last));
      expect(marked(prepared.messages)).toBe(3);
      expect(stringify(prepared.messages.slice(0, second.messages.length))).toBe(stringify(second.messages));
      await live.waitUntilSettled();
      const restarted = await createTestBed(root).live.prepare(createRequest([...last, ...THIRD.slice(-2)]));
      expect(stringify(restarted.messages.slice(0, prepared.messages.length))).toBe(stringify(prepared.messages));
    }));

  it('is sent whole if condensing new results is off', () =>
    inTemporaryFolder(async (root) => {
      const { live } = createTestBed(root, { settings: { newResults: 'off' } });
      expect(stringify((await sendAll(live, SECOND)).messages)).toBe(stringify(SECOND));
    }));

  it('stays whole if another program has sent it whole', () =>
    inTemporaryFolder(async (root) => {
      await sendAll(createTestBed(root, { settings: { newResults: 'off' } }).live, SECOND);
      const third = await createTestBed(root).live.prepare(createRequest(THIRD));
      expect(stringify(third.messages)).toBe(stringify(THIRD));
    }));

  it('can be recalled, even from another process, and its marker is never written to a file', () =>
    inTemporaryFolder(async (root) => {
      const { live } = createTestBed(root);
      const { conversation, messages } = await sendAll(live, SECOND);
      const [found] = findMarkers(stringify(messages));
      if (!found) throw new Error('no marker');
      const { reference } = found;
      const recalled = await live.recall(conversation, { references: [reference] });
      expect(recalled.text).toContain(part(10, 50));
      await live.waitUntilSettled();
      const restarted = createTestBed(root).live;
      await restarted.prepare(createRequest(THIRD));
      expect((await restarted.recall(undefined, { references: [reference] })).text).toContain(part(10, 50));
      const content = stringify(messages).slice(found.start, found.end);
      expect(await live.expandMarkers(conversation, { content })).toEqual({ input: { content: part(10, 50) } });
    }));

  it('is sent whole if it is an answer of the recall tool', () =>
    inTemporaryFolder(async (root) => {
      const { live } = createTestBed(root);
      const recalled = `[ref abcdef: result of Read /src/a.ts, message 3, lines 11 to 50 of 60]\n${part(10, 50)}`;
      const asked = [
        ...FIRST,
        ...makeToolExchange('2', 'mcp__context-condenser__recall', { references: ['abcdef'] }, recalled),
      ];
      const { messages } = await sendAll(live, asked);
      expect(stringify(messages)).toBe(stringify(asked));
    }));

  it('is sent whole if it is an answer of the recall tool wrapped by Codex', () =>
    inTemporaryFolder(async (root) => {
      const { live } = createTestBed(root);
      const text = `[ref abcdef: result of Read /src/a.ts, message 3, lines 11 to 50 of 60]\n${part(10, 50)}`;
      const plain = `Wall time: 0.0021 seconds\nOutput:\n${text}`;
      const wrapped = `Wall time: 0.0021 seconds\nOutput:\n${JSON.stringify([{ type: 'text', text }])}`;
      const call = 'mcp__context-condenser__recall';
      const asked = [
        ...FIRST,
        ...makeToolExchange('2', call, { references: ['abcdef'] }, plain),
        ...makeToolExchange('3', call, { references: ['abcdef'], fromLine: 1 }, wrapped),
      ];
      const { messages } = await sendAll(live, asked);
      expect(stringify(messages)).toBe(stringify(asked));
    }));

  it('is sent whole after the agent read it again, which is counted even after a restart', () =>
    inTemporaryFolder(async (root) => {
      const { live } = createTestBed(root);
      await sendAll(live, SECOND);
      expect(live.active()?.newResults).toMatchObject({ results: 1, rereads: 0 });
      const again = [...SECOND, ...readA('again', part(11, 49))];
      const { messages } = await live.prepare(createRequest(again));
      expect(stringify(messages.slice(-1))).toBe(stringify(again.slice(-1)));
      const counted = { results: 1, rereads: 1 };
      expect(live.active()?.newResults).toMatchObject(counted);
      await live.prepare(createRequest(again));
      await live.prepare(createRequest([...again, ...readA('4', part(5, 55))]));
      expect(live.active()?.newResults).toMatchObject(counted);
      await live.waitUntilSettled();
      const restarted = createTestBed(root).live;
      await restarted.prepare(createRequest(again));
      expect(restarted.active()?.newResults).toMatchObject(counted);
    }));

  it('does not count as shortened if the agent read it again after a condensation', () =>
    inTemporaryFolder(async (root) => {
      const bed = createTestBed(root, { settings: { newResults: 'off' } });
      const { conversation } = await sendAll(bed.live, FIRST);
      const config = { preserveRecentCount: 0, toolResults: { mode: 'suppress' } };
      const outcome = await bed.live.condenseNow(conversation, { provider: 'truncation', config, targetPercent: 1 });
      expect(outcome?.kind).toBe('condensed');
      bed.settings = { ...bed.settings, newResults: 'lossless' };
      const again = [...FIRST, ...readA('2', part(11, 49))];
      expect(stringify((await bed.live.prepare(createRequest(again))).messages.slice(-1))).toBe(
        stringify(again.slice(-1)),
      );
      expect(bed.live.active()?.newResults).toEqual({ results: 0, tokens: 0, rereads: 1 });
      await bed.live.waitUntilSettled();
      const folder = readdirSync(root).find((name) => name !== FOLDER_MARKER_FILE_NAME) ?? '';
      const { condensations } = await readLedger(join(root, folder));
      expect(condensations.find(isNewResultsCondensation)).toMatchObject({
        tokensBefore: 0,
        tokensAfter: 0,
        rereads: 1,
      });
      const restarted = createTestBed(root).live;
      await restarted.prepare(createRequest(again));
      expect(restarted.active()?.newResults).toEqual({ results: 0, tokens: 0, rereads: 1 });
    }));

  it('is counted once if its request is shortened a second time to fit', () =>
    inTemporaryFolder(async (root) => {
      const { live } = createTestBed(root);
      const model = createModel({ contextWindow: 200_000 });
      const [call, result] = readA('again', part(11, 49));
      const huge = makeLines('log', 40_000);
      const [bigCall, bigResult] = makeToolExchange('big', 'Bash', { command: 'make' }, `${SHOWN}\n${huge}`);
      const both = (a: ApiMessage, b: ApiMessage): ApiMessage => ({
        ...a,
        content: [...getBlocks(a), ...getBlocks(b)],
      });
      const again = [...SECOND, both(call!, bigCall!), both(result!, bigResult!)];
      await sendAll(live, SECOND);
      const before = live.active()!.newResults!.tokens;
      const { tokens, messages } = await live.prepare(createRequest(again, { model }));
      expect(tokens).toBeLessThan(20_000);
      expect(live.active()?.newResults).toMatchObject({ results: 2, rereads: 1 });
      await live.waitUntilSettled();
      const folder = readdirSync(root).find((name) => name !== FOLDER_MARKER_FILE_NAME) ?? '';
      const { condensations } = await readLedger(join(root, folder));
      const { tokensBefore, tokensAfter } = condensations[0]!;
      const counter = createCounter();
      const changed = [SECOND[4]!, again[6]!];
      expect(tokensBefore).toBe(counter.countMessages(changed));
      expect(tokensAfter).toBe(counter.countMessages([messages[4]!, messages[6]!]));
      expect(live.active()!.newResults!.tokens).toBeGreaterThan(before);
    }));

  it('of a user-defined tool refers to the file, even after a condensation', () =>
    inTemporaryFolder(async (root) => {
      const tools = { acme_show: { kind: 'read', path: ['what'] } };
      const numbered = (from: number, to: number): string =>
        SHOWN.split('\n')
          .map((line, at) => `${String(at + 1).padStart(6)}\t${line}`)
          .slice(from, to)
          .join('\n');
      const acme = (id: string, from: number, to: number): ApiMessage[] =>
        makeToolExchange(id, 'acme_show', { what: '/src/a.ts', part: id }, numbered(from, to));
      const log = makeToolExchange('0', 'Bash', { command: 'make' }, makeLines('log', 200));
      const turns = [TASK, ...log, ...acme('1', 0, 60), ...acme('2', 10, 50)];
      const seenBy = async (settings: Partial<LiveSettings>, folder: string): Promise<string> => {
        const { live } = createTestBed(join(root, folder), { settings: { provider: 'truncation', ...settings } });
        const { conversation } = await sendAll(live, turns);
        const config = { preserveRecentCount: 4, toolResults: { mode: 'suppress' } };
        const outcome = await live.condenseNow(conversation, { provider: 'truncation', config, targetPercent: 1 });
        expect(outcome?.kind).toBe('condensed');
        return stringify(live.view(conversation)?.messages);
      };
      const known = 'lines 11-50, shown above';
      const own = await seenBy({ configs: { lossless: { tools } } }, 'own');
      expect(own).toContain(known);
      expect(await seenBy({}, 'none')).not.toContain(known);
    }));

  it('stays shortened on a branch that the conversation returns to', () =>
    inTemporaryFolder(async (root) => {
      const { live } = createTestBed(root);
      await sendAll(live, SECOND);
      const other = [...FIRST, ...readA('other', part(5, 55))];
      expect(marked((await live.prepare(createRequest(other))).messages)).toBe(1);
      expect(marked((await live.prepare(createRequest(THIRD))).messages)).toBe(1);
      await live.waitUntilSettled();
      expect(marked((await createTestBed(root).live.prepare(createRequest(THIRD))).messages)).toBe(1);
    }));

  it('does not prevent condensing the request if storing it fails', () =>
    inTemporaryFolder(async (root) => {
      const { live } = createTestBed(root);
      const broken = vi.spyOn(LiveConversation.prototype, 'newResults', 'get').mockImplementation(() => {
        throw new Error('broken');
      });
      const prepared = await live.prepare(createRequest(DUE_MESSAGES));
      broken.mockRestore();
      expect(prepared.outcome?.kind).toBe('condensed');
      expect(prepared.notes.join()).toContain('broken');
    }));

  it('is restored by the last undo and condensed by the first redo, and can be excluded alone', () =>
    inTemporaryFolder(async (root) => {
      const { live } = createTestBed(root, { settings: { provider: 'lossless' } });
      const { conversation } = await sendAll(live, SECOND);
      const config = { preserveRecentCount: 0, toolResults: { mode: 'suppress' } };
      await live.condenseNow(conversation, { provider: 'truncation', config, targetPercent: 1 });
      expect((await live.undo(conversation)).detail).toMatch(/^Undone\. The conversation is not condensed again/);
      expect(live.active()?.newResults).toBeDefined();
      expect(await live.undo(conversation)).toMatchObject({ kind: 'done' });
      expect(stringify((await live.prepare(createRequest(SECOND))).messages)).toBe(stringify(SECOND));
      // A user who undid the condensing of new results wants them whole.
      const more = [...THIRD, ...readA('4', part(5, 55))];
      expect(stringify((await live.prepare(createRequest(more))).messages)).toBe(stringify(more));
      expect((await live.redo(conversation)).detail).toContain('Brought back');
      expect(marked((await live.prepare(createRequest(more))).messages)).toBe(1);
      const [edit] = live.view(conversation)?.edits ?? [];
      await live.toggleEdit(conversation, edit!.id);
      expect(stringify((await live.prepare(createRequest(more))).messages)).toBe(stringify(more));
    }));

  it('is restored if a condensation removes the other copy of its content', () =>
    inTemporaryFolder(async (root) => {
      const { live } = createTestBed(root);
      const { conversation } = await sendAll(live, THIRD);
      const config = { preserveRecentCount: 4, toolResults: { mode: 'suppress' } };
      await live.condenseNow(conversation, { provider: 'truncation', config, targetPercent: 1 });
      const { original, messages: view, edits } = live.view(conversation)!;
      expect(
        findCutsWithBrokenReferences(
          original,
          view,
          edits.filter((edit) => edit.kind === 'cut'),
        ),
      ).toEqual([]);
      const seen = stringify(view);
      for (const line of part(10, 50).split('\n')) expect(seen).toContain(line);
    }));

  it("does not prevent the agent's repeated reads from being counted after a condensation", () =>
    inTemporaryFolder(async (root) => {
      const { live } = createTestBed(root);
      const { conversation } = await sendAll(live, THIRD);
      const config = { preserveRecentCount: 0, toolResults: { mode: 'suppress' } };
      await live.condenseNow(conversation, { provider: 'truncation', config, targetPercent: 1 });
      await live.prepare(createRequest([...THIRD, ...readA('4', SHOWN)]));
      expect(live.active()?.condensations[0]?.use).toMatchObject({ turns: 1, rereads: 1 });
    }));

  it('is restored if the agent rewrote the other copy of its content', () =>
    inTemporaryFolder(async (root) => {
      const { live } = createTestBed(root);
      await sendAll(live, SECOND);
      const rewritten = [TASK, ...readA('1', '[Old tool result content cleared]'), ...THIRD.slice(3)];
      const { messages } = await live.prepare(createRequest(rewritten));
      expect(stringify(messages)).toBe(stringify(rewritten));
    }));

  it('adds only itself to the ledger, however long the conversation is', () =>
    inTemporaryFolder(async (root) => {
      const { live } = createTestBed(root);
      const turns = Array.from({ length: 40 }, (_, at) =>
        makeToolExchange(`c${at}`, 'Bash', { command: `make ${at}` }, makeLines('log', 30)),
      );
      await sendAll(live, [TASK, ...turns.flat()]);
      await live.waitUntilSettled();
      const folder = readdirSync(root).find((name) => name !== FOLDER_MARKER_FILE_NAME) ?? '';
      const entries = readFileSync(join(root, folder, 'ledger.jsonl'), 'utf8')
        .trimEnd()
        .split('\n');
      expect(entries).toHaveLength(39);
      expect(entries.at(-1)!.length).toBeLessThan(1.1 * entries[1]!.length);
    }));
});

it('a new result that was restored or pinned stays whole if the program restarts before the answer', () =>
  inTemporaryFolder(async (root) => {
    for (const how of ['toggle', 'pin'] as const) {
      const folder = join(root, how);
      const { live } = createTestBed(folder);
      const { conversation, messages } = await sendAll(live, SECOND);
      expect(marked(messages)).toBe(1);
      const { edits } = live.view(conversation)!;
      const done = await (how === 'pin' ? live.pin(conversation, 4) : live.toggleEdit(conversation, edits[0]!.id));
      expect(done.kind).toBe('done');
      expect((await live.prepare(createRequest(SECOND))).messages).toEqual(SECOND);
      await live.waitUntilSettled();
      expect((await createTestBed(folder).live.prepare(createRequest(SECOND))).messages).toEqual(SECOND);
    }
  }));

it('a new result that was pinned is not shortened if the program restarts before the answer', () =>
  inTemporaryFolder(async (root) => {
    const off = createTestBed(root, { settings: { newResults: 'off' } }).live;
    const { conversation } = await sendAll(off, SECOND);
    await off.pin(conversation, 4);
    expect((await createTestBed(root).live.prepare(createRequest(SECOND))).messages).toEqual(SECOND);
  }));
