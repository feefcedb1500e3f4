/**
 * Runs the long task on every wire, with servers that are as strict as the vendors. Over 400,000
 * tokens (half of it without LONG_TESTS) go through a window of 100,000, counted as o200k × 1.5,
 * with thinking that must be sent back. `LONG_TESTS=1 npx vitest run
 * test/integration/wires.system.test.ts` prints figures.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createCounter } from '../../src/core/testingCounter';
import { storeApiKey } from '../../src/settings/keys';
import type { ApiProfile } from '../../src/settings/profiles';
import { Workspace } from '../generators/workspace';
import { startAnthropicServer } from '../servers/anthropicServer';
import type { Reply } from '../servers/behaviour';
import { startConverseServer } from '../servers/converseServer';
import { DONE_ANSWER, longTask, MAX_OUTPUT, TASK_PROMPT, TOKEN_FACTOR, WINDOW_TOKENS } from '../servers/longTask';
import { startGeminiServer } from '../servers/geminiServer';
import type { ModelServer, ServerOptions } from '../servers/modelServer';
import { startOpenAIServer } from '../servers/openaiServer';
import { AGEING } from '../servers/promptCache';
import type { TaskPrices } from '../servers/taskFigures';
import { wireFigures, wireFiguresText } from '../servers/wireFigures';
import { workspaceTools } from '../support/agentTools';
import { openAgentWindow } from '../support/agentWindow';
import { isLong } from '../support/long';
import { filterCondensations } from '../support/taskBench';
import { fake, secretStorage } from '../support/vscode';

const ROOT = '/home/dev/project';
const task = longTask(ROOT, isLong ? 120 : 60);
const OPEN_ROUTER = 'https://openrouter.ai/api/v1';

interface Wire {
  readonly profile: Pick<ApiProfile, 'vendor' | 'model' | 'api' | 'region'>;
  readonly start: (options: ServerOptions) => Promise<ModelServer>;
  /** Path after the server's address. */
  readonly path: string;
  /** The vendor's address as configured. */
  readonly address?: string;
  readonly prices: TaskPrices;
}

const CLAUDE = { input: 4, output: 20, cacheRead: 0.2, cacheWrite: 5 };
const NOVA = { input: 2.5, output: 12.5, cacheRead: 0.625, cacheWrite: 2.5 };
const GPT = { input: 1.75, output: 14, cacheRead: 0.175, cacheWrite: 1.75 };

const WIRES: Readonly<Record<string, Wire>> = {
  'Anthropic Messages': {
    profile: { vendor: 'anthropic', model: 'claude-opus-5-5' },
    start: (options) =>
      startAnthropicServer({
        ...options,
        strict: { byModel: true, turns: true, cacheKeys: true, version: true },
        cache: AGEING.anthropic,
      }),
    path: '',
    prices: CLAUDE,
  },
  'OpenAI Chat Completions': {
    profile: { vendor: 'openai', model: 'gpt-5.2' },
    start: (options) => startOpenAIServer({ ...options, strict: { cacheKeys: true }, cache: AGEING.openaiKept }),
    path: '/v1',
    prices: GPT,
  },
  'OpenAI Responses': {
    profile: { vendor: 'openai', model: 'gpt-5.6-sol', api: 'responses' },
    start: (options) =>
      startOpenAIServer({
        ...options,
        strict: { reasoning: 'all_turns', phases: true, cacheKeys: true },
        cache: AGEING.openaiNew,
      }),
    path: '/v1',
    prices: { input: 5, output: 30, cacheRead: 0.5, cacheWrite: 6.25 },
  },
  OpenRouter: {
    profile: { vendor: 'openai', model: 'anthropic/claude-opus-5.5' },
    start: (options) =>
      startOpenAIServer({
        ...options,
        quirks: { openRouter: true },
        strict: { cacheKeys: true, reasoningDetails: true },
        cache: AGEING.openrouter,
      }),
    path: '/v1',
    address: OPEN_ROUTER,
    prices: CLAUDE,
  },
  Gemini: {
    profile: { vendor: 'gemini', model: 'gemini-3.5-flash' },
    start: (options) => startGeminiServer({ ...options, strict: { signatures: true } }),
    path: '',
    prices: { input: 1.5, output: 9, cacheRead: 0.15, cacheWrite: 1.5 },
  },
  "Bedrock's Converse": {
    profile: { vendor: 'bedrock', model: 'amazon.nova-premier-v1:0', region: 'eu-central-1' },
    start: (options) => startConverseServer({ ...options, strict: { nova: true }, cache: AGEING.anthropic }),
    path: '',
    prices: NOVA,
  },
};

let storage: string;
beforeEach(() => {
  fake.reset();
  storage = mkdtempSync(join(tmpdir(), 'wires-'));
});
afterEach(() => {
  vi.unstubAllGlobals();
  rmSync(storage, { recursive: true, force: true, maxRetries: 10 });
});

it.each(Object.entries(WIRES))(
  'no vendor rejects condensed requests in the format %s, and each condensation breaks the cache once',
  async (name, { profile, start, path, address, prices }) => {
    const counter = createCounter();
    const work = task.turns[0]!.steps as readonly Reply[];
    let answers = 0;
    const server = await start({
      maxContextTokens: WINDOW_TOKENS,
      countTokens: (text) => Math.ceil(counter.countText(text) * TOKEN_FACTOR),
      // Two of three answers start with thinking.
      script: () => {
        const at = answers++;
        return {
          ...work[Math.min(at, work.length - 1)]!,
          ...(at % 3 !== 1 && { thinking: 'I think about it. '.repeat(20) }),
        };
      },
    });
    try {
      if (address !== undefined) {
        const real = globalThis.fetch;
        vi.stubGlobal('fetch', (input: string | URL | Request, init?: RequestInit) => {
          const url = input instanceof Request ? input.url : String(input);
          return real(url.replace(address, `${server.url}${path}`), init);
        });
      }
      const whole: ApiProfile = {
        ...profile,
        id: 'wire',
        name,
        baseUrl: address ?? `${server.url}${path}`,
        contextWindow: WINDOW_TOKENS,
        maxOutputTokens: MAX_OUTPUT,
        offerInChat: true,
      };
      await storeApiKey(secretStorage, whole, 'key');
      const workspace = new Workspace(ROOT);
      for (const [file, text] of task.files) workspace.write(file, text);
      const window = openAgentWindow({ storage, profile: whole });
      const chat = window.chat(workspaceTools(workspace), 'conversation-1');
      const said = await chat.ask(TASK_PROMPT);
      const figures = wireFigures(server.requests, (text) => server.tokensOf(text), prices);
      const condensations = filterCondensations(window.events).length;
      console.info(wireFiguresText(name, figures, condensations));
      expect(chat.errors).toEqual([]);
      expect(figures.refused).toEqual([]);
      expect(said).toBe(DONE_ANSWER);
      expect(figures.largest).toBeLessThanOrEqual(WINDOW_TOKENS);
      expect(condensations).toBeGreaterThan(3);
      expect(figures.breaks).toBe(condensations);
      expect(figures.cached).toBeGreaterThan(0.75);
      expect(figures.cost).toBeLessThan(figures.idealCost * 1.15);
    } finally {
      await server.close();
    }
  },
  120_000,
);
