/**
 * Offers to condense an idle stored task above its threshold before the user resumes it. Off by
 * default.
 */
import * as vscode from 'vscode';
import { isUpToDate, type ConversationIndex } from '../../background/conversationIndex';
import { formatFillShare } from '../../core/account/fillLevel';
import { computeThresholdTokens } from '../../core/condense/trigger/thresholds';
import { formatTokens } from '../../core/format';
import { getErrorMessage } from '../../core/errors';
import { selectIdleTasks, type StoredTask, type IdleTaskOfferAnswer } from '../../giveBack/idleTask';
import { LoadedLedgers } from '../../views/conversations/ledgers';
import { findShownCondensation } from '../../views/conversations/nodes';
import { condenseNow } from '../condenseNow';
import { getConversationIndex, getFileName, watchConversations } from '../conversationIndex';
import type { Services } from '../../window/services';
import { listLedgersSince } from './background';
import { readModelSettings } from '../../window/settings/modelSettings';
import { readSetting } from '../../window/settings/settings';
import type { Memento } from 'vscode';
import * as z from 'zod';
import { showInformationMessage } from '../../window/notifications';

const MAX_IDLE_TASK_OFFERS_PER_WINDOW = 3;

const watchByServices = new WeakMap<Services, IdleTaskWatch>();

/** Starts looking for idle tasks, once per window. */
export function watchIdleTasks(services: Services): void {
  if (watchByServices.has(services)) return;
  const watch = new IdleTaskWatch(services);
  watchByServices.set(services, watch);
  services.context.subscriptions.push(watch);
  watch.startWatching();
}

class IdleTaskWatch implements vscode.Disposable {
  private readonly index: ConversationIndex;
  private readonly ledgers = new LoadedLedgers();
  private readonly subscriptions: { dispose(): void }[];
  private timer: NodeJS.Timeout | undefined;
  private offerCount = 0;
  private isChecking = false;
  private isDisposed = false;

  constructor(private readonly services: Services) {
    this.index = getConversationIndex(services);
    const checkTasks = (): void => void this.checkForIdleTask();
    this.subscriptions = [this.index.onDidChange(checkTasks), vscode.window.onDidChangeWindowState(checkTasks)];
  }

  startWatching(): void {
    watchConversations(this.services).catch((error: unknown) => {
      this.services.log.warn(`Could not watch conversations for changes. ${String(error)}`);
    });
    if (this.index.isBusy || this.index.conversations.length > 0) void this.checkForIdleTask();
    else void this.index.refresh();
  }

  dispose(): void {
    this.isDisposed = true;
    clearTimeout(this.timer);
    for (const subscription of this.subscriptions) subscription.dispose();
  }

  /** Offers one task at a time, only in the focused window. */
  private async checkForIdleTask(): Promise<void> {
    clearTimeout(this.timer);
    if (this.isChecking || this.index.isBusy || !vscode.window.state.focused) return;
    this.isChecking = true;
    try {
      while (readSetting('conversations.offerIdleTasks') && this.offerCount < MAX_IDLE_TASK_OFFERS_PER_WINDOW) {
        const task = await this.findNextTask();
        if (!task || this.isDisposed) break;
        this.offerCount += 1;
        await this.offerTask(task);
      }
    } catch (error) {
      const message = getErrorMessage(error);
      this.services.log.warn(`Could not look for idle tasks. ${message}`);
    } finally {
      this.isChecking = false;
    }
  }

  /**
   * Returns a task to offer now. If there is none, schedules a check for when the next becomes
   * idle.
   */
  private async findNextTask(): Promise<StoredTask | undefined> {
    const { globalState } = this.services.context;
    const findDueTask = () => selectIdleTasks(this.listCountedTasks(), readOfferAnswers(globalState), Date.now());
    await this.forgetAnswersOfSmallTasks();
    // Read ledgers only if there is a task to offer.
    if (findDueTask().due) this.ledgers.applyLedgersResult(await listLedgersSince(this.services, this.ledgers.since));
    const { due, waitMs } = findDueTask();
    if (!due && waitMs !== undefined && !this.isDisposed)
      this.timer = setTimeout(() => void this.checkForIdleTask(), waitMs);
    return due;
  }

  private listCountedTasks(): StoredTask[] {
    const assumedWindow = readSetting('conversations.contextWindow');
    const { threshold } = readModelSettings();
    return this.index.conversations.filter(isUpToDate).flatMap((conversation) => {
      const { path, agent, modified, details } = conversation;
      const fill = details?.fill;
      if (!fill) return [];
      const lastCondensation = findShownCondensation(this.ledgers.findLedger(conversation));
      const condensedAtField = lastCondensation === undefined ? {} : { condensedAt: Date.parse(lastCondensation.at) };
      return {
        path,
        agent,
        modified,
        tokens: fill.tokens,
        threshold: computeThresholdTokens(threshold, fill.window ?? assumedWindow),
        share: formatFillShare(fill, assumedWindow),
        ...condensedAtField,
      };
    });
  }

  /**
   * Forgets offers of tasks below the threshold, so that a task condensed in place may be offered
   * again after growing.
   */
  private async forgetAnswersOfSmallTasks(): Promise<void> {
    const { globalState } = this.services.context;
    const answers = readOfferAnswers(globalState);
    for (const { path, tokens, threshold } of this.listCountedTasks()) {
      const isOffered = typeof answers.get(path) === 'number';
      if (isOffered && tokens < threshold) await recordOfferAnswer(globalState, path, undefined);
    }
  }

  private async offerTask({ path, agent, tokens, share }: StoredTask): Promise<void> {
    const { globalState } = this.services.context;
    const condenseLabel = vscode.l10n.t('Condense');
    const laterLabel = vscode.l10n.t('Not Now');
    const neverLabel = vscode.l10n.t('Never for This Task');
    const message = vscode.l10n.t(
      '“{0}” ({1}) is idle and has {2} tokens, {3} of the window. Condense it before you resume it?',
      getFileName(this.services, path),
      agent,
      formatTokens(tokens),
      share,
    );
    // Save first: if the user closes the window without answering, the task still counts as
    // offered.
    await recordOfferAnswer(globalState, path, tokens);
    const answer = await showInformationMessage(message, condenseLabel, laterLabel, neverLabel);
    if (answer === neverLabel) await recordOfferAnswer(globalState, path, 'never');
    if (answer === condenseLabel) await condenseNow(this.services, path);
  }
}

const IDLE_TASKS_STATE_KEY = 'contextCondenser.idleTasks';

/** Only this many of the newest answers are kept. Asking again after a long time is harmless. */
const MAX_STORED_OFFER_ANSWERS = 500;

const answersSchema = z.array(z.tuple([z.string(), z.union([z.number(), z.literal('never')])]));

/** Returns the user's answers by task path, without invalid ones. */
export function readOfferAnswers(state: Memento): ReadonlyMap<string, IdleTaskOfferAnswer> {
  return new Map(answersSchema.safeParse(state.get(IDLE_TASKS_STATE_KEY)).data ?? []);
}

/** @param answer undefined deletes the answer, so that the task may be offered again */
export async function recordOfferAnswer(
  state: Memento,
  path: string,
  answer: IdleTaskOfferAnswer | undefined,
): Promise<void> {
  const offerAnswers = new Map(readOfferAnswers(state));
  offerAnswers.delete(path);
  if (answer !== undefined) offerAnswers.set(path, answer);
  await state.update(IDLE_TASKS_STATE_KEY, [...offerAnswers].slice(-MAX_STORED_OFFER_ANSWERS));
}
