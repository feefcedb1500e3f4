import type { ToolExchange } from '../../messages/exchanges';
import { makeFileKey } from '../../messages/filePath';
import { getToolRule, type ToolTable } from '../../messages/tools';
import type { ApiMessage } from '../../messages/types';
import { listTouchedPaths } from '../../messages/filesTouched';

/** A turn begins with an assistant message that follows another message. */
export function createTurnCounter(messages: readonly ApiMessage[]): (message: number) => number {
  const turnsBegunByMessage: number[] = [];
  let turns = 0;
  for (const [index, { role }] of messages.entries()) {
    if (role === 'assistant' && messages[index - 1]?.role !== 'assistant') turns++;
    turnsBegunByMessage.push(turns);
  }
  return (message) => turns - (turnsBegunByMessage[message] ?? turns);
}

function findLastTouchedMessages(exchanges: readonly ToolExchange[], tools: ToolTable): ReadonlyMap<string, number> {
  const lastMessageByFile = new Map<string, number>();
  for (const exchange of exchanges) {
    const kind = getToolRule(tools, exchange)?.kind;
    if (kind !== 'read' && kind !== 'write' && kind !== 'edit') continue;
    for (const path of listTouchedPaths(tools, exchange))
      lastMessageByFile.set(makeFileKey(path), exchange.callMessage);
  }
  return lastMessageByFile;
}

export interface FileRead {
  readonly exchange: ToolExchange;
  readonly paths: readonly string[];
  /** Turns since any of `paths` was last read, written or edited. */
  readonly turns: number;
}

export function findFileReads(
  exchanges: readonly ToolExchange[],
  tools: ToolTable,
  countTurnsSince: (message: number) => number,
): FileRead[] {
  const lastMessageByFile = findLastTouchedMessages(exchanges, tools);
  return exchanges.flatMap((exchange) => {
    if (exchange.isError || getToolRule(tools, exchange)?.kind !== 'read') return [];
    const paths = listTouchedPaths(tools, exchange);
    const lastTouchedMessage = Math.max(
      exchange.callMessage,
      ...paths.map((path) => lastMessageByFile.get(makeFileKey(path)) ?? 0),
    );
    return [{ exchange, paths, turns: countTurnsSince(lastTouchedMessage) }];
  });
}
