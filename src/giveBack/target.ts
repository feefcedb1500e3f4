import { basename } from 'node:path';
import { AGENT_LIST, type AgentName } from '../core/agents';
import type { GiveBackTarget } from '../core/agents/types';
import { GiveBackError, NOTHING_WRITTEN_TEXT } from './giveBackError';

/**
 * @param agent the conversation's agent, if the path doesn't identify it
 * @returns undefined if the conversation can only be exported
 */
export function findGiveBackTarget(path: string, agent?: AgentName): GiveBackTarget | undefined {
  const known = AGENT_LIST.find(({ giveBack, name }) => {
    if (!giveBack) return false;
    return giveBack.path.test(path) || (name === agent && giveBack.customPath?.test(path));
  });
  return known?.giveBack?.target;
}

/** @throws GiveBackError `not-supported` */
export function requireGiveBackTarget(path: string, agent?: AgentName): GiveBackTarget {
  const target = findGiveBackTarget(path, agent);
  if (target) return target;
  throw new GiveBackError({
    trouble: 'not-supported',
    path,
    happened: `The agent that ${basename(path)} belongs to does not continue with what other programs write.`,
    notDone: NOTHING_WRITTEN_TEXT,
    advice: 'Export the condensed conversation, or copy a handover prompt.',
  });
}
