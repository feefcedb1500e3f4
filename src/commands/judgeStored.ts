import { listJudgedChoices, type JudgedChoice } from '../core/condense/futureNeed/judgedChoices';
import { needsModelOrExtension } from '../core/condense/types';
import type { JudgedSessions } from '../conversations/judgeSessions';
import { runInBackground } from '../window/background';
import type { Services } from '../window/services';
import { readManualSettings } from '../window/settings/manualSettings';
import { resolveProviderConfig } from '../window/settings/providerConfig';
import { getConversationIndex } from './conversationIndex';

/** Limits the time: daily users have thousands of sessions. */
const MAX_JUDGED_SESSIONS = 60;

export interface StoredJudgement extends JudgedSessions {
  readonly choices: readonly JudgedChoice[];
  /**
   * True if Lossless was measured instead of the current provider, because that one needs a model
   * or another extension.
   */
  readonly isOther: boolean;
}

/**
 * Measures choices by the newest stored conversations, in a worker.
 * @throws the signal's reason if aborted
 */
export async function judgeStoredSessions(
  services: Services,
  signal: AbortSignal,
  report: (done: number, of: number) => void,
): Promise<StoredJudgement> {
  const { provider } = readManualSettings();
  const usesModelOrExtension = needsModelOrExtension(provider);
  const choices = listJudgedChoices(
    usesModelOrExtension ? { provider: 'lossless' } : { provider, config: resolveProviderConfig(provider) },
  );
  const index = getConversationIndex(services);
  await index.refresh();
  signal.throwIfAborted();
  // Measure with the longest conversations first.
  const locations = index.conversations
    .filter(({ parent }) => parent === undefined)
    .slice(0, MAX_JUDGED_SESSIONS)
    .toSorted((a, b) => (b.bytes ?? 0) - (a.bytes ?? 0))
    .map(({ path }) => path);
  const judgment = await runInBackground(services, { kind: 'judge', locations, choices }, signal, ({ judge }) => {
    if (judge) report(judge.done, judge.all);
  });
  return { ...judgment, choices, isOther: usesModelOrExtension };
}
