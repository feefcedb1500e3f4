/** A chat with more images than its vendor takes goes on, on every wire, against servers that are as strict as the vendors. */
import * as vscode from 'vscode';
import { expect, it } from 'vitest';
import { startAnthropicServer } from '../../test/servers/anthropicServer';
import type { Reply } from '../../test/servers/behaviour';
import { startGeminiServer } from '../../test/servers/geminiServer';
import { startOpenAIServer } from '../../test/servers/openaiServer';
import { inTemporaryFolder } from '../../test/support/inTemporaryFolder';
import { findMarkers } from '../core/messages/markers';
import { liveBed } from '../live/testing';
import type { ApiProfile } from '../settings/profiles';
import { FakeChat, informationFrom, providerFor } from './testing';
import { RECALL_TOOL } from './names';
import { RecallTool } from './recallTool';

const LIMIT = 2_000_000;
const STEPS = 14;

/** A PNG's beginning, and then bytes: 300 KB, so that seven of them are too many. */
function screenshot(index: number): vscode.LanguageModelDataPart {
  const data = Buffer.alloc(300_000, index + 1);
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
] as const)('on %s', (_, about, path, start) =>
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
      const { live } = liveBed(root, { settings: { provider: 'lossless' } });
      const { provider } = providerFor([profile], live, { key: 'sk-any-key' });
      const [model] = await informationFrom(provider);
      const chat = new FakeChat(provider, model!);
      chat.tools = ['browser_take_screenshot', RECALL_TOOL].map((name) => ({
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
      // Once it has said how much it takes, nothing is refused any more.
      expect(refusals).toHaveLength(1);
      expect(statuses.at(-1)).toBe(200);
      expect(statuses.filter((status) => status === 200)).toHaveLength(STEPS);
      const [marker] = findMarkers(JSON.stringify(live.view(live.active()!.id)?.view));
      expect(marker?.what).toContain('image 1280×800, 300 KB, from browser_take_screenshot page.png');
      const recall = new RecallTool(() => Promise.resolve(live));
      const { content } = await recall.invoke({ references: [marker!.reference] });
      expect(content[1]).toEqual(screenshot(0));
    } finally {
      await server.close();
    }
  }),
);
