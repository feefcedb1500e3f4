import { AGENT_LIST } from '.';
import type { GiveBackTarget } from './types';

/**
 * @param agent the conversation's agent, if the path doesn't identify it
 * @returns undefined if the conversation can only be exported
 */
export function findGiveBackTarget(path: string, agent?: string): GiveBackTarget | undefined {
  const knownAgent = AGENT_LIST.find(({ giveBack, name }) => {
    if (!giveBack) return false;
    return giveBack.path.test(path) || (name === agent && giveBack.customPath?.test(path));
  });
  return knownAgent?.giveBack?.target;
}
