import { anthropicFault } from '../../../test/servers/anthropicRules';
import { chatFault } from '../../../test/servers/openaiRules';
import { createCounter } from '../../core/testingCounter';
import type { ApiMessage, Block } from '../../core/messages/types';
import { exportConversation, type ConversationToExport, type ExportTarget } from '.';

export type Json = Readonly<Record<string, unknown>>;

export const signer = { sign: (content: string) => `signed ${content.length}` };

export const counter = createCounter();

export const exportTo = (conversation: Partial<ConversationToExport>, target: ExportTarget) =>
  exportConversation({ title: 'A title', messages: [], ...conversation }, target, counter);

export const body = (
  messages: readonly ApiMessage[],
  target: ExportTarget,
  more: Partial<ConversationToExport> = {},
): Json => JSON.parse(exportTo({ messages, ...more }, target).text) as Json;

export const checkWithAnthropicServer = (value: Json) =>
  anthropicFault({ model: 'm', max_tokens: 100, ...value }, signer);

export const checkWithOpenAIServer = (value: Json) => chatFault({ model: 'm', ...value }, {});

export const user = (...content: Block[]): ApiMessage => ({ role: 'user', content });

export const assistant = (...content: Block[]): ApiMessage => ({ role: 'assistant', content });

export const text = (words: string): Block => ({ type: 'text', text: words });

export const call = (id: string, input: unknown = { path: 'a' }, name = 'Read'): Block => ({
  type: 'tool_use',
  id,
  name,
  input,
});

export const result = (id: string, content: unknown, more: Json = {}): Block => ({
  type: 'tool_result',
  tool_use_id: id,
  content,
  ...more,
});

export const image: Block = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } };

export const messages = [
  user(text('Fix it'), image),
  assistant({ type: 'thinking', thinking: 'hm', signature: signer.sign('hm') }, text('I look.'), call('c1')),
  user(result('c1', [text('line'), image])),
  assistant(text('Done.')),
];
