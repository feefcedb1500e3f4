/**
 * An example of an extension whose own chat condenses before it sends, with a provider of its own.
 */
import * as vscode from 'vscode';
import type {
  Change,
  CondensedEvent,
  ContextCondenserApi,
  ContextCondenserExports,
  Conversation,
  Edit,
  Message,
  Outcome,
  Provider,
} from '../../../src/extensionApi/api';

/** Removes results of old calls of one tool. */
const forgetTool: Provider = {
  id: 'context-condenser-sample.forget-tool',
  name: 'Forget a tool',
  description: 'Leaves out what one tool gave back, but for the newest messages.',
  version: '1.0.0',
  configSchema: {
    type: 'object',
    properties: {
      tool: { type: 'string', default: 'read_file', description: 'The tool whose results go.' },
      keep: { type: 'integer', minimum: 0, default: 4, description: 'How many of the newest messages stay.' },
    },
    additionalProperties: false,
  },
  condense({ messages, config }) {
    // Context Condenser has validated the configuration.
    const { tool, keep } = config as { readonly tool: string; readonly keep: number };
    const calls = new Set<unknown>();
    const changes: Change[] = [];
    for (const [message, { content }] of messages.slice(0, Math.max(0, messages.length - keep)).entries()) {
      if (typeof content === 'string') continue;
      for (const [index, block] of content.entries()) {
        const { content: result } = block;
        if (block.type === 'tool_use' && block['name'] === tool) calls.add(block['id']);
        if (typeof result !== 'string' || !calls.has(block['tool_use_id'])) continue;
        const path = ['content', index, 'content'];
        changes.push({ kind: 'cut', message, path, start: 0, end: result.length, what: tool, reason: 'old' });
      }
    }
    return Promise.resolve({ changes });
  },
};

/** Exports for the tests. */
export interface SampleExports {
  readonly api: ContextCondenserApi;
  readonly events: readonly CondensedEvent[];
  /**
   * Condenses a conversation if its model's window requires it.
   * @returns the messages to send
   */
  readonly send: (messages: readonly Message[], contextWindow: number) => Promise<readonly Message[]>;
  readonly lastOutcome: () => Outcome | undefined;
  readonly conversation: () => Conversation;
}

export async function activate(context: vscode.ExtensionContext): Promise<SampleExports> {
  const condenser = vscode.extensions.getExtension<ContextCondenserExports>('context-condenser.context-condenser');
  if (!condenser) throw new Error('Context Condenser is not installed.');
  const api = (await condenser.activate()).getApi(1);
  const events: CondensedEvent[] = [];
  context.subscriptions.push(
    api.registerProvider(forgetTool),
    api.onDidCondense((event) => {
      events.push(event);
    }),
  );
  let edits: readonly Edit[] = [];
  let conversation: Conversation = { id: 'sample', messages: [] };
  let last: Outcome | undefined;
  return {
    api,
    events,
    lastOutcome: () => last,
    conversation: () => conversation,
    async send(messages, contextWindow) {
      conversation = { id: 'sample', messages, edits };
      const outcome = await api.condenseIfNeeded(conversation, { contextWindow }, { provider: forgetTool.id });
      if (outcome.kind === 'condensed') ({ edits } = outcome);
      if (outcome.kind !== 'not-due') last = outcome;
      conversation = { ...conversation, edits };
      return api.viewOf(conversation);
    },
  };
}
