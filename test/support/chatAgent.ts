/**
 * Simulates VS Code's agent as our model sees it (docs/research/vscode-agent.md): messages,
 * retries, one message per result, and an empty text before calls. The agent runs tools until an
 * answer has no calls.
 */
import type * as vscode from 'vscode';
import type { AgentTools } from './agentTools';
import {
  CancellationTokenSource,
  LanguageModelTextPart,
  LanguageModelToolCallPart,
  LanguageModelToolResultPart,
} from './vscode';

type Part = LanguageModelTextPart | LanguageModelToolCallPart | LanguageModelToolResultPart;

interface ChatMessage {
  readonly role: number;
  readonly name: undefined;
  readonly content: readonly Part[];
}

/** The part of the language model provider that the chat calls. */
export type Respond = (
  messages: readonly vscode.LanguageModelChatRequestMessage[],
  options: vscode.ProvideLanguageModelChatResponseOptions,
  progress: vscode.Progress<vscode.LanguageModelResponsePart>,
  token: vscode.CancellationToken,
) => Thenable<void>;

export interface ChatAgentOptions {
  readonly respond: Respond;
  readonly tools: AgentTools;
  readonly system: string;
  /** ID of the chat; absent because some hosts send none. */
  readonly conversationId?: string;
}

const USER = 1;
const ASSISTANT = 2;
const SYSTEM = 3;
/** Number of retries. */
const RETRIES = 3;

const message = (role: number, ...content: Part[]): ChatMessage => ({ role, name: undefined, content });

export class ChatAgent {
  /** The conversation without the system message. */
  readonly messages: ChatMessage[] = [];
  /** Errors shown in the chat. */
  readonly errors: string[] = [];
  private runningRequest: CancellationTokenSource | undefined;

  constructor(private options: ChatAgentOptions) {}

  /** Simulates a reload: another host answers, with the same conversation. */
  moveTo(other: ChatAgent): void {
    this.options = {
      ...other.options,
      ...(this.options.conversationId !== undefined && { conversationId: this.options.conversationId }),
    };
  }

  /**
   * Sends a user message and works until an answer has no calls.
   * @returns the last answer's text; '' if canceled or failed
   */
  async ask(prompt: string): Promise<string> {
    if (this.messages.length === 0) {
      this.messages.push(message(USER, new LanguageModelTextPart('<environment_info>Linux</environment_info>')));
    }
    const promptText = `<context>The current date is November 21, 2026.</context><userRequest>${prompt}</userRequest>`;
    this.messages.push(message(USER, new LanguageModelTextPart(promptText)));
    return this.work();
  }

  /** Continues after a failed answer, like “Try Again”. */
  async work(): Promise<string> {
    for (;;) {
      const answer = await this.request();
      if (!answer) return '';
      const calls = answer.filter((part) => part instanceof LanguageModelToolCallPart);
      const text = answer.map((part) => (part instanceof LanguageModelTextPart ? part.value : '')).join('');
      this.messages.push(message(ASSISTANT, new LanguageModelTextPart(text), ...calls));
      if (calls.length === 0) return text;
      for (const call of calls) this.messages.push(message(USER, await this.run(call)));
    }
  }

  /** Simulates the stop button, which keeps the partial answer. */
  cancel(): void {
    this.runningRequest?.cancel();
  }

  /** Replaces the user's message at this index, and discards what followed it. */
  async edit(index: number, prompt: string): Promise<string> {
    this.messages.length = index;
    return this.ask(prompt);
  }

  private async request(): Promise<readonly Part[] | undefined> {
    for (let tries = 0; ; tries++) {
      const source = new CancellationTokenSource();
      this.runningRequest = source;
      const parts: Part[] = [];
      try {
        await this.send(parts, source);
        return parts;
      } catch (error) {
        if (source.token.isCancellationRequested) {
          if (parts.length > 0) this.messages.push(message(ASSISTANT, ...parts));
          return undefined;
        }
        this.errors.push(error instanceof Error ? error.message : String(error));
        if (tries === RETRIES) return undefined;
      }
    }
  }

  private async send(parts: Part[], source: CancellationTokenSource): Promise<void> {
    const { respond, system, conversationId, tools } = this.options;
    const sentMessages = [message(SYSTEM, new LanguageModelTextPart(system)), ...this.messages];
    const declaredTools = Object.keys(tools).map((name) => ({
      name,
      description: `The tool ${name}.`,
      inputSchema: { type: 'object', properties: {} },
    }));
    const progress = {
      report: (part: unknown) => {
        if (part instanceof LanguageModelTextPart || part instanceof LanguageModelToolCallPart) parts.push(part);
      },
    };
    const modelOptions = conversationId === undefined ? {} : { _conversationId: conversationId };
    // Copies are sent, because VS Code's model receives objects from another process.
    const copies: unknown = sentMessages.map(copyMessage);
    const options: unknown = { tools: declaredTools, toolMode: 1, modelOptions };
    const token: unknown = source.token;
    // The test doubles have only the members that are used.
    await respond(
      copies as vscode.LanguageModelChatRequestMessage[],
      options as vscode.ProvideLanguageModelChatResponseOptions,
      progress,
      token as vscode.CancellationToken,
    );
  }

  private async run({ callId, name, input }: LanguageModelToolCallPart): Promise<LanguageModelToolResultPart> {
    const tool = this.options.tools[name];
    const result = (said: string) => new LanguageModelToolResultPart(callId, [new LanguageModelTextPart(said)]);
    if (!tool) return result(`ERROR: The tool "${name}" does not exist`);
    try {
      return result(await tool(input as Record<string, unknown>));
    } catch (error) {
      return result(`ERROR while calling tool: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
}

const copyMessage = ({ content, ...rest }: ChatMessage): ChatMessage => ({ ...rest, content: content.map(copyPart) });

function copyPart(part: Part): Part {
  if (part instanceof LanguageModelTextPart) return new LanguageModelTextPart(part.value);
  if (part instanceof LanguageModelToolCallPart) {
    return new LanguageModelToolCallPart(part.callId, part.name, structuredClone(part.input));
  }
  return new LanguageModelToolResultPart(part.callId, (part.content as Part[]).map(copyPart));
}
