import type { Conversation } from '../conversations/types';

/** The file's facts about the conversation's own model: its system prompt, and whose it is. */
export function getKnownFacts({ request, format }: Conversation): {
  readonly system?: string;
  readonly vendor?: string;
} {
  const system = request?.['system'];
  return {
    ...(typeof system === 'string' && { system }),
    ...(format === 'claude-code' && { vendor: 'anthropic' }),
  };
}
