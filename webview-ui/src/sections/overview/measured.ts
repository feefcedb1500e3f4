/**
 * The saving and the time of the providers without a model for a conversation of 200K tokens. The README's table says the
 * same; a test compares.
 */
export const MEASURED = {
  lossless: { savedPercent: 24, seconds: 0.06 },
  truncation: { savedPercent: 49, seconds: 0.01 },
} as const;
