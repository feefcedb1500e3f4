/**
 * A chat with more images than its vendor accepts must continue on every wire. The test servers
 * are as strict as the vendors.
 */
import * as vscode from 'vscode';
import { expect, it } from 'vitest';
import { startAnthropicServer } from '../../test/servers/anthropicServer';
import { callsTool, reply, type Reply } from '../../test/servers/behaviour';
import { startGeminiServer } from '../../test/servers/geminiServer';
import type { RecordedRequest } from '../../test/servers/modelServer';
import { startOpenAIServer } from '../../test/servers/openaiServer';
import { inTemporaryFolder } from '../../test/support/inTemporaryFolder';
import { findMarkers } from '../core/messages/markers';
import { createTestBed } from '../live/testing';
import type { ApiProfile } from '../settings/profiles';
import { FakeChat, readInformation, createProvider } from './testing';
import { RECALL_TOOL_NAME } from './names';
import { RecallTool } from './recallTool';

const LIMIT = 2_000_000;
const STEPS = 14;

/** Creates data that begins like a PNG. Seven such images of 300 KB exceed LIMIT. */
function screenshot(index: number, bytes = 300_000): vscode.LanguageModelDataPart {
  const data = Buffer.alloc(bytes, index + 1);
  data.writeUInt32BE(0x89504e47, 0);
  data.writeUInt32BE(1280, 16);
  data.writeUInt32BE(800, 20);
  return new vscode.LanguageModelDataPart(data, 'image/png');
}

const LOOK: Reply = {
  kind: 'reply',
  text: 'I look.',
  calls: [{ name: 'browser_take_screenshot', input: { filename: 'page.png' } }],
};

it.each([
  ['anthropic', { vendor: 'anthropic', model: 'm' }, '', () => startAnthropicServer({ strict: { maxBytes: LIMIT } })],
  ['chat', { vendor: 'openai', model: 'm' }, '/v1', () => startOpenAIServer({ strict: { maxBytes: LIMIT } })],
  [
    'responses',
    { vendor: 'openai', model: 'm', api: 'responses' },
    '/v1',
    () => startOpenAIServer({ strict: { maxBytes: LIMIT } }),
  ],
  ['gemini', { vendor: 'gemini', model: 'm' }, '', () => startGeminiServer({ maxBytes: LIMIT })],
] as const)('a heavy chat on %s', (_, about, path, start) =>
  inTemporaryFolder(async (root) => {
    const server = await start();
    try {
      server.play(() => LOOK);
      const profile: ApiProfile = {
        id: 'p',
        name: 'P',
        baseUrl: `${server.url}${path}`,
        contextWindow: 200_000,
        offerInChat: true,
        ...about,
      };
      const { live } = createTestBed(root, { settings: { provider: 'lossless' } });
      const { provider } = createProvider([profile], live, { key: 'sk-any-key' });
      const [model] = await readInformation(provider);
      const chat = new FakeChat(provider, model!);
      chat.tools = ['browser_take_screenshot', RECALL_TOOL_NAME].map((name) => ({
        name,
        description: 'A tool.',
        inputSchema: { type: 'object', properties: {} },
      }));
      chat.system('You are an agent.');
      chat.user('<userRequest>Look at the pages</userRequest>');
      for (let step = 0; step < STEPS; step++) {
        const { calls } = await chat.ask();
        for (const call of calls) chat.result(call, `Page ${step}`, screenshot(step));
      }
      const statuses = server.requests.map(({ status }) => status);
      const refusals = statuses.filter((status) => status !== 200);
      // Once the server has said how much it accepts, it rejects nothing more.
      expect(refusals).toHaveLength(1);
      expect(statuses.at(-1)).toBe(200);
      expect(statuses.filter((status) => status === 200)).toHaveLength(STEPS);
      const [marker] = findMarkers(JSON.stringify(live.view(live.active()!.id)?.messages));
      expect(marker?.what).toContain('image 1280×800, 300 KB, from browser_take_screenshot page.png');
      const recall = new RecallTool(() => Promise.resolve(live));
      const { content } = await recall.invokeTool({ references: [marker!.reference] });
      expect(content[1]).toEqual(screenshot(0));
    } finally {
      await server.close();
    }
  }),
);

it('with 42 screenshots (34 MB) continues below 20 MB, and the first screenshot can be recalled', () =>
  inTemporaryFolder(async (root) => {
    const maxBytes = 20_971_520;
    /** Bytes and number of images of each request. */
    const seen: { readonly bytes: number; readonly images: number }[] = [];
    const imagesIn = ({ body }: RecordedRequest): number => JSON.stringify(body).split('"image/png"').length - 1;
    const calls = Array.from({ length: 3 }, () => ({
      name: 'browser_take_screenshot',
      input: { filename: 'page.png' },
    }));
    const server = await startAnthropicServer({
      strict: { maxBytes },
      script(sent) {
        seen.push({ bytes: sent.bytes, images: imagesIn(sent) });
        return reply('I look.', { calls });
      },
    });
    try {
      const profile: ApiProfile = {
        id: 'p',
        name: 'P',
        vendor: 'anthropic',
        model: 'm',
        baseUrl: server.url,
        contextWindow: 200_000,
        offerInChat: true,
      };
      const { live } = createTestBed(root, { settings: { provider: 'lossless' } });
      const { provider } = createProvider([profile], live, { key: 'sk-any-key' });
      const [model] = await readInformation(provider);
      const chat = new FakeChat(provider, model!);
      chat.user('<userRequest>Look at the pages</userRequest>');
      let shown = 0;
      while (shown < 42) for (const call of (await chat.ask()).calls) chat.result(call, screenshot(shown++, 607_000));
      const refused = server.requests.filter(({ status }) => status !== 200);
      expect(refused.map(({ status, bytes }) => [status, bytes > maxBytes])).toEqual([[413, true]]);
      const recall = new RecallTool(() => Promise.resolve(live));
      const [marker] = findMarkers(JSON.stringify(live.view(live.active()!.id)?.messages));
      expect(marker?.what).toBe('image 1280×800, 607 KB, from browser_take_screenshot page.png');
      server.play((sent) => {
        seen.push({ bytes: sent.bytes, images: imagesIn(sent) });
        return callsTool({ name: RECALL_TOOL_NAME, input: { references: [marker!.reference] } });
      });
      const { calls: asked } = await chat.ask();
      const { content } = await recall.invokeTool(asked[0]!.input);
      chat.result(asked[0]!, ...content);
      server.play((sent) => {
        const given = JSON.stringify((sent.body['messages'] as readonly unknown[]).at(-1));
        return reply(given.includes(Buffer.from(screenshot(0, 607_000).data).toString('base64')) ? 'Back.' : 'Gone.');
      });
      expect((await chat.ask()).text).toBe('Back.');
      // The newest images stay, and every request is smaller than the server's limit.
      expect(Math.max(...seen.map(({ bytes }) => bytes))).toBeLessThan(maxBytes);
      expect(seen.map(({ images }) => images).slice(0, 9)).toEqual([0, 3, 6, 9, 12, 15, 18, 21, 24]);
      expect(Math.min(...seen.slice(9).map(({ images }) => images))).toBeGreaterThan(10);
      expect(live.active()!.tokens).toBeLessThan(100_000);
    } finally {
      await server.close();
    }
  }));
