import { basename } from 'node:path';
import type { AgentName } from '../core/agents';
import { findGiveBackTarget } from '../core/agents/giveBackTarget';
import type { GiveBackTarget } from '../core/agents/types';
import { GiveBackError, NOTHING_WRITTEN_TEXT } from './giveBackError';

/** @throws GiveBackError `not-supported` */
export function requireGiveBackTarget(path: string, agent?: AgentName): GiveBackTarget {
  const target = findGiveBackTarget(path, agent);
  if (target) return target;
  throw new GiveBackError({
    kind: 'not-supported',
    path,
    happened: `The agent that ${basename(path)} belongs to does not continue with what other programs write.`,
    notDone: NOTHING_WRITTEN_TEXT,
    advice: 'Export the condensed conversation, or copy a handover prompt.',
  });
}
