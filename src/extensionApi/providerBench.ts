/** Runs a provider in its author's tests, with the same checks as in VS Code. */
import { CondensationManager, type CondensationRequest } from '../core/condense';
import { MessageCounter } from '../core/tokens/messageCounter';
import { loadTokenCounter } from '../storage/assets';
import type { BenchOptions, Conversation, Estimate, Message, Outcome, Provider } from './api';
import { createExternalProvider } from './externalProvider';
import { makeApiView } from './externalView';
import { toApiOutcome } from './outcome';
import { parseConversation, parseOptions, parseProvider, type ParsedConversation } from './parse';

/** @param assets folder of the token counter's rank table */
async function createManager(provider: Provider, assets: string): Promise<CondensationManager> {
  const external = createExternalProvider(parseProvider(provider));
  return new CondensationManager(new MessageCounter(await loadTokenCounter(assets)), [external]);
}

const makeRequest = (conversation: ParsedConversation, options: BenchOptions | undefined): CondensationRequest => ({
  ...parseOptions(options),
  ...conversation,
  conversation: conversation.id,
  trigger: 'manual',
});

export async function condense(
  provider: Provider,
  conversation: Conversation,
  options?: BenchOptions,
  assets = __dirname,
): Promise<Outcome> {
  const parsedConversation = parseConversation(conversation);
  const manager = await createManager(provider, assets);
  return toApiOutcome(await manager.condense(makeRequest(parsedConversation, options)), parsedConversation);
}

export async function estimate(
  provider: Provider,
  conversation: Conversation,
  options?: BenchOptions,
  assets = __dirname,
): Promise<Estimate> {
  const manager = await createManager(provider, assets);
  const { tokensBefore, tokensAfter, cost } = await manager.estimate(
    makeRequest(parseConversation(conversation), options),
  );
  return { tokensBefore, tokensAfter, cost };
}

export function viewOf(conversation: Conversation): readonly Message[] {
  const { messages, edits } = parseConversation(conversation);
  return makeApiView(messages, edits);
}
