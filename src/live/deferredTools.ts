/**
 * Tools declared with `defer_loading`: until the model finds them by a search, their schemas are
 * not part of its prompt.
 *
 * - Anthropic (guide "Tool use with prompt caching"): the definition of a found tool is in a
 * `tool_reference` block of the conversation.
 * - OpenAI (guide "Tool search"): the model sees only the name and description of a namespace, an
 * MCP server or a deferred function. Found tools are in an item (`tool_search_output`).
 * - Baseten (guide "Deferred tool loading"): "Deferred schemas don't count as input tokens until
 * the model asks for them."
 */
import { getBlocks, isRecord } from '../core/messages/blocks';
import type { ApiMessage, Block } from '../core/messages/types';
import { getToolName } from './toolWeights';

export interface VisibleTools {
  readonly loaded: readonly unknown[];
  /** Tools whose schemas are in the prompt from the start, without a search. */
  readonly upFront: readonly unknown[];
}

export function findVisibleTools(tools: readonly unknown[], messages: readonly ApiMessage[]): VisibleTools {
  if (!tools.some(containsDeferredTool)) return { loaded: tools, upFront: tools };
  const loadedNames = new Set<string>();
  for (const message of messages)
    for (const block of getBlocks(message)) for (const name of findReferencedTools(block)) loadedNames.add(name);
  return {
    loaded: mapDeferredTools(tools, (tool) => (loadedNames.has(getToolName(tool)) ? tool : makeToolAnnouncement(tool))),
    upFront: mapDeferredTools(tools, () => undefined),
  };
}

type ToolDeclaration = Readonly<Record<string, unknown>>;

/** The list of tools inside a namespace, or inside Codex's item that declares more tools. */
const getInnerTools = (tool: ToolDeclaration): readonly unknown[] =>
  Array.isArray(tool['tools']) ? (tool['tools'] as readonly unknown[]) : [];

const isDeferredTool = (tool: ToolDeclaration): boolean => tool['defer_loading'] === true;

const containsDeferredTool = (tool: unknown): boolean =>
  isRecord(tool) && (isDeferredTool(tool) || getInnerTools(tool).some((inner) => containsDeferredTool(inner)));

function mapDeferredTools(tools: readonly unknown[], ofDeferred: (tool: ToolDeclaration) => unknown): unknown[] {
  return tools.flatMap((tool) => {
    if (!isRecord(tool) || !containsDeferredTool(tool)) return [tool];
    if (isDeferredTool(tool)) {
      const replacement = ofDeferred(tool);
      return replacement === undefined ? [] : [replacement];
    }
    const innerTools = mapDeferredTools(
      getInnerTools(tool),
      tool['type'] === 'namespace' ? () => undefined : ofDeferred,
    );
    return [{ ...tool, tools: innerTools }];
  });
}

/** The model sees the description of a deferred function of the Responses API. */
function makeToolAnnouncement({ type, name, description }: ToolDeclaration): unknown {
  return type === 'function' && typeof name === 'string' ? { type, name, description } : undefined;
}

function findReferencedTools(block: Block): string[] {
  const content = block['content'];
  const innerContent = isRecord(content) ? content['tool_references'] : content;
  const parts: readonly unknown[] = Array.isArray(innerContent)
    ? [block, ...(innerContent as readonly unknown[])]
    : [block];
  return parts.flatMap((part) => {
    const name = isRecord(part) && part['type'] === 'tool_reference' ? part['tool_name'] : undefined;
    return typeof name === 'string' ? [name] : [];
  });
}
