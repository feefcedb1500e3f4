import type { ProviderCapabilities } from './types';

/** Of providers whose passes or steps may be of any kind. */
export const EVERYTHING: ProviderCapabilities = {
  supportsLossless: true,
  supportsBatchMode: true,
  supportsIndividualMode: true,
  supportsMultiPass: true,
  supportsLLMSummarization: true,
  estimatedSpeed: 'medium',
};
