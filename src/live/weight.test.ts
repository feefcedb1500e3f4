/** Images are removed if a request is larger than its vendor accepts. */
import { describe, expect, it, vi } from 'vitest';
import { inTemporaryFolder } from '../../test/support/inTemporaryFolder';
import { findExceededBodyLimits } from '../api/tooLong';
import { assistant, call, makeToolExchange, makeLines, result, user } from '../core/testing';
import { findMarkers } from '../core/messages/markers';
import { countMessageBytes } from '../core/messages/images';
import type { ApiMessage, Block } from '../core/messages/types';
import { DUE_MESSAGES, stringify, createTestBed, makeReads, createRequest, createModel } from './testing';
import type { PreparedRequest } from './request';

/** Creates the beginning of a PNG with this size, followed by other bytes. */
function createPicture(bytes: number, width = 1280, height = 800, seed = 0): Block {
  const data = Buffer.alloc(bytes, seed + 1);
  data.writeUInt32BE(0x89504e47, 0);
  data.writeUInt32BE(width, 16);
  data.writeUInt32BE(height, 20);
  return { type: 'image', source: { type: 'base64', media_type: 'image/png', data: data.toString('base64') } };
}

const shot = (index: number, image: Block): ApiMessage[] => [
  assistant(call(`shot-${index}`, 'browser_take_screenshot', { filename: `page-${index}.png` })),
  user(result(`shot-${index}`, [{ type: 'text', text: `Page ${index}` }, image])),
];

/** Creates a task with this many screenshots. */
const createTaskWithShots = (count: number, image: (index: number) => Block): ApiMessage[] => [
  user('Look at the pages'),
  ...Array.from({ length: count }, (_, index) => shot(index, image(index))).flat(),
];

const bytesOf = ({ messages }: Pick<PreparedRequest, 'messages'>): number =>
  messages.reduce((sum, message) => sum + countMessageBytes(message), 0);
const imagesIn = (messages: readonly ApiMessage[]): number => stringify(messages).split('"image/png"').length - 1;

const WIDE = { contextWindow: 200_000, maxOutputTokens: 8_000 } as const;

describe('a request with too many bytes or images', () => {
  it('shrinks from 42 screenshots (3.4 MB, 59K tokens) to below 2 MB, keeps the newest ones, and reports removals', () =>
    inTemporaryFolder(async (root) => {
      const { live, events } = createTestBed(root);
      const model = createModel({ ...WIDE, limits: { bytes: 2_097_152 } });
      const messages = createTaskWithShots(42, (index) => createPicture(60_700, 1280, 800, index));
      expect(messages.reduce((sum, message) => sum + countMessageBytes(message), 0)).toBeGreaterThan(3_300_000);
      const prepared = await live.prepare(createRequest(messages, { model }));
      expect(bytesOf(prepared)).toBeLessThan(2_097_152 / 2);
      expect(prepared.tokens).toBeLessThan(100_000);
      expect(imagesIn(prepared.messages)).toBe(12);
      expect(stringify(prepared.messages.slice(-24))).toBe(stringify(messages.slice(-24)));
      const [marker] = findMarkers(stringify(prepared.messages));
      expect(marker?.what).toBe('image 1280×800, 61 KB, from browser_take_screenshot page-0.png');
      expect(events).toContainEqual(
        expect.objectContaining({
          kind: 'condensed',
          decision: expect.objectContaining({ reason: 'bytes' }) as unknown,
        }),
      );
      // If the agent asks for the removed image, it gets the same bytes back.
      const recalled = await live.recall(prepared.conversation, { references: [marker!.reference] });
      const { data } = createPicture(60_700, 1280, 800, 0)['source'] as { readonly data: string };
      expect(recalled).toMatchObject({ kind: 'found', images: [{ mediaType: 'image/png' }] });
      expect(recalled.kind === 'found' && recalled.images[0]?.data === data).toBe(true);
      expect(recalled.text).toBe(
        `[ref ${marker!.reference}: result of browser_take_screenshot, message 3, lines 1 to 1 of 1]\n[image 1280×800, 61 KB]`,
      );
      // Later requests leave this part unchanged until the limit is near again.
      const next = [...messages, ...shot(42, createPicture(60_700, 1280, 800, 42))];
      const after = await live.prepare(createRequest(next, { model }));
      expect(stringify(after.messages.slice(0, prepared.messages.length))).toBe(stringify(prepared.messages));
      // The same is true after a restart.
      const anew = await createTestBed(root).live.prepare(createRequest(next, { model }));
      expect(stringify(anew.messages)).toBe(stringify(after.messages));
      await live.undo(prepared.conversation);
      expect(stringify(live.view(prepared.conversation)?.messages)).toBe(stringify(next));
    }));

  it('is left unchanged if its vendor accepts it or it has no images', () =>
    inTemporaryFolder(async (root) => {
      const { live } = createTestBed(root);
      const few = createTaskWithShots(5, (index) => createPicture(100_000, 800, 600, index));
      const model = createModel({ ...WIDE, limits: { bytes: 1_000_000 } });
      expect(stringify((await live.prepare(createRequest(few, { model }))).messages)).toBe(stringify(few));
      const text = [user('Read'), ...makeToolExchange('1', 'Bash', { command: 'cat a' }, makeLines('a', 100))];
      const tight = createModel({ ...WIDE, limits: { bytes: 1_000 } });
      expect(
        stringify((await live.prepare(createRequest(text, { conversationId: 'c2', model: tight }))).messages),
      ).toBe(stringify(text));
    }));

  it('keeps the newest image as long as it fits', () =>
    inTemporaryFolder(async (root) => {
      const { live } = createTestBed(root);
      const model = createModel({ ...WIDE, limits: { bytes: 1_000_000 } });
      const prepared = await live.prepare(
        createRequest(
          createTaskWithShots(3, (index) => createPicture(600_000, 800, 600, index)),
          { model },
        ),
      );
      expect(imagesIn(prepared.messages)).toBe(1);
      expect(imagesIn(prepared.messages.slice(-1))).toBe(1);
    }));

  it('keeps so few of more than 20 images that one above 2000 pixels is allowed', () =>
    inTemporaryFolder(async (root) => {
      const { live } = createTestBed(root);
      const limits = { manyImages: { above: 20, edge: 2000 } };
      const messages = createTaskWithShots(21, (index) => createPicture(1_000, index === 20 ? 2400 : 1200, 800, index));
      const model = createModel({ ...WIDE, limits });
      expect(imagesIn((await live.prepare(createRequest(messages, { model }))).messages)).toBe(10);
      const small = createTaskWithShots(30, (index) => createPicture(1_000, 1200, 800, index));
      const other = await live.prepare(createRequest(small, { conversationId: 'c2', model }));
      expect(imagesIn(other.messages)).toBe(30);
    }));

  it('loses images until it is accepted, even the newest one if that alone is too large', () =>
    inTemporaryFolder(async (root) => {
      const { live } = createTestBed(root);
      const messages = createTaskWithShots(10, (index) => createPicture(100_000, 800, 600, index));
      const asked = createRequest(messages, { model: createModel(WIDE) });
      const first = await live.prepare(asked);
      const smaller = await live.prepareAfterOverflow(first, asked, undefined, { weight: {} });
      expect(imagesIn(smaller!.messages)).toBe(4);
      const again = await live.prepareAfterOverflow(smaller!, asked, undefined, { weight: {} });
      expect(imagesIn(again!.messages)).toBe(1);
      const two = [user('Look'), ...shot(0, createPicture(1_000)), ...shot(1, createPicture(1_000, 9000, 100))];
      const other = createRequest(two, { conversationId: 'c2', model: createModel({ ...WIDE, key: 'other' }) });
      const whole = await live.prepare(other);
      expect(imagesIn(whole.messages)).toBe(2);
      const without = await live.prepareAfterOverflow(whole, other, undefined, { weight: { edge: 8000 } });
      expect(imagesIn(without!.messages.slice(0, 3))).toBe(1);
      expect(imagesIn(without!.messages)).toBe(1);
      // There is no second image that could be removed.
      expect(await live.prepareAfterOverflow(without!, other, undefined, { weight: { edge: 8000 } })).toBeUndefined();
    }));

  it('does not delay a due condensation, whether or not its images can be removed', () =>
    inTemporaryFolder(async (root) => {
      const model = createModel({ limits: { bytes: 1_000_000 } });
      const heavy = createPicture(760_000, 80, 80);
      const inTask = (messages: readonly ApiMessage[]) => messages.with(1, user('Look at the files', heavy));
      const { live, manager } = createTestBed(root);
      const condense = vi.spyOn(manager, 'condense');
      const stuck = await live.prepare(createRequest(inTask(makeReads(25)), { model }));
      expect(stuck.messages).toEqual(inTask(makeReads(25)));
      expect(condense).not.toHaveBeenCalled();
      expect((await live.prepare(createRequest(inTask(DUE_MESSAGES), { model }))).outcome?.kind).toBe('condensed');

      const withShots = (messages: readonly ApiMessage[]) =>
        messages.toSpliced(2, 0, ...shot(1, createPicture(500_000)), ...shot(2, createPicture(400_000)));
      const two = { conversationId: 'c2', model };
      const lighter = await live.prepare(createRequest(withShots(makeReads(24)), two));
      expect(imagesIn(lighter.messages)).toBe(1);
      const due = await live.prepare(createRequest(withShots(makeReads(26)), two));
      expect(due.tokens).toBeLessThan(lighter.tokens);
    }));

  it('keeps a pinned image and does not try again to remove it', () =>
    inTemporaryFolder(async (root) => {
      const { live, manager } = createTestBed(root);
      const model = createModel({ ...WIDE, limits: { bytes: 1_000_000 } });
      const messages = [...createTaskWithShots(1, () => createPicture(400_000)), ...shot(1, createPicture(1_000))];
      const { conversation } = await live.prepare(createRequest(messages, { model }));
      await live.pin(conversation, 2);
      const condense = vi.spyOn(manager, 'condense');
      const more = [...messages, ...shot(2, createPicture(300_000))];
      await live.pin(conversation, 4);
      expect(imagesIn((await live.prepare(createRequest(more, { model }))).messages)).toBe(3);
      expect(condense).not.toHaveBeenCalled();
    }));

  it('counts what always stays: the images of the task and of pinned messages', () =>
    inTemporaryFolder(async (root) => {
      const { live } = createTestBed(root);
      const limited = { model: createModel({ ...WIDE, limits: { bytes: 1_000_000 } }) };
      const all = createTaskWithShots(6, (index) => createPicture(60_000, 800, 600, index));
      const asked = all.with(0, user('Look at the pages as here', createPicture(450_000)));
      const ofTask = await live.prepare(createRequest(asked, limited));
      expect(bytesOf(ofTask)).toBeLessThan(1_000_000);
      expect(imagesIn(ofTask.messages)).toBe(2);
      const wide = { conversationId: 'c2', model: createModel(WIDE) };
      const withOld = all.with(2, user(result('shot-0', [createPicture(450_000)])));
      const { conversation } = await live.prepare(createRequest(withOld, wide));
      await live.pin(conversation, 2);
      const pinned = await live.prepare(createRequest(withOld, { ...limited, conversationId: 'c2' }));
      expect(bytesOf(pinned)).toBeLessThan(1_000_000);
      expect(stringify(pinned.messages[2])).toBe(stringify(withOld[2]));
      expect(imagesIn(pinned.messages)).toBe(2);
      const many = { model: createModel({ ...WIDE, limits: { manyImages: { above: 20, edge: 2000 } } }) };
      const drafts = Array.from({ length: 15 }, (_, index) => createPicture(1_000, 1200, 800, index));
      const large = createTaskWithShots(12, (index) => createPicture(1_000, 2400, 800, index)).with(
        0,
        user('Look at the drafts', ...drafts),
      );
      const fewer = await live.prepare(createRequest(large, { ...many, conversationId: 'c3' }));
      expect(imagesIn(fewer.messages)).toBe(20);
    }));

  it('sets no limit for requests with fewer images after it was rejected for many', () =>
    inTemporaryFolder(async (root) => {
      const { live } = createTestBed(root);
      const words =
        'messages.1.content.0: At least one of the image dimensions exceed max allowed size for many-image requests: 2000 pixels';
      const weight = findExceededBodyLimits(400, words, 'invalid_request_error')!;
      const many = createTaskWithShots(21, (index) => createPicture(1_000, index === 20 ? 2400 : 1200, 800, index));
      const asked = createRequest(many, { model: createModel(WIDE) });
      const first = await live.prepare(asked);
      expect(imagesIn(first.messages)).toBe(21);
      const fewer = await live.prepareAfterOverflow(first, asked, undefined, { weight });
      expect(imagesIn(fewer!.messages)).toBe(10);
      expect(imagesIn(fewer!.messages.slice(-1))).toBe(1);
      const few = createTaskWithShots(3, (index) => createPicture(1_000, 2400, 800, index));
      const other = await live.prepare(createRequest(few, { conversationId: 'c2', model: createModel(WIDE) }));
      expect(imagesIn(other.messages)).toBe(3);
    }));
});
