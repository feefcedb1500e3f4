/** A request of VS Code's chat in the core's form. */
import type * as vscode from 'vscode';
import type { ToolDeclaration } from '../api/types';
import type { ApiMessage, Role } from '../core/messages/types';
import { blockOf } from './parts';
import { tidyMessages } from './tidyMessages';

type ChatMessage = Pick<vscode.LanguageModelChatRequestMessage, 'role' | 'content'>;

export interface ConvertedMessages {
  /** The system messages at the head, as one text; undefined where there are none. */
  readonly system: string | undefined;
  /** In blocks, results merged, in a form that vendors take. */
  readonly messages: readonly ApiMessage[];
}

/** Anything that is neither user nor assistant is a system message: it has the number 3, which the typings don't name. */
const ROLES: Readonly<Record<number, Role>> = { 1: 'user', 2: 'assistant' };

/**
 * The system prompt, which stands at the head, and the rest as messages that every API takes. Cline, Roo and those made of them send
 * theirs as an answer in front of the task, since the typings know no system role.
 */
export function fromChat(messages: readonly ChatMessage[]): ConvertedMessages {
  const converted = messages.map(messageOf);
  const head = converted.findIndex((message) => message.role !== 'system' && !isWordsOfNobody(message));
  const prompt = converted.slice(0, head < 0 ? converted.length : head);
  const system = prompt.flatMap(({ content }) => textsOf(content)).join('\n\n');
  return { system: system === '' ? undefined : system, messages: tidyMessages(converted.slice(prompt.length)) };
}

/** An answer to nothing: text alone. */
const isWordsOfNobody = ({ role, content }: ApiMessage): boolean =>
  role === 'assistant' && typeof content !== 'string' && content.every(({ type }) => type === 'text');

/** One message, before the others are looked at. */
export const messageOf = ({ role, content }: ChatMessage): ApiMessage => ({
  role: ROLES[role] ?? 'system',
  content: content.flatMap((part) => blockOf(part) ?? []),
});

const textsOf = (content: ApiMessage['content']): string[] =>
  typeof content === 'string' ? [content] : content.flatMap(({ text }) => (typeof text === 'string' ? [text] : []));

/** The tools as Anthropic's API declares them. A tool without a schema takes no parameters. */
export const toolsOf = (tools: readonly vscode.LanguageModelChatTool[] = []): ToolDeclaration[] =>
  tools.map(({ name, description, inputSchema }) => ({
    name,
    description,
    // The typings say `object`; it is a JSON Schema.
    input_schema: (inputSchema as Readonly<Record<string, unknown>> | undefined) ?? { type: 'object', properties: {} },
  }));
