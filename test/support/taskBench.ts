/** Runs the long task without VS Code, with a server, an in-memory workspace, and windows. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { LiveEvent } from '../../src/live/events';
import { createCounter } from '../../src/core/testingCounter';
import { storeApiKey } from '../../src/settings/keys';
import type { ApiProfile } from '../../src/settings/profiles';
import { Workspace } from '../generators/workspace';
import { startAnthropicServer } from '../servers/anthropicServer';
import type { Behaviour } from '../servers/behaviour';
import { longTaskServer, MAX_OUTPUT, PRICES, WINDOW_TOKENS, type LongTask } from '../servers/longTask';
import type { ModelServer, RecordedRequest, ServerOptions } from '../servers/modelServer';
import { scriptedAgent } from '../servers/scriptedAgent';
import { taskFigures, type TaskFigures } from '../servers/taskFigures';
import { workspaceTools, type AgentTools } from './agentTools';
import { openAgentWindow, type AgentWindow, type AgentWindowOptions } from './agentWindow';
import { secretStorage } from './vscode';

export interface TaskBench {
  readonly server: ModelServer;
  readonly workspace: Workspace;
  readonly tools: AgentTools;
  readonly storage: string;
  /** Opens a window; another one with the same storage simulates a reload. */
  open(options?: Partial<AgentWindowOptions>): AgentWindow;
  figures(): TaskFigures;
  close(): Promise<void>;
}

export interface TaskBenchOptions extends ServerOptions {
  /** Replaces the scripted behavior, unless it returns undefined. */
  readonly instead?: (scripted: Behaviour, request: RecordedRequest) => Behaviour | undefined;
  /** Folder for storage, if another bench shares it. */
  readonly storage?: string;
}

/** @param root the folder that the task's agent works in. */
export async function taskBench(root: string, task: LongTask, options: TaskBenchOptions = {}): Promise<TaskBench> {
  const { instead, storage = mkdtempSync(join(tmpdir(), 'task-')), ...more } = options;
  const counter = createCounter();
  const scripted = scriptedAgent(task.turns);
  const server = await startAnthropicServer({
    ...longTaskServer(task, (text) => counter.countText(text)),
    script: (request) => {
      const behaviour = scripted(request);
      return instead?.(behaviour, request) ?? behaviour;
    },
    ...more,
  });
  const workspace = new Workspace(root);
  for (const [path, text] of task.files) workspace.write(path, text);
  const profile: ApiProfile = {
    // The port is part of the ID, because keys are bound to their endpoint.
    id: `scripted-${new URL(server.url).port}`,
    name: 'Scripted',
    vendor: 'anthropic',
    model: 'claude-sonnet-4-20250514',
    baseUrl: server.url,
    contextWindow: WINDOW_TOKENS,
    maxOutputTokens: MAX_OUTPUT,
    prices: PRICES,
    offerInChat: true,
  };
  await storeApiKey(secretStorage, profile, 'key');
  return {
    server,
    workspace,
    tools: workspaceTools(workspace),
    storage,
    open(window = {}) {
      return openAgentWindow({ storage, profile, ...window });
    },
    figures: () => taskFigures(server.requests, (text) => server.tokensOf(text), PRICES),
    async close() {
      await server.close();
      rmSync(storage, { recursive: true, force: true, maxRetries: 10 });
    },
  };
}

/** Lists the condensations that an engine reported. */
export const filterCondensations = (events: readonly LiveEvent[]): (LiveEvent & { readonly kind: 'condensed' })[] =>
  events.filter((event) => event.kind === 'condensed');
