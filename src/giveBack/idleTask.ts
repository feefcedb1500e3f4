import type { AgentName } from '../core/agents';
import { findGiveBackTarget } from '../core/agents/giveBackTarget';

/** Before this time the agent may be waiting for a build or an answer. */
export const MIN_TASK_IDLE_MS = 10 * 60 * 1000;
/** After this time a task is unlikely to be resumed. */
export const MAX_TASK_IDLE_MS = 7 * 24 * 60 * 60 * 1000;
const OFFER_AGAIN_GROWTH_FACTOR = 1.1;

export interface StoredTask {
  readonly path: string;
  readonly agent: AgentName;
  /** Milliseconds since the epoch. */
  readonly modified: number;
  /** Tokens that the agent would send next. */
  readonly tokens: number;
  /** Tokens from which it is offered. */
  readonly threshold: number;
  /** Share of the window that the tokens fill, such as `≈ 80%`. */
  readonly share: string;
  /** Milliseconds since the epoch at which the shown condensation was made. */
  readonly condensedAt?: number;
}

/** The task's tokens when it was offered, or `never` if it must not be offered again. */
export type IdleTaskOfferAnswer = number | 'never';

export interface SelectedIdleTasks {
  readonly due: StoredTask | undefined;
  /** Milliseconds until the next task becomes idle. */
  readonly waitMs: number | undefined;
}

/** @param nowMs milliseconds since the epoch */
export function selectIdleTasks(
  tasks: readonly StoredTask[],
  offerAnswers: ReadonlyMap<string, IdleTaskOfferAnswer>,
  nowMs: number,
): SelectedIdleTasks {
  const candidates = tasks
    .filter((task) => task.tokens >= task.threshold && findGiveBackTarget(task.path, task.agent) !== undefined)
    .filter(
      (task) =>
        !hasBeenAnswered(task, offerAnswers) &&
        !isCondensedSinceChange(task) &&
        nowMs - task.modified < MAX_TASK_IDLE_MS,
    )
    .toSorted((a, b) => b.modified - a.modified);
  const waitTimesMs = candidates.map(({ modified }) => modified + MIN_TASK_IDLE_MS - nowMs);
  const dueTask = candidates.find((_task, index) => (waitTimesMs[index] ?? 0) <= 0);
  const waitMs = Math.min(...waitTimesMs.filter((ms) => ms > 0));
  return { due: dueTask, waitMs: Number.isFinite(waitMs) ? waitMs : undefined };
}

function hasBeenAnswered({ path, tokens }: StoredTask, answers: ReadonlyMap<string, IdleTaskOfferAnswer>): boolean {
  const answer = answers.get(path);
  return answer !== undefined && (answer === 'never' || tokens < answer * OFFER_AGAIN_GROWTH_FACTOR);
}

const isCondensedSinceChange = ({ condensedAt, modified }: StoredTask): boolean =>
  condensedAt !== undefined && condensedAt >= modified;
