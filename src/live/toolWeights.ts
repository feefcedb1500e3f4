import { getBlocks, isRecord, isToolUse } from '../core/messages/blocks';
import type { ApiMessage } from '../core/messages/types';
import type { MessageCounter } from '../core/tokens/messageCounter';

export interface DeclaredTool {
  readonly name: string;
  /** The tool's MCP server, if the name contains one. */
  readonly server?: string;
  /** o200k tokens of its declaration. */
  readonly tokens: number;
}

export interface ToolWeight extends DeclaredTool {
  readonly calls: number;
  readonly callsElsewhere: number;
}

/** Claude Code, Codex and others use `mcp__server__tool`, VS Code `mcp_server_tool`. */
const MCP_SERVER_PREFIX = /^mcp__(?<long>.+?)__|^mcp_(?<short>[^_]+)_/;

/** One declaration of Gemini's contains several tools. */
export function measureToolTokens(declarations: readonly unknown[], counter: MessageCounter): DeclaredTool[] {
  return declarations.flatMap(listDeclaredFunctions).map((declaration) => {
    const name = getToolName(declaration);
    const { long, short } = MCP_SERVER_PREFIX.exec(name)?.groups ?? {};
    const server = long ?? short;
    return { name, tokens: counter.countJson(declaration), ...(server !== undefined && { server }) };
  });
}

function listDeclaredFunctions(declaration: unknown): readonly unknown[] {
  const functions = isRecord(declaration) ? declaration['functionDeclarations'] : undefined;
  return Array.isArray(functions) ? (functions as readonly unknown[]) : [declaration];
}

/** A vendor's own tool, such as a web search, has a type instead of a name. */
export function getToolName(declaration: unknown): string {
  if (!isRecord(declaration)) return '';
  const { name, function: inner, type } = declaration;
  const ownName = isRecord(inner) ? inner['name'] : name;
  return typeof ownName === 'string' ? ownName : typeof type === 'string' ? type : '';
}

export class ToolCallCounter {
  private readonly counts = new Map<string, number>();
  private last: ApiMessage | undefined;
  private length = 0;

  /** Counts the calls of each tool. Unchanged messages must be the same objects as before. */
  followMessages(messages: readonly ApiMessage[]): void {
    if (this.length > 0 && messages[this.length - 1] !== this.last) {
      this.counts.clear();
      this.length = 0;
    }
    for (const message of messages.slice(this.length))
      for (const block of getBlocks(message))
        if (isToolUse(block)) this.counts.set(block.name, this.getCallCount(block.name) + 1);
    this.length = messages.length;
    this.last = messages.at(-1);
  }

  getCallCount(tool: string): number {
    return this.counts.get(tool) ?? 0;
  }
}

export const combineCallCounts = (
  tools: readonly DeclaredTool[],
  ownCalls: ToolCallCounter,
  otherCounters: readonly ToolCallCounter[],
): ToolWeight[] =>
  tools
    .map((tool) => ({
      ...tool,
      calls: ownCalls.getCallCount(tool.name),
      callsElsewhere: otherCounters.reduce((sum, counts) => sum + counts.getCallCount(tool.name), 0),
    }))
    .sort((a, b) => b.tokens - a.tokens);
