import { describe, expect, it } from 'vitest';
import { inTemporaryFolder } from '../../test/support/inTemporaryFolder';
import { findMarkers } from '../core/messages/markers';
import { findNewViolations } from '../core/messages/firewall';
import { assistant, makeToolExchange, makeLines, user } from '../core/testing';
import { createModel, createTestBed, makeRead, makeReads, createRequest, type TestBed } from './testing';
import type { LiveId } from './request';

const json = (value: unknown): string => JSON.stringify(value);
const DUE = makeReads(27);
const SMALL = makeReads(8);

async function condensedBed(root: string, messages = DUE): Promise<TestBed & { readonly id: LiveId }> {
  const bed = createTestBed(root);
  const { conversation } = await bed.live.prepare(createRequest(messages));
  await bed.live.condenseNow(conversation, { provider: 'truncation', targetPercent: 40 });
  return { ...bed, id: conversation };
}

describe('condensing a running conversation manually', () => {
  it('takes effect with the next request, even below the threshold', () =>
    inTemporaryFolder(async (root) => {
      const { live, events } = createTestBed(root);
      const { conversation, tokens } = await live.prepare(createRequest(SMALL));
      const outcome = await live.condenseNow(conversation, { config: { preserveRecentCount: 2 } });
      expect(outcome?.kind).toBe('condensed');
      expect(events.find((event) => event.kind === 'condensed')?.decision.reason).toBe('by-hand');
      expect(live.active()?.tokens).toBeLessThan(tokens * 0.6);
      const next = await live.prepare(createRequest([...SMALL, assistant('done')]));
      expect(next.messages.slice(0, -1)).toEqual(live.view(conversation)?.messages.slice(0, -1));
      expect(next.tokens).toBeLessThan(tokens * 0.6);
    }));

  it('says why if nothing was condensed', () =>
    inTemporaryFolder(async (root) => {
      const { live } = createTestBed(root);
      const { conversation } = await live.prepare(createRequest([user('task')]));
      expect(await live.condenseNow(conversation)).toMatchObject({ kind: 'unchanged', reason: 'nothing-to-gain' });
      expect(await live.condenseNow('gone' as LiveId)).toBeUndefined();
    }));
});

describe('undoing a condensation of a running conversation', () => {
  it('restores the conversation byte for byte, and redo condenses it again, even after a restart', () =>
    inTemporaryFolder(async (root) => {
      const { live, id } = await condensedBed(root);
      const view = json(live.view(id)?.messages);
      expect(live.active()).toMatchObject({ canUndo: true, canRedo: false });
      while ((await live.undo(id)).kind === 'done');
      expect(live.active()).toMatchObject({ canUndo: false, canRedo: true });
      const small = { model: { ...createRequest(DUE).model, contextWindow: 400_000 } };
      const again = createTestBed(root);
      expect((await again.live.prepare(createRequest(DUE, small))).messages).toEqual(DUE);
      while ((await again.live.redo(id)).kind === 'done');
      expect(json((await again.live.prepare(createRequest(DUE, small))).messages)).toBe(view);
    }));

  it('stays in effect at the threshold until the conversation has grown, unless it is redone', () =>
    inTemporaryFolder(async (root) => {
      const { live } = createTestBed(root);
      const { conversation, edits } = await live.prepare(createRequest(DUE));
      expect(edits).not.toEqual([]);
      while ((await live.undo(conversation)).kind === 'done');
      const next = [...DUE, assistant('done'), user('And now?')];
      expect((await live.prepare(createRequest(next))).messages).toEqual(next);
      const grown = [...next, ...makeReads(32).slice(DUE.length)];
      expect((await live.prepare(createRequest(grown))).messages).not.toEqual(grown);

      const again = createTestBed(root);
      const { conversation: id } = await again.live.prepare(createRequest(next));
      while ((await again.live.undo(id)).kind === 'done');
      while ((await again.live.redo(id)).kind === 'done');
      expect((await again.live.prepare(createRequest(next))).messages).not.toEqual(next);
    }));

  it('stays in effect at the threshold after a restart too', () =>
    inTemporaryFolder(async (root) => {
      const { live } = createTestBed(root);
      const { conversation } = await live.prepare(createRequest(DUE));
      while ((await live.undo(conversation)).kind === 'done');
      const next = [...DUE, assistant('done'), user('And now?')];
      const again = createTestBed(root);
      expect((await again.live.prepare(createRequest(next))).messages).toEqual(next);
      const grown = [...next, ...makeReads(32).slice(DUE.length)];
      expect((await again.live.prepare(createRequest(grown))).messages).not.toEqual(grown);
    }));

  it('stays in effect at the threshold until the conversation has grown since the undo, despite any number of restarts', () =>
    inTemporaryFolder(async (root) => {
      const { live } = createTestBed(root);
      const model = createModel({ contextWindow: 200_000, threshold: { percent: 10 } });
      const { conversation } = await live.prepare(createRequest(DUE, { model }));
      while ((await live.undo(conversation)).kind === 'done');
      const isCondensed = async (count: number): Promise<boolean> => {
        const messages = makeReads(count);
        const sent = await createTestBed(root).live.prepare(createRequest(messages, { model }));
        return json(sent.messages) !== json(messages);
      };
      expect(await isCondensed(29)).toBe(false);
      expect(await isCondensed(30)).toBe(false);
      expect(await isCondensed(32)).toBe(true);
    }));

  it('stays in effect at the threshold if only an earlier one of several undone condensations is redone', () =>
    inTemporaryFolder(async (root) => {
      const { live } = createTestBed(root);
      const { conversation } = await live.prepare(
        createRequest(DUE, { model: createModel({ contextWindow: 400_000 }) }),
      );
      await live.condenseNow(conversation, { targetPercent: 80 });
      const view = json(live.view(conversation)?.messages);
      await live.condenseNow(conversation, { targetPercent: 50 });
      expect(json(live.view(conversation)?.messages)).not.toBe(view);
      while ((await live.undo(conversation)).kind === 'done');
      await live.redo(conversation);
      expect(live.active()?.canRedo).toBe(true);
      const low = createRequest(DUE, { model: createModel({ threshold: { percent: 40 } }) });
      expect(json((await live.prepare(low)).messages)).toBe(view);
      await live.redo(conversation);
      await live.undo(conversation);
      await live.redo(conversation);
      expect(json((await live.prepare(low)).messages)).not.toBe(view);
    }));

  it('reports if there is nothing to undo', () =>
    inTemporaryFolder(async (root) => {
      const { live } = createTestBed(root);
      const { conversation } = await live.prepare(createRequest(SMALL));
      expect(await live.undo(conversation)).toMatchObject({ kind: 'nothing' });
      expect(await live.redo(conversation)).toMatchObject({ kind: 'nothing' });
      expect(await live.undo('gone' as LiveId)).toMatchObject({ kind: 'nothing' });
      expect(live.view('gone' as LiveId)).toBeUndefined();
    }));

  it('skips condensations whose messages were removed', () =>
    inTemporaryFolder(async (root) => {
      const { live, id } = await condensedBed(root);
      await live.prepare(createRequest([...DUE.slice(0, 3), user('another way')]));
      expect(live.active()?.condensations).toHaveLength(0);
      expect((await live.undo(id)).kind).toBe('nothing');
    }));
});

describe('a single edit in a running conversation', () => {
  it('can be excluded and included again', () =>
    inTemporaryFolder(async (root) => {
      const { live, id } = await condensedBed(root);
      const before = live.view(id);
      const [edit] = before?.edits ?? [];
      await live.toggleEdit(id, edit!.id);
      const without = live.view(id);
      expect(without?.excluded).toEqual([edit]);
      expect(without?.edits).toHaveLength(before!.edits.length - 1);
      await live.toggleEdit(id, edit!.id);
      expect(json(live.view(id)?.messages)).toBe(json(before?.messages));
      expect(live.view(id)?.excluded).toEqual([]);
      expect((await live.toggleEdit(id, 'none' as never)).kind).toBe('nothing');
    }));

  it("that was excluded is listed at its message's current position, unless the message is gone or pinned", () =>
    inTemporaryFolder(async (root) => {
      const { live, id } = await condensedBed(root);
      const edits = live.view(id)!.edits.filter(({ kind }) => kind === 'cut');
      const edit = edits.at(-1);
      const message = edit?.kind === 'cut' ? edit.place.message : -1;
      await live.toggleEdit(id, edit!.id);
      const excluded = () => live.view(id)!.excluded;
      expect(excluded()).toEqual([edit]);
      await live.pin(id, message);
      expect(excluded()).toEqual([]);
      await live.unpin(id, message);
      expect(excluded()).toEqual([edit]);
      // The first exchange is missing now.
      await live.prepare(createRequest(DUE.toSpliced(2, 2)));
      expect(excluded()).toMatchObject([{ id: edit!.id, place: { message: message - 2 } }]);
      await live.prepare(createRequest(DUE.slice(0, message - 1)));
      expect(excluded()).toEqual([]);
    }));
});

describe('a pinned message of a running conversation', () => {
  it('stays unchanged, and gets back content that was removed from it', () =>
    inTemporaryFolder(async (root) => {
      const { live, id } = await condensedBed(root);
      const edit = live.view(id)!.edits.find(({ kind }) => kind === 'cut');
      const message = edit?.kind === 'cut' ? edit.place.message : -1;
      expect(live.view(id)!.messages[message]).not.toEqual(DUE[message]);
      expect((await live.pin(id, message)).kind).toBe('done');
      expect(live.view(id)!.messages[message]).toEqual(DUE[message]);
      expect(live.active()?.pinned).toEqual([message]);
      await live.condenseNow(id, { provider: 'truncation', targetPercent: 1 });
      expect(live.view(id)!.messages[message]).toEqual(DUE[message]);
      expect((await live.pin(id, message)).kind).toBe('nothing');
      expect((await live.unpin(id, message)).kind).toBe('done');
      expect((await live.unpin(id, message)).kind).toBe('nothing');
      await live.condenseNow(id, { provider: 'truncation', targetPercent: 1 });
      expect(live.view(id)!.messages[message]).not.toEqual(DUE[message]);
    }));

  it('stays unchanged by every condensation, including undone ones', () =>
    inTemporaryFolder(async (root) => {
      const { live } = createTestBed(root);
      const { conversation: id } = await live.prepare(createRequest(SMALL));
      const condense = (maxLines: number) =>
        live.condenseNow(id, {
          provider: 'truncation',
          config: { preserveRecentCount: 2, toolResults: { mode: 'truncate', maxLines } },
        });
      const at = (): unknown => live.view(id)!.messages[3];
      await condense(60);
      const once = at();
      await condense(30);
      const twice = at();
      await condense(10);
      await live.undo(id);
      expect(at()).toEqual(twice);
      expect(twice).not.toEqual(once);
      expect(once).not.toEqual(SMALL[3]);
      await live.pin(id, 3);
      expect(at()).toEqual(SMALL[3]);
      await live.redo(id);
      expect(at()).toEqual(SMALL[3]);
      expect(live.view(id)!.messages[5]).not.toEqual(SMALL[5]);
    }));

  it('is found at its new position', () =>
    inTemporaryFolder(async (root) => {
      const { live } = createTestBed(root);
      const { conversation } = await live.prepare(createRequest(SMALL));
      await live.pin(conversation, 9);
      await live.prepare(createRequest(SMALL.toSpliced(4, 2)));
      expect(live.active()?.pinned).toEqual([7]);
      await live.prepare(createRequest(SMALL.toSpliced(8, 2)));
      expect(live.active()?.pinned).toEqual([]);
    }));

  it("is reported if it doesn't exist", () =>
    inTemporaryFolder(async (root) => {
      const { live, id } = await condensedBed(root);
      expect(await live.pin(id, 1_000)).toMatchObject({ kind: 'nothing' });
    }));
});

describe('a reference in a running conversation', () => {
  /**
   * Two reads of one file have this text. The older one refers to the newer one, which comes
   * later.
   */
  const TEXT = makeLines('shared', 120);
  const twice = [
    ...SMALL,
    ...makeToolExchange('first', 'Read', { file_path: '/src/shared.ts' }, TEXT),
    ...makeRead('between'),
    ...makeToolExchange('second', 'Read', { file_path: '/src/shared.ts' }, TEXT),
    assistant('Both were read.'),
  ];

  it('is replaced with its text for good if the copy that it refers to was rolled back', () =>
    inTemporaryFolder(async (root) => {
      const { live } = createTestBed(root, { settings: { provider: 'lossless' } });
      const { conversation } = await live.prepare(createRequest(twice));
      await live.condenseNow(conversation, { targetPercent: 1 });
      const kept = live.view(conversation)!.messages;
      expect(findMarkers(json(kept[SMALL.length + 1]))).toHaveLength(1);
      const back = twice.slice(0, SMALL.length + 4);
      const rolled = await live.prepare(createRequest(back));
      expect(json(rolled.messages)).toContain('shared line 119');
      expect(findMarkers(json(rolled.messages))).toHaveLength(0);
      expect(findNewViolations(back, rolled.messages)).toEqual([]);
      const restarted = await createTestBed(root, { settings: { provider: 'lossless' } }).live.prepare(
        createRequest(back),
      );
      expect(json(restarted.messages)).toBe(json(rolled.messages));
      // Nobody asked for this change, so it can't be undone alone.
      expect(live.active()?.condensations).toHaveLength(1);
    }));

  it('stays valid if the copy that it refers to was restored by another undo or exclusion', () =>
    inTemporaryFolder(async (root) => {
      const { live } = createTestBed(root, { settings: { provider: 'lossless' } });
      const { conversation } = await live.prepare(createRequest(twice));
      await live.condenseNow(conversation, { targetPercent: 1 });
      await live.prepare(createRequest(twice.slice(0, SMALL.length + 4)));
      expect((await live.undo(conversation)).kind).toBe('done');
      expect(live.view(conversation)!.messages).toEqual(twice.slice(0, SMALL.length + 4));
      expect((await live.redo(conversation)).kind).toBe('done');
      expect(json(live.view(conversation)!.messages)).toContain('shared line 119');
      expect((await live.redo(conversation)).kind).toBe('nothing');
    }));
});
