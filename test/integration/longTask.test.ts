/** The long task of issue 5 without VS Code: the provider, the engine, the vendor's SDK and a strict server. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { freshCounter } from '../../src/core/testingCounter';
import { storeKey } from '../../src/settings/keys';
import type { ApiProfile } from '../../src/settings/profiles';
import { Workspace } from '../generators/workspace';
import { startAnthropicServer } from '../servers/anthropicServer';
import { DONE, longTask, longTaskServer, NOTES_PROMPT, QUESTION, TASK_PROMPT, WINDOW } from '../servers/longTask';
import type { ModelServer } from '../servers/modelServer';
import { figuresText, taskFigures, taskRequests } from '../servers/taskFigures';
import { workspaceTools } from '../support/agentTools';
import { openAgentWindow, type AgentWindow } from '../support/agentWindow';
import { fake, secretStorage } from '../support/vscode';

const ROOT = '/home/dev/project';
const PRICES = { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 };

let storage: string;
let server: ModelServer;
let workspace: Workspace;
const task = longTask(ROOT);
const counter = freshCounter();

beforeEach(async () => {
  fake.reset();
  storage = mkdtempSync(join(tmpdir(), 'long-'));
  server = await startAnthropicServer(longTaskServer(task, (text) => counter.text(text)));
  workspace = new Workspace(ROOT);
  for (const [path, text] of task.files) workspace.write(path, text);
});

afterEach(async () => {
  await server.close();
  rmSync(storage, { recursive: true, force: true });
});

async function open(provider: string): Promise<AgentWindow> {
  const profile: ApiProfile = {
    id: 'scripted',
    name: 'Scripted',
    vendor: 'anthropic',
    model: 'claude-sonnet-4-20250514',
    baseUrl: server.url,
    contextWindow: WINDOW,
    maxOutputTokens: 8_000,
    prices: PRICES,
    offerInChat: true,
  };
  await storeKey(secretStorage, profile, 'key');
  return openAgentWindow({ storage, settings: { provider }, profile });
}

describe('a task of 120 tool calls on a window of 100,000 tokens', () => {
  it.each(['lossless', 'truncation'])('runs to its end with %s', async (provider) => {
    const agent = await open(provider);
    const chat = agent.chat(workspaceTools(workspace), 'conversation-1');
    const done = await chat.ask(TASK_PROMPT);
    expect(chat.errors).toEqual([]);
    expect(done).toBe(DONE);
    const figures = taskFigures(server.requests, server.tokensOf, PRICES);
    const condensations = agent.events.filter(({ kind }) => kind === 'condensed');
    console.log(`${provider}\n${figuresText(figures, condensations.length)}`);
    expect(figures.refused).toEqual([]);
    expect(figures.toolCalls).toBe(120);
    expect(figures.uncondensed.tokens).toBeGreaterThan(400_000);
    expect(figures.largest).toBeLessThanOrEqual(WINDOW - 8_000);
    expect(figures.breaks).toHaveLength(condensations.length);
    expect(figures.cost).toBeLessThan(figures.uncondensed.cost);

    const { line } = task.early;
    expect(await chat.ask(QUESTION)).toBe(line);
    const asked = taskRequests(server.requests).at(-2);
    expect(JSON.stringify(asked?.body['messages'])).not.toContain('LEDGER_GRACE_SECONDS');

    expect(await chat.ask(NOTES_PROMPT)).toBe('Written.');
    expect(workspace.text('notes.txt')).toContain(line);
  });
});
