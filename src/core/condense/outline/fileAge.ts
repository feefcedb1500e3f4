import type { ToolExchange } from '../../messages/exchanges';
import { ruleFor, type ToolTable } from '../../messages/tools';
import type { ApiMessage } from '../../messages/types';
import { pathsOf } from '../summary/filesTouched';

/** How many turns lie between a message and the conversation's end. A turn begins with an assistant's message behind another's. */
export function turnCounter(messages: readonly ApiMessage[]): (message: number) => number {
  const begun: number[] = [];
  let turns = 0;
  for (const [index, { role }] of messages.entries()) {
    if (role === 'assistant' && messages[index - 1]?.role !== 'assistant') turns++;
    begun.push(turns);
  }
  return (message) => turns - (begun[message] ?? turns);
}

/** A file read that succeeded. */
export interface FileRead {
  readonly exchange: ToolExchange;
  readonly paths: readonly string[];
  /** Turns since any of its files was last read, written or edited. */
  readonly turns: number;
  /** One of its files was written or edited. */
  readonly isEdited: boolean;
}

/** The file reads of a conversation, in order. */
export function fileReads(
  exchanges: readonly ToolExchange[],
  tools: ToolTable,
  turnsSince: (message: number) => number,
): FileRead[] {
  const touched = new Map<string, number>();
  const edited = new Set<string>();
  const reads: { readonly exchange: ToolExchange; readonly paths: readonly string[] }[] = [];
  for (const exchange of exchanges) {
    const kind = ruleFor(tools, exchange.tool)?.kind;
    if (kind !== 'read' && kind !== 'write' && kind !== 'edit') continue;
    const paths = pathsOf(tools, exchange);
    for (const path of paths) {
      touched.set(path, exchange.callMessage);
      if (kind !== 'read' && !exchange.isError) edited.add(path);
    }
    if (kind === 'read' && !exchange.isError) reads.push({ exchange, paths });
  }
  return reads.map(({ exchange, paths }) => ({
    exchange,
    paths,
    turns: turnsSince(Math.max(exchange.callMessage, ...paths.map((path) => touched.get(path) ?? 0))),
    isEdited: paths.some((path) => edited.has(path)),
  }));
}
