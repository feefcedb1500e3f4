/** Which stored task is worth condensing before its agent resumes it. */
import type { AgentName } from '../core/agents';
import { possibleTarget } from './target';

/** Milliseconds without a change after which a task is idle: before that its agent may wait for a build or for an answer. */
export const IDLE_MS = 10 * 60 * 1000;
/** Milliseconds without a change after which nobody is about to resume a task. */
export const FORGOTTEN_MS = 7 * 24 * 60 * 60 * 1000;
/** A task is offered again once it holds so many times the tokens that it held. */
const GROWTH = 1.1;

export interface StoredTask {
  readonly path: string;
  readonly agent: AgentName;
  /** Milliseconds since the epoch. */
  readonly modified: number;
  /** Of what its agent would send next. */
  readonly tokens: number;
  /** Milliseconds since the epoch: when the condensation was made that its view shows. */
  readonly condensedAt?: number;
}

/** The answer about a task: the tokens that it held when it was offered, or never to offer it. */
export type OfferAnswer = number | 'never';

export interface IdleTasks {
  /** The newest that is to be offered. */
  readonly due: StoredTask | undefined;
  /** Milliseconds until the next one becomes idle; undefined where none will. */
  readonly waitMs: number | undefined;
}

/**
 * @param thresholdTokens from how many tokens on a task is offered.
 * @param now milliseconds since the epoch.
 */
export function idleTasks(
  tasks: readonly StoredTask[],
  answers: ReadonlyMap<string, OfferAnswer>,
  thresholdTokens: number,
  now: number,
): IdleTasks {
  const wanted = tasks
    .filter((task) => task.tokens >= thresholdTokens && possibleTarget(task.path, task.agent) !== undefined)
    .filter((task) => !isAnswered(task, answers) && !isCondensed(task) && now - task.modified < FORGOTTEN_MS)
    .toSorted((a, b) => b.modified - a.modified);
  const waits = wanted.map(({ modified }) => modified + IDLE_MS - now);
  const due = wanted.find((_task, index) => (waits[index] ?? 0) <= 0);
  const waitMs = Math.min(...waits.filter((ms) => ms > 0));
  return { due, waitMs: Number.isFinite(waitMs) ? waitMs : undefined };
}

function isAnswered({ path, tokens }: StoredTask, answers: ReadonlyMap<string, OfferAnswer>): boolean {
  const answer = answers.get(path);
  return answer !== undefined && (answer === 'never' || tokens < answer * GROWTH);
}

/** One that went on since it was condensed may be condensed again. */
const isCondensed = ({ condensedAt, modified }: StoredTask): boolean =>
  condensedAt !== undefined && condensedAt >= modified;
