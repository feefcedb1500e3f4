import { basename } from 'node:path';
import type { Agent } from '../conversations/stores/types';
import { GiveBackError, NOTHING_WRITTEN } from './giveBackError';

/** The ways in which an agent can go on with a condensed conversation. */
export type GiveBackTarget = 'roo-task' | 'cline-sidecar' | 'claude-code-session';

/** Folders of the extensions whose tasks can be written: Roo Code and its successor Zoo Code. */
const TASK =
  /[\\/](?:rooveterinaryinc\.roo-cline|zoocodeorganization\.zoo-code)[\\/]tasks[\\/][^\\/]+[\\/]api_conversation_history\.json$/i;
/** A task in a folder that its user chose: what finds it knows by the agent's settings whose it is. */
const ANY_TASK = /[\\/]tasks[\\/][^\\/]+[\\/]api_conversation_history\.json$/;
const TASK_AGENTS: readonly (Agent | undefined)[] = ['Roo Code', 'Zoo Code'];
const CLINE_SESSION = /[\\/]sessions[\\/]([^\\/]+)[\\/]\1\.messages\.json$/;
const CLAUDE_SESSION = /[\\/]projects[\\/][^\\/]+[\\/][0-9a-f-]{36}\.jsonl$/i;

/**
 * How a conversation can be given back, by where its file lies: only there does its agent read what is written.
 * @param agent whose conversation it is, where that is known otherwise.
 * @returns undefined where it can only be exported.
 */
export function possibleTarget(path: string, agent?: Agent): GiveBackTarget | undefined {
  if (TASK.test(path) || (TASK_AGENTS.includes(agent) && ANY_TASK.test(path))) return 'roo-task';
  if (CLINE_SESSION.test(path)) return 'cline-sidecar';
  return CLAUDE_SESSION.test(path) ? 'claude-code-session' : undefined;
}

/** @throws GiveBackError `not-supported` */
export function targetOf(path: string, agent?: Agent): GiveBackTarget {
  const target = possibleTarget(path, agent);
  if (target) return target;
  throw new GiveBackError({
    trouble: 'not-supported',
    path,
    happened: `The agent that ${basename(path)} belongs to does not go on with what others write.`,
    notDone: NOTHING_WRITTEN,
    advice: 'Export the condensed conversation, or copy a hand-over prompt.',
  });
}
