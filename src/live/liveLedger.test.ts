import { describe, expect, it } from 'vitest';
import { inTemporaryFolder } from '../../test/support/inTemporaryFolder';
import { findMarkers } from '../core/messages/markers';
import { nodeFiles } from '../storage/nodeFiles';
import { DUE_MESSAGES, stringify, createTestBed, makeReads, createRequest } from './testing';

describe('condensing while the disk is full', () => {
  const full = {
    ...nodeFiles,
    makeFolder: () => Promise.reject(Object.assign(new Error('ENOSPC: no space left'), { code: 'ENOSPC' })),
  };

  it('removes nothing while the request fits', () =>
    inTemporaryFolder(async (root) => {
      const { live, events } = createTestBed(root, { storage: { files: full } });
      const prepared = await live.prepare(createRequest(DUE_MESSAGES));
      expect(prepared.messages).toEqual(DUE_MESSAGES);
      expect(prepared.outcome?.kind).toBe('failed');
      expect(events.some((event) => event.kind === 'problem')).toBe(true);
    }));

  it('keeps removals in memory if they are required, where they can be recalled and undone', () =>
    inTemporaryFolder(async (root) => {
      const { live } = createTestBed(root, { storage: { files: full } });
      const long = makeReads(60);
      const prepared = await live.prepare(createRequest(long));
      expect(prepared.tokens).toBeLessThanOrEqual(32_000);
      const [marker] = findMarkers(stringify(prepared.messages));
      const recalled = await live.recall(prepared.conversation, { references: [marker!.reference] });
      expect(recalled.kind).toBe('found');
      expect((await live.undo(prepared.conversation)).kind).toBe('done');
      expect(live.view(prepared.conversation)?.messages).toEqual(long);
    }));
});
