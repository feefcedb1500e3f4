import * as vscode from 'vscode';
import * as z from 'zod';
import type { LiveId } from '../live/request';
import { recallInputSchema, toRecallQuery } from '../live/recallInput';
import type { ChatConversations, RecalledImage } from '../live/types';
import { RECALL_TOOL_NAME } from './names';
import { LruMap } from '../core/lruMap';

const MAX_TRACKED_CALLS = 100;

export class RecallTool {
  /**
   * Conversations by the input of their recall calls, because VS Code doesn't say which
   * conversation calls the tool.
   */
  private readonly callers = new LruMap<string, LiveId>(MAX_TRACKED_CALLS);

  constructor(private readonly live: () => Promise<ChatConversations>) {}

  recordCaller(conversation: LiveId, tool: string, input: unknown): void {
    if (tool !== RECALL_TOOL_NAME) return;
    this.callers.set(createInputKey(input), conversation);
  }

  async invokeTool(input: unknown): Promise<vscode.LanguageModelToolResult> {
    const parsedInput = recallInputSchema.safeParse(input);
    if (!parsedInput.success) return makeTextResult(`Nothing was recalled: ${z.prettifyError(parsedInput.error)}`);
    const live = await this.live();
    const query = toRecallQuery(parsedInput.data);
    const [only, ...others] = live.list();
    const caller = this.callers.get(createInputKey(input)) ?? (others.length === 0 ? only?.id : undefined);
    // A reference is searched in all conversations, words or a pattern only in the calling one.
    if (!query.references && caller === undefined)
      return makeTextResult('Nothing was searched: it is not known which conversation asks. Recall by reference.');
    const ownAnswer = await live.recall(caller, query);
    const recallAnswer =
      ownAnswer.kind === 'nothing' && query.references ? await live.recall(undefined, query) : ownAnswer;
    return recallAnswer.kind === 'found'
      ? makeToolResult(recallAnswer.text, recallAnswer.images)
      : makeTextResult(recallAnswer.text);
  }
}

const makeTextResult = (text: string): vscode.LanguageModelToolResult => makeToolResult(text, []);

const makeToolResult = (text: string, images: readonly RecalledImage[]): vscode.LanguageModelToolResult =>
  new vscode.LanguageModelToolResult([
    new vscode.LanguageModelTextPart(text),
    ...images.map(({ mediaType, data }) => vscode.LanguageModelDataPart.image(Buffer.from(data, 'base64'), mediaType)),
  ]);

const createInputKey = (input: unknown): string => JSON.stringify(input ?? null);
