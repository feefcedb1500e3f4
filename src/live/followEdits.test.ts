import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { inTemporaryFolder } from '../../test/support/inTemporaryFolder';
import { until } from '../../test/support/until';
import { createNativeProvider } from '../core/condense';
import { selectSummarizer } from '../core/condense/summarizer';
import { createTestSummarizer } from '../core/condense/summary/testing';
import { findNewViolations } from '../core/messages/firewall';
import { assistant, result, user } from '../core/testing';
import { listLedgers, openLedger } from '../storage/ledgerStore';
import { nodeFiles } from '../storage/nodeFiles';
import { makeCondensedEntry, makeOriginals } from '../storage/testing';
import { createTestBed, makeReads, createRequest, type TestBed } from './testing';
import type { LiveId } from './request';

const json = (value: unknown): string => JSON.stringify(value);
const WORDS = 'All of it was read.';
const SMALL = makeReads(8);

async function summarized(root: string): Promise<TestBed & { readonly id: LiveId }> {
  const summarizer = createTestSummarizer([`## Goal\n${WORDS}`]);
  const bed = createTestBed(root, {
    providers: [createNativeProvider({ select: () => selectSummarizer({ condensing: summarizer }) })],
  });
  const { conversation } = await bed.live.prepare(createRequest(SMALL));
  await bed.live.condenseNow(conversation, { provider: 'native' });
  expect(json(bed.live.view(conversation)?.messages)).toContain(WORDS);
  return { ...bed, id: conversation };
}

describe('a summary in a conversation that changes', () => {
  it('stays if one of its messages is rewritten, even after a restart, and can be undone', () =>
    inTemporaryFolder(async (root) => {
      const { live, id } = await summarized(root);
      const before = json(live.view(id)?.messages);
      const changed = SMALL.with(5, user(result('call-f1', '[Image was previously shown to you.]')));
      expect(json((await live.prepare(createRequest(changed))).messages)).toBe(before);
      const again = createTestBed(root).live;
      expect(json((await again.prepare(createRequest(changed))).messages)).toBe(before);
      expect((await again.undo(id)).kind).toBe('done');
      expect(again.view(id)?.messages).toEqual(changed);
    }));

  it('stays if one of its messages is lost', () =>
    inTemporaryFolder(async (root) => {
      const { live, id } = await summarized(root);
      const before = json(live.view(id)?.messages);
      const lost = SMALL.toSpliced(6, 2);
      const { messages } = await live.prepare(createRequest(lost));
      expect(json(messages)).toBe(before);
      expect(findNewViolations(lost, messages, { origins: live.view(id)!.origins })).toEqual([]);
    }));

  it('is dropped if the conversation diverged inside its range', () =>
    inTemporaryFolder(async (root) => {
      const { live } = await summarized(root);
      const back = [...SMALL.slice(0, 6), user('another way')];
      expect((await live.prepare(createRequest(back))).messages).toEqual(back);
      const inserted = SMALL.toSpliced(6, 0, assistant('and'), user('something new'));
      expect((await live.prepare(createRequest(inserted))).messages).toEqual(inserted);
      const headless = SMALL.toSpliced(2, 2);
      expect((await live.prepare(createRequest(headless))).messages).toEqual(headless);
    }));

  it('prevents its messages from being pinned until it is undone', () =>
    inTemporaryFolder(async (root) => {
      const { live, id } = await summarized(root);
      const pinned = await live.pin(id, 4);
      expect(pinned.kind).toBe('nothing');
      expect(pinned.detail).toContain('summary');
    }));
});

describe('the running conversations that a program keeps', () => {
  it('are kept in memory up to a limit and reloaded from disk', () =>
    inTemporaryFolder(async (root) => {
      const { live, id } = await summarized(root);
      for (let other = 0; other < 25; other++)
        await live.prepare(createRequest(SMALL, { conversationId: `other ${other}` }));
      expect(live.list()).toHaveLength(20);
      expect(live.view(id)).toBeUndefined();
      expect(json((await live.prepare(createRequest(SMALL))).messages)).toContain(WORDS);
    }));

  it("continue without the record of condensations if it can't be read, which is reported", () =>
    inTemporaryFolder(async (root) => {
      const { live, id } = await summarized(root);
      live.dispose();
      const [ledger] = await listLedgers(root);
      writeFileSync(`${ledger!.folder}/about.json`, json({ version: 99, id }));
      const { live: newer, events } = createTestBed(root);
      expect((await newer.prepare(createRequest(SMALL))).messages).toEqual(SMALL);
      expect(events.find((event) => event.kind === 'problem')?.message).toContain('newer version');
      const outcome = await newer.condenseNow(id, { provider: 'truncation', config: { preserveRecentCount: 2 } });
      expect(outcome?.kind).toBe('condensed');
    }));

  it('have their records of condensations archived if unused for a month, which is reported', () =>
    inTemporaryFolder(async (root) => {
      mkdirSync(`${root}/${'0'.repeat(32)}`);
      await summarized(root);
      // Removes the files that mark ledgers as used by a running process, as if that process had
      // ended.
      for (const { folder } of await listLedgers(root)) {
        for (const name of readdirSync(folder)) if (name.startsWith('held-')) rmSync(join(folder, name));
      }
      const later = {
        now: () => Date.now() + 40 * 24 * 3_600_000,
        after: () => () => undefined,
        sleep: () => Promise.resolve(),
      };
      // Another window has condensed since. Otherwise only the clock would say how old the ledgers
      // are.
      const since = await openLedger(root, { id: 'used since' });
      await since.append(makeCondensedEntry('c1', ['one']), makeOriginals(['one']));
      for (const name of readdirSync(since.folder)) await nodeFiles.touch(join(since.folder, name), later.now());
      const { live } = createTestBed(root, { clock: later });
      const told: string[] = [];
      live.on((event) => {
        if (event.kind === 'pruned') told.push(event.message);
      });
      await live.prepare(createRequest(SMALL, { conversationId: 'other' }));
      await until(() => Promise.resolve(told.length > 0));
      expect(told).toEqual([expect.stringContaining('1 ledger not used lately was set aside')]);
      expect(readdirSync(root).filter((name) => name.includes('.aside-'))).toHaveLength(1);
    }));
});
