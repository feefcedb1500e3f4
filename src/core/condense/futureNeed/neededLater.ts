import type { ApiMessage } from '../../messages/types';
import { listToolExchanges, type ToolExchange } from '../../messages/exchanges';
import { findFileLinesQuotedInCall, getShownLines, type NamedFileLine, type ShownLine } from '../lines/shownLines';

/** A line that an edit quoted, and the places before the cut that show it. */
export interface NeededLine extends NamedFileLine {
  readonly shown: readonly ShownLine[];
}

/**
 * Finds lines that edits quote after a cut and that, until then, only the prefix had shown.
 * @param cut index of the first message after the prefix
 * @param end exclusive
 */
export function findNeededLines(messages: readonly ApiMessage[], cut: number, end: number): NeededLine[] {
  const shownLineIndex = getShownLines(messages);
  const neededByKey = new Map<string, NeededLine>();
  for (const [index, calls] of groupCallsByTurn(messages, cut, end)) {
    for (const quotedLine of calls.flatMap(findFileLinesQuotedInCall)) {
      const key = `${quotedLine.file}\n${quotedLine.line}`;
      if (neededByKey.has(key)) continue;
      const occurrences = shownLineIndex.findShownLine(quotedLine);
      const shownBefore = occurrences.filter(({ message }) => message < cut);
      const isShownAgain = occurrences.some(({ message }) => message >= cut && message < index);
      if (shownBefore.length > 0 && !isShownAgain) neededByKey.set(key, { ...quotedLine, shown: shownBefore });
    }
  }
  return [...neededByKey.values()];
}

export function groupCallsByTurn(
  messages: readonly ApiMessage[],
  cut: number,
  end: number,
): Map<number, ToolExchange[]> {
  const calls = new Map<number, ToolExchange[]>();
  for (const exchange of listToolExchanges(messages.slice(cut, end))) {
    const callMessage = exchange.callMessage + cut;
    calls.set(callMessage, [...(calls.get(callMessage) ?? []), exchange]);
  }
  return calls;
}
