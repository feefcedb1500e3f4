import * as vscode from 'vscode';
import * as z from 'zod';
import type { LiveId } from '../live/request';
import type { LiveConversationsApi, RecallQuery } from '../live/types';
import { RECALL_TOOL } from './names';

const line = z.int().min(1);

/** What the model may ask for; a model's numbers can be out of bounds, and its lists single strings. */
const inputSchema = z
  .object({
    references: z.union([z.array(z.string()), z.string().transform((reference) => [reference])]),
    words: z.string(),
    pattern: z.string(),
    fromLine: line,
    toLine: line,
    maxTokens: z.number().transform((tokens) => Math.min(20_000, Math.max(100, Math.round(tokens)))),
  })
  .partial();

/** Calls whose conversation is not yet asked for. */
const MAX_CALLS = 100;

/** What the agent recalls: the tool that package.json declares, over the live conversations. */
export class RecallTool {
  /** The conversation by the call's input: VS Code doesn't tell a tool which conversation calls it. */
  private readonly callers = new Map<string, LiveId>();

  constructor(private readonly live: () => Promise<LiveConversationsApi>) {}

  /** A call that an answer made. */
  calledBy(conversation: LiveId, tool: string, input: unknown): void {
    if (tool !== RECALL_TOOL) return;
    this.callers.set(keyOf(input), conversation);
    const oldest = this.callers.size > MAX_CALLS ? this.callers.keys().next() : undefined;
    if (oldest && !oldest.done) this.callers.delete(oldest.value);
  }

  async invoke(input: unknown): Promise<vscode.LanguageModelToolResult> {
    const parsed = inputSchema.safeParse(input);
    if (!parsed.success) return textResult(`Nothing was recalled: ${z.prettifyError(parsed.error)}`);
    const live = await this.live();
    const query = withoutBlank(parsed.data);
    const caller = this.callers.get(keyOf(input)) ?? live.active()?.id;
    // A reference is found wherever it is; a search stays in the conversation.
    const here = await live.recall(caller, query);
    const found = here.kind === 'nothing' && query.references ? await live.recall(undefined, query) : here;
    return textResult(found.text);
  }
}

/** Models send empty strings for what they don't mean. */
function withoutBlank({ references, words, pattern, ...rest }: z.output<typeof inputSchema>): RecallQuery {
  const named = references?.filter((reference) => reference.trim() !== '') ?? [];
  return {
    ...(named.length > 0 && { references: named }),
    ...(words !== undefined && words.trim() !== '' && { words }),
    ...(pattern !== undefined && pattern !== '' && { pattern }),
    // Fields that are absent stay so.
    ...(rest.fromLine !== undefined && { fromLine: rest.fromLine }),
    ...(rest.toLine !== undefined && { toLine: rest.toLine }),
    ...(rest.maxTokens !== undefined && { maxTokens: rest.maxTokens }),
  };
}

const textResult = (text: string): vscode.LanguageModelToolResult =>
  new vscode.LanguageModelToolResult([new vscode.LanguageModelTextPart(text)]);

const keyOf = (input: unknown): string => JSON.stringify(input ?? null);
