import type * as vscode from 'vscode';
import type { ToolDeclaration } from '../api/types';
import type { ApiMessage, Role } from '../core/messages/types';
import { toBlock } from './parts';
import { tidyMessages } from './tidyMessages';

type ChatMessage = Pick<vscode.LanguageModelChatRequestMessage, 'role' | 'content'>;

export interface ConvertedMessages {
  readonly system: string | undefined;
  readonly messages: readonly ApiMessage[];
}

/** System messages have the number 3, which the typings lack. */
const ROLES: Readonly<Record<number, Role>> = { 1: 'user', 2: 'assistant' };

/**
 * Separates the leading system prompt. Cline, Roo and their derivatives send it as an assistant
 * message, because the typings have no system role.
 */
export function fromChat(messages: readonly ChatMessage[]): ConvertedMessages {
  const converted = messages.map(toMessage);
  const head = converted.findIndex((message) => message.role !== 'system' && !isPlainText(message));
  const prompt = converted.slice(0, head < 0 ? converted.length : head);
  const system = prompt.flatMap(({ content }) => getTexts(content)).join('\n\n');
  return { system: system === '' ? undefined : system, messages: tidyMessages(converted.slice(prompt.length)) };
}

const isPlainText = ({ role, content }: ApiMessage): boolean =>
  role === 'assistant' && typeof content !== 'string' && content.every(({ type }) => type === 'text');

export const toMessage = ({ role, content }: ChatMessage): ApiMessage => ({
  role: ROLES[role] ?? 'system',
  content: content.flatMap((part) => toBlock(part) ?? []),
});

const getTexts = (content: ApiMessage['content']): string[] =>
  typeof content === 'string' ? [content] : content.flatMap(({ text }) => (typeof text === 'string' ? [text] : []));

/** A tool without a schema takes no parameters. */
export const toTools = (tools: readonly vscode.LanguageModelChatTool[] = []): ToolDeclaration[] =>
  tools.map(({ name, description, inputSchema }) => ({
    name,
    description,
    // Typed as `object`, but it is a JSON Schema.
    input_schema: (inputSchema as Readonly<Record<string, unknown>> | undefined) ?? { type: 'object', properties: {} },
  }));
