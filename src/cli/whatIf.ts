import { join, resolve } from 'node:path';
import { countCopiedRequestsOnce } from '../core/account/once';
import { computeSessionAccount } from '../account/sessionAccount';
import { simulateSessionWithCondensation, type SessionWhatIfResult } from '../account/sessionWhatIf';
import { simulateSessionSavings, type WhatIfChoice } from '../account/storesWhatIf';
import { loadPriceTable } from '../api/prices';
import { selectSessionsUsedSince, sumSessionAccounts, type SessionAccount } from '../core/account/account';
import {
  formatAccountCost,
  WHAT_IF_ASSUMPTIONS,
  describeWhatIfCounts,
  formatWhatIfHeadline,
} from '../core/account/words';
import { sumSessionSavings, type WhatIfSum } from '../core/account/whatIf';
import { mayCallModel } from '../core/condense/config';
import { JUDGED_CHOICES } from '../core/condense/futureNeed/judgedChoices';
import { CondensationManager, createProviders } from '../core/condense';
import { formatCost, formatTokens } from '../core/format';
import { DEFAULT_THRESHOLD_PERCENT } from '../core/condense/trigger/thresholds';
import { formatPlural } from '../core/plural';
import { MessageCounter } from '../core/tokens/messageCounter';
import { ENGINE_BUNDLE } from '../engine/engineThread';
import { readConversationOnce } from '../engine/readConversation';
import { loadTokenCounter } from '../storage/assets';
import { UsageError } from './args';
import { EXIT_CODE, type CliIo, type ExitCode } from './io';

/** @param choiceName ID of a provider or preset that calls no model */
export async function runWhatIfCommand(
  [file = '']: readonly string[],
  choiceName: string,
  { window, json }: { readonly window: number | undefined; readonly json: boolean },
  io: CliIo,
): Promise<ExitCode> {
  const [conversation, tokens, prices] = await Promise.all([
    readConversationOnce(join(io.assets, ENGINE_BUNDLE), resolve(file), { history: 'all' }, io.signal),
    loadTokenCounter(io.assets),
    loadPriceTable(),
  ]);
  const counter = new MessageCounter(tokens);
  const manager = new CondensationManager(counter, createProviders());
  const result = await simulateSessionWithCondensation(
    conversation,
    { manager, ...parseWhatIfChoice(choiceName), window, signal: io.signal },
    { counter, prices },
  );
  if (!result) throw new UsageError("The model's window is not known from the session: set it with --window <tokens>.");
  if (json) {
    io.stdout(`${JSON.stringify({ with: choiceName, ...result, ...toWhatIfJson(result) })}\n`);
    return EXIT_CODE.done;
  }
  const sessionFile = { agent: '', path: file, modified: io.now().getTime() };
  const [account] = countCopiedRequestsOnce([computeSessionAccount(sessionFile, conversation, { counter, prices })]);
  if (account) io.stdout(formatWhatIf(result, choiceName, account));
  return EXIT_CODE.done;
}

/**
 * @param sessions including their requests before the period
 * @param period such as "The last 7 days"
 */
export async function computeWhatIfForSessions(
  sessions: readonly SessionAccount[],
  choiceName: string,
  {
    period,
    sinceDay,
    cache,
  }: { readonly period: string; readonly sinceDay: string | undefined; readonly cache: string },
  io: CliIo,
): Promise<{ readonly sum: WhatIfSum; readonly name: string; readonly lines: string }> {
  const recentSessions = selectSessionsUsedSince(sessions, sinceDay);
  const savings = await simulateSessionSavings(
    recentSessions,
    parseWhatIfChoice(choiceName),
    { cache, version: io.version, signal: io.signal },
    () => loadTokenCounter(io.assets),
  );
  const savingsSum = sumSessionSavings(recentSessions, savings, sinceDay);
  const name = JUDGED_CHOICES.find(({ id }) => id === choiceName)?.name ?? choiceName;
  const lines = [
    formatWhatIfHeadline(savingsSum, period, name),
    ` - ${describeWhatIfCounts(savingsSum)}`,
    ` - ${WHAT_IF_ASSUMPTIONS}`,
    ' - How this is computed: docs/guide/costs.md, "What sessions would have cost".',
    '',
  ].join('\n');
  return { sum: savingsSum, name, lines };
}

/** @throws UsageError unless it is a provider or preset that calls no model */
export function parseWhatIfChoice(choiceName: string): WhatIfChoice {
  const providers = createProviders();
  const builtInProvider = providers.find(({ id }) => id === choiceName);
  const config = builtInProvider ? {} : choiceName;
  const provider = builtInProvider ?? providers.find(({ id }) => id === 'smart');
  const checkedConfig = provider?.validateConfig(config);
  if (!provider || !checkedConfig?.valid || mayCallModel(provider, config))
    throw new UsageError(
      `--with is a provider or a preset that calls no model, such as lossless or file-aware, not "${choiceName}".`,
    );
  return { provider: provider.id, config, threshold: { percent: DEFAULT_THRESHOLD_PERCENT } };
}

/** Null if a price is unknown. */
const toWhatIfJson = ({ before, after, rereads }: SessionWhatIfResult) => ({
  before: before ?? null,
  after: after ?? null,
  rereads: rereads ?? null,
});

/** @param sessionAccount the session as `account` adds it up */
function formatWhatIf(result: SessionWhatIfResult, choiceName: string, sessionAccount: SessionAccount): string {
  const { before, after, rereads, requests, condensations, needed, missing, recallable, window, dueTokens } = result;
  const range =
    after === undefined || rereads === undefined
      ? 'unknown'
      : rereads === 0
        ? formatCost(after)
        : `${formatCost(after)} to ${formatCost(after + rereads)}`;
  const thresholdText = `${formatTokens(dueTokens)} tokens of a window of ${formatTokens(window)}`;
  const condensedWords =
    condensations === 0
      ? `Nothing would have been condensed; condensing starts at ${thresholdText}`
      : `${formatPlural(condensations, 'condensation')} at ${thresholdText}; each restarts the cache after its first change`;
  const neededLinesText =
    needed === 0
      ? 'none from before a condensation'
      : `${formatTokens(needed)}, of which ${formatTokens(missing)} were gone by then (${formatTokens(recallable)} recallable)`;
  return [
    `${formatPlural(requests, 'request')}, replayed from the conversation: ${formatCost(before)} without condensing, ${range} with ${choiceName}`,
    // Explain why two figures for the same session differ.
    ...(sessionAccount.source === 'recorded'
      ? [
          ` - Cost by the usage that the agent recorded: ${formatAccountCost(sumSessionAccounts([sessionAccount]))}. Replaying estimates tokens and cache use, so its costs can differ from this one; compare them with each other.`,
        ]
      : []),
    ` - ${condensedWords}`,
    ` - Lines that edits of the next 20 turns quoted: ${neededLinesText}`,
    ' - Assumptions: the agent says and does the same, and its own compactions stay.',
    ...(rereads === undefined || rereads === 0 ? [] : [' - Upper end: each place with such lines is read once more.']),
    '',
  ].join('\n');
}
