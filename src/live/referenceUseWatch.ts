/** Counts what an agent asks for again after condensations. */
import type { CondensationId } from '../core/condense/ledger/ledger';
import type { Edit } from '../core/condense/edits/edits';
import { findTurnStarts } from '../core/condense/futureNeed/cuts';
import {
  addShownLines,
  groupEditsByPlace,
  isUseExcessive,
  LinesByFile,
  ZERO_USE_AFTER_CONDENSATION,
  splitIntoShownLines,
  classifyUseOfRemoved,
  TURNS_WATCHED_AFTER_CONDENSATION,
  type UseAfterCondensation,
} from '../core/condense/ledger/use';
import { Exchanges, listToolExchanges } from '../core/messages/exchanges';
import { DEFAULT_TOOLS } from '../core/messages/tools';
import type { ApiMessage } from '../core/messages/types';

export interface WatchedCondensation {
  readonly id: CondensationId;
  /**
   * Number of messages when this condensation was made, and when the first condensation was made.
   */
  readonly from: number;
  readonly first: number;
  readonly edits: readonly Edit[];
}

export class ReferenceUseWatch {
  private countedUse = ZERO_USE_AFTER_CONDENSATION;
  private readMessageCount: number;

  private constructor(
    readonly id: CondensationId,
    private readonly removed: LinesByFile,
    /** How much content the agent asked for again before any condensation, per turn. */
    private readonly rate: number,
    from: number,
  ) {
    this.readMessageCount = from;
  }

  static startWatch(
    messages: readonly ApiMessage[],
    { id, from, first: firstMessage, edits }: WatchedCondensation,
  ): ReferenceUseWatch {
    const editsByPlace = groupEditsByPlace(edits);
    const [knownLines, removedLines, remainingLines] = [new LinesByFile(), new LinesByFile(), new LinesByFile()];
    let useCount = 0;
    const messagesBefore = messages.slice(0, from);
    const exchanges = new Exchanges();
    for (const exchange of exchanges.getExchanges(messagesBefore)) {
      if (exchange.callMessage < firstMessage) {
        if (classifyUseOfRemoved(exchange, DEFAULT_TOOLS, knownLines)) useCount++;
        addShownLines(knownLines, exchange, DEFAULT_TOOLS);
      }
      splitIntoShownLines(exchange, DEFAULT_TOOLS, editsByPlace, { removed: removedLines, remaining: remainingLines });
    }
    const turnCount = findTurnStarts(messages.slice(0, firstMessage)).length;
    return new ReferenceUseWatch(
      id,
      removedLines.copyWithoutLines(remainingLines),
      useCount / Math.max(1, turnCount),
      from,
    );
  }

  get use(): UseAfterCondensation {
    return { ...this.countedUse, expected: this.rate * this.countedUse.turns };
  }

  get isOver(): boolean {
    return this.countedUse.turns >= TURNS_WATCHED_AFTER_CONDENSATION || isUseExcessive(this.use);
  }

  /** The messages must contain each call together with its results. */
  followMessages(messages: readonly ApiMessage[]): void {
    const addedMessages = messages.slice(this.readMessageCount);
    this.readMessageCount = messages.length;
    const turnStarts = findTurnStarts(addedMessages);
    for (const [turnIndex, turn] of turnStarts.entries()) {
      if (this.isOver) return;
      const newCounts = { ...this.countedUse, turns: this.countedUse.turns + 1 };
      for (const exchange of listToolExchanges(addedMessages.slice(turn, turnStarts[turnIndex + 1]))) {
        const use = classifyUseOfRemoved(exchange, DEFAULT_TOOLS, this.removed);
        if (use) newCounts[use]++;
      }
      this.countedUse = newCounts;
    }
  }
}
