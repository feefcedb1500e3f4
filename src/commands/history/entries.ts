import { isRestoring } from '../../live/liveConversation';
import type { CondensationOutline, LedgerOutline } from '../../background/taskResults';
import type { CondensationId } from '../../core/condense/ledger/ledger';
import type { UseAfterCondensation } from '../../core/condense/ledger/use';
import type { RunMetrics } from '../../core/condense/metrics/metrics';
import { findShownCondensation, findUndoneCondensation } from '../../views/conversations/nodes';

export type HistoryStoreKind = 'stored' | 'live';

export interface HistoryPass {
  readonly name: string;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
}

export interface HistoryEntry {
  readonly condensation: CondensationId;
  readonly conversation: string;
  /** The conversation's title, or its ID. */
  readonly title: string;
  readonly place: HistoryStoreKind;
  readonly path?: string;
  /** Time of the condensation, ISO 8601. */
  readonly at: string;
  readonly provider: string;
  readonly preset?: string;
  /** Passes that changed something. */
  readonly passes: readonly HistoryPass[];
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  readonly timeMs: number;
  /** US dollars that the condensation cost; absent if a price is unknown. */
  readonly cost?: number;
  /** How the agent later requested removed content; absent if it was not watched. */
  readonly use?: UseAfterCondensation;
  /** How often the agent reread lines that were removed from new results. */
  readonly rereads?: number;
  /** US dollars saved by each later request; absent if unknown. */
  readonly savedPerRequest?: number;
  /** True if the agent continues with the result: in the chat, or after it was given back. */
  readonly isInUse: boolean;
  /** True if the conversation's file no longer exists, such as that of a copy that was undone. */
  readonly isGone?: boolean;
  /** True if another provider or model than the chosen one was used. */
  readonly isFallback: boolean;
  readonly state: 'shown' | 'undone' | 'replaced';
  readonly change?: 'undo' | 'redo';
}

/**
 * @param canChange whether a conversation's condensations can be undone now
 * @param isInUse whether a conversation's agent continues with the result
 */
export function createHistoryEntries(
  ledgers: readonly LedgerOutline[],
  place: HistoryStoreKind,
  runs: ReadonlyMap<CondensationId, RunMetrics>,
  canChange: (conversation: string) => boolean,
  isInUse: (conversation: string) => boolean,
): HistoryEntry[] {
  return ledgers
    .flatMap((ledger) => {
      const condensations = ledger.condensations.filter((one) => !isRestoring(one));
      const shownLedger = { ...ledger, condensations };
      const changeByCondensation = new Map<CondensationOutline | undefined, 'undo' | 'redo'>([
        [findShownCondensation(shownLedger), 'undo'],
        [findUndoneCondensation(shownLedger), 'redo'],
      ]);
      return condensations.map((condensation) => {
        const change = canChange(ledger.conversation) ? changeByCondensation.get(condensation) : undefined;
        return {
          ...createHistoryEntry(ledger, condensation, place, runs.get(condensation.id), change),
          isInUse: isInUse(ledger.conversation),
        };
      });
    })
    .sort((a, b) => b.at.localeCompare(a.at));
}

function createHistoryEntry(
  { conversation, title, path }: LedgerOutline,
  {
    id,
    at,
    provider,
    configName,
    steps,
    tokensBefore,
    tokensAfter,
    cost,
    use,
    rereads,
    isUndone,
    isReplaced,
  }: CondensationOutline,
  place: HistoryStoreKind,
  run: RunMetrics | undefined,
  change: 'undo' | 'redo' | undefined,
): Omit<HistoryEntry, 'isInUse'> {
  const { preset = configName, savedPerRequest } = run ?? {};
  return {
    condensation: id,
    conversation,
    title: title ?? conversation,
    place,
    ...(path !== undefined && { path }),
    at,
    provider,
    ...(preset !== undefined && { preset }),
    passes: steps
      .filter(({ edits }) => edits > 0)
      .map((step) => ({ name: step.name, tokensBefore: step.tokensBefore, tokensAfter: step.tokensAfter })),
    tokensBefore,
    tokensAfter,
    timeMs: run?.timeMs ?? steps.reduce((sum, step) => sum + step.timeMs, 0),
    ...(cost !== undefined && { cost }),
    ...(use && { use }),
    ...(rereads !== undefined && { rereads }),
    ...(savedPerRequest !== undefined && { savedPerRequest }),
    isFallback: run?.fallback ?? false,
    state: isReplaced ? 'replaced' : isUndone ? 'undone' : 'shown',
    ...(change && { change }),
  };
}
