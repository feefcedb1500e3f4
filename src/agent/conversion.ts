import type * as vscode from 'vscode';
import type { ToolDeclaration } from '../api/types';
import type { ApiMessage, Role } from '../core/messages/types';
import { convertPartToBlock } from './parts';
import { makeMessagesValid } from './tidyMessages';

type ChatMessage = Pick<vscode.LanguageModelChatRequestMessage, 'role' | 'content'>;

export interface ConvertedMessages {
  readonly system: string | undefined;
  readonly messages: readonly ApiMessage[];
}

/** Role by VS Code's number. System messages have the number 3, which the typings lack. */
const ROLE_BY_CHAT_ROLE: Readonly<Record<number, Role>> = { 1: 'user', 2: 'assistant' };

/**
 * Separates the leading system prompt. Cline, Roo and their derivatives send it as an assistant
 * message, because the typings have no system role.
 */
export function convertChatMessages(messages: readonly ChatMessage[]): ConvertedMessages {
  const convertedMessages = messages.map(convertChatMessage);
  const promptEnd = convertedMessages.findIndex((message) => message.role !== 'system' && !isPlainText(message));
  const promptMessages = convertedMessages.slice(0, promptEnd < 0 ? convertedMessages.length : promptEnd);
  const system = promptMessages.flatMap(({ content }) => listTextParts(content)).join('\n\n');
  return {
    system: system === '' ? undefined : system,
    messages: makeMessagesValid(convertedMessages.slice(promptMessages.length)),
  };
}

const isPlainText = ({ role, content }: ApiMessage): boolean =>
  role === 'assistant' && typeof content !== 'string' && content.every(({ type }) => type === 'text');

export const convertChatMessage = ({ role, content }: ChatMessage): ApiMessage => ({
  role: ROLE_BY_CHAT_ROLE[role] ?? 'system',
  content: content.flatMap((part) => convertPartToBlock(part) ?? []),
});

const listTextParts = (content: ApiMessage['content']): string[] =>
  typeof content === 'string' ? [content] : content.flatMap(({ text }) => (typeof text === 'string' ? [text] : []));

/** A tool without a schema takes no parameters. */
export const convertChatTools = (tools: readonly vscode.LanguageModelChatTool[] = []): ToolDeclaration[] =>
  tools.map(({ name, description, inputSchema }) => ({
    name,
    description,
    // The typings say only `object`, but it is a JSON Schema.
    input_schema: (inputSchema as Readonly<Record<string, unknown>> | undefined) ?? { type: 'object', properties: {} },
  }));
