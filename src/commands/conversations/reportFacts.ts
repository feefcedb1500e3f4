import { readSetting } from '../../window/settings/settings';
import type { Services } from '../../window/services';
import { findFillOfCondensedCopy, getConversationIndex } from '../conversationIndex';
import { listGivenBack } from './background';

/** Returns facts for a conversation's report that the conversation's file doesn't contain. */
export async function readReportFacts(services: Services, path: string) {
  const { details, agent } = getConversationIndex(services).conversations.find((each) => each.path === path) ?? {};
  const conversationId = details?.id;
  const givenBack = await listGivenBack(services);
  return {
    agent,
    isGivenBack: givenBack.some(({ conversation }) => conversation === conversationId),
    isCopy: givenBack.some((each) => each.path === path && each.conversation !== conversationId),
    fill: findFillOfCondensedCopy(services, path),
    assumedWindow: readSetting('conversations.contextWindow'),
  };
}
