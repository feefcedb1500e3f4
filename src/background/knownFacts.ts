import type { Conversation } from '../conversations/types';

/** The system prompt and vendor of the conversation's own model, as recorded in the file. */
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
