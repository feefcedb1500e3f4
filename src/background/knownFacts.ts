import type { Conversation } from '../conversations/types';

export function getRecordedSystemAndVendor({ request, format }: Conversation): {
  readonly system?: string;
  readonly vendor?: string;
} {
  const system = request?.['system'];
  return {
    ...(typeof system === 'string' && { system }),
    ...(format === 'claude-code' && { vendor: 'anthropic' }),
  };
}
