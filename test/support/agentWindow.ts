/**
 * Runs agent mode without VS Code: the provider and the live conversations, with a profile on a
 * scripted server.
 */
import { join } from 'node:path';
import { CondensingProvider } from '../../src/agent/condensingProvider';
import { ApiHandlerCache } from '../../src/agent/handlers';
import { LiveConversations } from '../../src/live/liveConversations';
import type { ChatConversations, LiveSettings } from '../../src/live/types';
import type { LiveEvent } from '../../src/live/events';
import { ModelCatalog } from '../../src/agent/modelCatalog';
import { ModelGroups } from '../../src/agent/modelGroups';
import { RECALL_TOOL_NAME } from '../../src/agent/names';
import { RecallTool } from '../../src/agent/recallTool';
import { readAgentSettings } from '../../src/agent/settings';
import { languageModels } from '../../src/window/languageModels';
import { CondensationManager, losslessProvider, truncationProvider } from '../../src/core/condense';
import type { CondensationProvider } from '../../src/core/condense/types';
import { createCounter } from '../../src/core/testingCounter';
import { chooseThreshold, type ApiProfile } from '../../src/settings/profiles';
import type { AgentTools } from './agentTools';
import { ChatAgent } from './chatAgent';
import { LanguageModelTextPart, secretStorage, window } from './vscode';

/**
 * Number of o200k tokens of VS Code's system prompt and tools; here they are all in the system
 * prompt.
 */
const SYSTEM_TOKENS = 16_000;
const SENTENCE = 'You are an expert AI programming assistant. ';
const SENTENCE_TOKENS = 8;

export interface AgentWindowOptions {
  readonly profile: ApiProfile;
  /** Folder of the ledgers; a window that reuses it simulates a reload. */
  readonly storage: string;
  readonly settings?: Partial<LiveSettings>;
  /** Providers in addition to Lossless and Truncation. */
  readonly providers?: readonly CondensationProvider[];
  /** Number of o200k tokens of the system prompt. */
  readonly systemTokens?: number;
  /** Runs the live conversations, for example in a thread. Default: in this process. */
  readonly engine?: ChatConversations;
}

export interface AgentWindow {
  readonly live: LiveConversations;
  readonly events: readonly LiveEvent[];
  readonly log: readonly string[];
  /** Opens a chat with the profile's model, these tools and recall. */
  chat(tools: AgentTools, conversationId?: string): ChatAgent;
}

export function openAgentWindow({
  profile,
  storage,
  settings,
  providers = [],
  systemTokens = SYSTEM_TOKENS,
  engine,
}: AgentWindowOptions): AgentWindow {
  const counter = createCounter();
  const manager = new CondensationManager(counter, [losslessProvider, truncationProvider, ...providers]);
  const live = new LiveConversations({
    manager,
    counter,
    root: join(storage, 'live'),
    settings: () => ({ provider: 'lossless', mayUseNative: false, ...settings }),
  });
  const events: LiveEvent[] = [];
  live.on((event) => events.push(event));
  const log = window.createOutputChannel();
  const askedEngine = engine ?? live;
  const recall = new RecallTool(() => Promise.resolve(askedEngine));
  const provider = new CondensingProvider({
    catalog: new ModelCatalog({
      models: languageModels,
      profiles: () => [profile],
      wrapped: () => [],
      remembered: { get: () => [], set: () => undefined },
      onDidChange: () => undefined,
    }),
    groups: new ModelGroups(() => undefined),
    handlers: new ApiHandlerCache({
      secrets: secretStorage,
      models: languageModels,
      counter: () => Promise.resolve(counter),
    }),
    counter: () => Promise.resolve(counter),
    live: () => Promise.resolve(askedEngine),
    settings: readAgentSettings,
    threshold: (asked) => chooseThreshold(asked, { percent: 75 }),
    summaries: () => ({ mayCost: true }),
    spending: { beginRequest: () => Promise.resolve(undefined) },
    onCall: (conversation, name, input) => {
      recall.recordCaller(conversation, name, input);
    },
    log,
  });
  const { id, name, model } = profile;
  const information = {
    id,
    name,
    family: model,
    version: model,
    maxInputTokens: 1e6,
    maxOutputTokens: 1e4,
    capabilities: {},
  };
  return {
    live,
    events,
    log: log.lines,
    chat: (tools, conversationId) =>
      new ChatAgent({
        respond: (messages, options, progress, token) =>
          provider.provideResponse(information, messages, options, progress, token),
        tools: { ...tools, [RECALL_TOOL_NAME]: async (input) => getText(await recall.invokeTool(input)) },
        system: SENTENCE.repeat(systemTokens / SENTENCE_TOKENS),
        ...(conversationId !== undefined && { conversationId }),
      }),
  };
}

const getText = ({ content }: { readonly content: readonly unknown[] }): string =>
  content.map((part) => (part instanceof LanguageModelTextPart ? part.value : '')).join('');
