/**
 * Measures obsolete content that Lossless keeps, for each agent: the most that could be gained if
 * references replaced it. Each text counts without the tokens of its marker.
 */
import { applyEdits } from '../../src/core/condense/edits/applyEdits';
import { listToolExchanges, type ToolExchange } from '../../src/core/messages/exchanges';
import { listFileParts } from '../../src/core/messages/fileParts';
import { makeFileKey } from '../../src/core/messages/filePath';
import { getCommandOfCall, DEFAULT_TOOLS, getToolPath, getToolRule } from '../../src/core/messages/tools';
import { loadAllSessions } from './corpus';
import { condense, freshCounter, LOSSLESS } from './measure';
import { percent, table } from './table';

const OBSOLETE_KINDS = [
  'files that commands write whole, written again later',
  'listings and searches, the same call made again later',
  'failed runs of a command that ran again later',
  'failed runs of a command that succeeded later',
] as const;
type ObsoleteKind = (typeof OBSOLETE_KINDS)[number];

export interface ObsoleteRow {
  readonly agent: string;
  readonly sessions: number;
  /** Number of o200k tokens before Lossless. */
  readonly tokens: number;
  readonly replaced: Readonly<Record<ObsoleteKind, number>>;
}

/** Number of tokens of a marker. */
const MARKER_TOKENS = 15;

export async function benchObsolete(tell: (text: string) => void): Promise<ObsoleteRow[]> {
  const rows: ObsoleteRow[] = [];
  for (const [agent, sessions] of Map.groupBy(loadAllSessions(tell), (each) => each.agent)) {
    const replacedTokens = Object.fromEntries(OBSOLETE_KINDS.map((kind) => [kind, 0])) as Record<ObsoleteKind, number>;
    let tokens = 0;
    for (const { messages } of sessions) {
      const counter = freshCounter();
      tokens += counter.countMessages(messages);
      const { edits } = await condense(messages, LOSSLESS, counter);
      const exchanges = listToolExchanges(applyEdits(messages, edits).messages);
      for (const [kind, text] of replacedTexts(exchanges))
        replacedTokens[kind] += Math.max(0, counter.countText(text) - MARKER_TOKENS);
    }
    rows.push({ agent, sessions: sessions.length, tokens, replaced: replacedTokens });
  }
  return rows;
}

/** Goes backwards, so that later content is known. */
function replacedTexts(exchanges: readonly ToolExchange[]): [ObsoleteKind, string][] {
  const [writes, listings, failedBefore, failedFirst] = OBSOLETE_KINDS;
  const texts: [ObsoleteKind, string][] = [];
  const laterCalls = {
    written: new Set<string>(),
    asked: new Set<string>(),
    ran: new Set<string>(),
    succeeded: new Set<string>(),
  };
  for (const exchange of exchanges.toReversed()) {
    const kind = getToolRule(DEFAULT_TOOLS, exchange)?.kind;
    const callKey = JSON.stringify([exchange.tool, exchange.input]);
    if (kind === 'write') {
      const path = getToolPath(DEFAULT_TOOLS, exchange);
      if (path !== undefined && !exchange.isError) laterCalls.written.add(makeFileKey(path));
    } else if (kind === 'list' || kind === 'search') {
      if (laterCalls.asked.has(callKey) && !exchange.isError) texts.push([listings, exchange.resultText]);
      laterCalls.asked.add(callKey);
    } else if (kind === 'command') {
      const writtenPaths: string[] = [];
      for (const content of exchange.parameters) {
        for (const { path, linePrefix: head, firstLine, start, end } of listFileParts(
          DEFAULT_TOOLS,
          exchange,
          content,
        )) {
          if (head !== undefined || firstLine !== 1) continue;
          if (laterCalls.written.has(makeFileKey(path))) texts.push([writes, content.text.slice(start, end)]);
          writtenPaths.push(makeFileKey(path));
        }
      }
      for (const path of writtenPaths) laterCalls.written.add(path);
      const line = getCommandOfCall(exchange);
      if (line === undefined) continue;
      const hasFailed = exchange.isError || /\bexit(?:ed with)? code:? [1-9]/i.test(exchange.resultText);
      if (hasFailed && laterCalls.ran.has(line)) texts.push([failedBefore, exchange.resultText]);
      if (hasFailed && laterCalls.succeeded.has(line)) texts.push([failedFirst, exchange.resultText]);
      laterCalls.ran.add(line);
      if (!hasFailed) laterCalls.succeeded.add(line);
    }
  }
  return texts;
}

export const obsoleteTable = (rows: readonly ObsoleteRow[]): string =>
  table(
    ['agent', 'sessions', 'tokens', ...OBSOLETE_KINDS],
    rows.map(({ agent, sessions, tokens, replaced }) => [
      agent,
      sessions,
      tokens,
      ...OBSOLETE_KINDS.map((kind) => percent(replaced[kind] / tokens, 2)),
    ]),
  );
