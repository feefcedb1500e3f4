/** The long task without VS Code: a server that plays it, a workspace in memory, and windows to work in. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { LiveEvent } from '../../src/live/events';
import { freshCounter } from '../../src/core/testingCounter';
import { storeKey } from '../../src/settings/keys';
import type { ApiProfile } from '../../src/settings/profiles';
import { Workspace } from '../generators/workspace';
import { startAnthropicServer } from '../servers/anthropicServer';
import type { Behaviour } from '../servers/behaviour';
import { longTaskServer, MAX_OUTPUT, PRICES, WINDOW, type LongTask } from '../servers/longTask';
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
  /** A window of VS Code; the next one over the same storage is the same after a reload. */
  open(options?: Partial<AgentWindowOptions>): AgentWindow;
  figures(): TaskFigures;
  close(): Promise<void>;
}

export interface TaskBenchOptions extends ServerOptions {
  /** The behaviour in place of the script's; undefined: the script's. */
  readonly instead?: (scripted: Behaviour, request: RecordedRequest) => Behaviour | undefined;
  /** Folder that another bench uses too. */
  readonly storage?: string;
}

/** @param root the folder of the task. */
export async function taskBench(root: string, task: LongTask, options: TaskBenchOptions = {}): Promise<TaskBench> {
  const { instead, storage = mkdtempSync(join(tmpdir(), 'task-')), ...more } = options;
  const counter = freshCounter();
  const scripted = scriptedAgent(task.turns);
  const server = await startAnthropicServer({
    ...longTaskServer(task, (text) => counter.text(text)),
    script: (request) => {
      const behaviour = scripted(request);
      return instead?.(behaviour, request) ?? behaviour;
    },
    ...more,
  });
  const workspace = new Workspace(root);
  for (const [path, text] of task.files) workspace.write(path, text);
  const profile: ApiProfile = {
    // A key is bound to its endpoint.
    id: `scripted-${new URL(server.url).port}`,
    name: 'Scripted',
    vendor: 'anthropic',
    model: 'claude-sonnet-4-20250514',
    baseUrl: server.url,
    contextWindow: WINDOW,
    maxOutputTokens: MAX_OUTPUT,
    prices: PRICES,
    offerInChat: true,
  };
  await storeKey(secretStorage, profile, 'key');
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

/** The condensations that an engine told of. */
export const condensationsIn = (events: readonly LiveEvent[]): (LiveEvent & { readonly kind: 'condensed' })[] =>
  events.filter((event) => event.kind === 'condensed');
