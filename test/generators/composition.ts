/**
 * Measures what a conversation consists of. The generator aims at the figures of 273 real sessions.
 */
import { getBlocks, isText, isThinking, isToolResult, isToolUse } from '../../src/core/messages/blocks';
import { listToolExchanges, type ToolExchange } from '../../src/core/messages/exchanges';
import type { ApiMessage } from '../../src/core/messages/types';

export interface Composition {
  /** Total characters of the five kinds below. */
  readonly chars: number;
  readonly toolResult: number;
  readonly toolInput: number;
  readonly thinking: number;
  readonly assistantText: number;
  readonly userText: number;
  /** Each tool's share of the characters of all results. */
  readonly results: Readonly<Record<string, number>>;
  /** Shares of the content that was read. */
  readonly reads: {
    /** Share of reads whose whole text was read before, by characters. */
    readonly identical: number;
    /** Share of lines that were read before from the same file, by characters. */
    readonly repeatedLines: number;
    readonly lineNumbers: number;
    /** Share of rereads that request only a part. */
    readonly partialRereads: number;
  };
  /** Share of the calls' inputs that belong to failed calls. */
  readonly erroredInput: number;
}

export function composition(messages: readonly ApiMessage[]): Composition {
  const sums = { toolResult: 0, toolInput: 0, thinking: 0, assistantText: 0, userText: 0 };
  for (const message of messages) {
    const textKey = message.role === 'assistant' ? 'assistantText' : 'userText';
    if (typeof message.content === 'string') sums[textKey] += message.content.length;
    for (const block of getBlocks(message)) {
      if (isText(block)) sums[textKey] += block.text.length;
      else if (isThinking(block)) sums.thinking += block.thinking.length;
      else if (isToolUse(block)) sums.toolInput += JSON.stringify(block.input).length;
      else if (isToolResult(block)) sums.toolResult += getText(block.content).length;
    }
  }
  const exchanges = listToolExchanges(messages);
  const chars = Object.values(sums).reduce((sum, value) => sum + value, 0);
  const share = (part: number): number => part / Math.max(1, chars);
  const inputChars = (some: readonly ToolExchange[]): number =>
    some.reduce((sum, { input }) => sum + JSON.stringify(input).length, 0);
  return {
    chars,
    toolResult: share(sums.toolResult),
    toolInput: share(sums.toolInput),
    thinking: share(sums.thinking),
    assistantText: share(sums.assistantText),
    userText: share(sums.userText),
    results: resultShares(exchanges, sums.toolResult),
    reads: readShares(exchanges.filter(({ tool, isError }) => tool === 'Read' && !isError)),
    erroredInput: inputChars(exchanges.filter(({ isError }) => isError)) / Math.max(1, inputChars(exchanges)),
  };
}

const getText = (content: unknown): string =>
  typeof content === 'string'
    ? content
    : Array.isArray(content)
      ? content.map((part: unknown) => (part as { text?: string }).text ?? '').join('')
      : '';

function resultShares(exchanges: readonly ToolExchange[], total: number): Record<string, number> {
  const shares: Record<string, number> = {};
  for (const { tool, resultText } of exchanges)
    shares[tool] = (shares[tool] ?? 0) + resultText.length / Math.max(1, total);
  return shares;
}

const NUMBERED = /^ *\d+(?:→|\t)/;

function readShares(reads: readonly ToolExchange[]): Composition['reads'] {
  const texts = new Set<string>();
  const linesByPath = new Map<string, Set<string>>();
  const sums = { chars: 0, identical: 0, repeated: 0, numbers: 0, rereads: 0, partial: 0 };
  for (const { input, resultText } of reads) {
    const path = String(input['file_path']);
    const earlierLines = linesByPath.get(path);
    const seenLines = earlierLines ?? new Set<string>();
    linesByPath.set(path, seenLines);
    sums.chars += resultText.length;
    if (texts.has(resultText)) sums.identical += resultText.length;
    texts.add(resultText);
    if (earlierLines) {
      sums.rereads++;
      if (input['limit'] !== undefined || input['offset'] !== undefined) sums.partial++;
    }
    for (const line of resultText.split('\n')) {
      const prefix = NUMBERED.exec(line)?.[0].length ?? 0;
      const text = line.slice(prefix);
      sums.numbers += prefix;
      if (earlierLines && seenLines.has(text)) sums.repeated += line.length + 1;
    }
    for (const line of resultText.split('\n')) seenLines.add(line.replace(NUMBERED, ''));
  }
  const share = (part: number): number => part / Math.max(1, sums.chars);
  return {
    identical: share(sums.identical),
    repeatedLines: share(sums.repeated),
    lineNumbers: share(sums.numbers),
    partialRereads: sums.partial / Math.max(1, sums.rereads),
  };
}
