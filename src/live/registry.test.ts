import { describe, expect, it } from 'vitest';
import { inTemporaryFolder } from '../../test/support/inTemporaryFolder';
import type { ApiMessage } from '../core/messages/types';
import { assistant, result, user } from '../core/testing';
import { DUE, json, liveBed, read, request, SMALL } from './testing';
import type { AgentRequest } from './request';

describe('a conversation', () => {
  it('is known by its id and its task: a subagent is another one', () =>
    inTemporaryFolder(async (root) => {
      const { live } = liveBed(root);
      const parent = await live.prepare(request(SMALL));
      const [environment] = SMALL;
      const child = await live.prepare(request([environment!, user('Search for x')]));
      expect(child.conversation).not.toBe(parent.conversation);
      const other = await live.prepare(request(SMALL, { conversationId: 'c2' }));
      expect(other.conversation).not.toBe(parent.conversation);
      expect((await live.prepare(request([...SMALL, assistant('done')]))).conversation).toBe(parent.conversation);
      expect(live.list()).toHaveLength(3);
    }));

  it('without an id is known by its beginning', () =>
    inTemporaryFolder(async (root) => {
      const { live } = liveBed(root);
      const first = await live.prepare(withoutId(request(SMALL)));
      const more = withoutId(request([...SMALL, ...read('more')]));
      expect((await live.prepare(more)).conversation).toBe(first.conversation);
    }));

  it('whose first turn was cancelled is still the same', () =>
    inTemporaryFolder(async (root) => {
      const { live } = liveBed(root);
      const [environment, task] = SMALL as [ApiMessage, ApiMessage];
      const first = await live.prepare(request([environment, task]));
      const second = await live.prepare(request([environment, task, user('again'), assistant('yes')]));
      expect(second.conversation).toBe(first.conversation);
    }));

  it('comes back after a restart with its edits, byte for byte', () =>
    inTemporaryFolder(async (root) => {
      const before = await liveBed(root).live.prepare(request(DUE));
      const after = await liveBed(root).live.prepare(request(DUE));
      expect(after.conversation).toBe(before.conversation);
      expect(after.outcome).toBeUndefined();
      expect(json(after.messages)).toBe(json(before.messages));
    }));

  it('that is rolled back keeps the edits of what is left, and has the others again when it comes back', () =>
    inTemporaryFolder(async (root) => {
      const { live } = liveBed(root);
      const condensed = await live.prepare(request(DUE));
      const back = DUE.slice(0, 12);
      const rolled = await live.prepare(request([...back, user('another way')]));
      expect(json(rolled.messages.slice(0, 12))).toBe(json(condensed.messages.slice(0, 12)));
      expect(rolled.messages).toHaveLength(13);
      expect(json((await live.prepare(request(DUE))).messages)).toBe(json(condensed.messages));
    }));

  it('of which an old result has changed keeps the edits of all others', () =>
    inTemporaryFolder(async (root) => {
      const { live } = liveBed(root);
      const condensed = await live.prepare(request(DUE));
      const changed = DUE.with(5, user(result('call-f1', '[Image was previously shown to you.]')));
      const after = await live.prepare(request(changed));
      expect(after.outcome).toBeUndefined();
      const same = after.messages.filter((message, index) => json(message) === json(condensed.messages[index]));
      expect(same).toHaveLength(DUE.length - 1);
      expect(after.messages[5]).toEqual(changed[5]);
    }));

  it('that lost an old turn keeps the edits of what moved', () =>
    inTemporaryFolder(async (root) => {
      const { live } = liveBed(root);
      const condensed = await live.prepare(request(DUE));
      const lost = DUE.toSpliced(4, 2);
      const after = await live.prepare(request(lost));
      expect(json(after.messages)).toBe(json(condensed.messages.toSpliced(4, 2)));
    }));

  it('that the agent itself summed up begins anew', () =>
    inTemporaryFolder(async (root) => {
      const { live } = liveBed(root);
      const before = await live.prepare(request(DUE));
      const anew = [DUE[0]!, user('<conversation-summary>\nall so far\n</conversation-summary>'), ...DUE.slice(-2)];
      const after = await live.prepare(request(anew));
      expect(after.conversation).not.toBe(before.conversation);
      expect(after.messages).toEqual(anew);
    }));
});

function withoutId({ title, ...rest }: AgentRequest): AgentRequest {
  const { messages, tools, model } = rest;
  return { messages, tools, model, ...(title !== undefined && { title }) };
}
