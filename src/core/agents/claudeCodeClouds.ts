/** Variables that lead Claude Code past `ANTHROPIC_BASE_URL` to other addresses, as the published program (2.1.330) lists them. */
export const CLAUDE_CODE_CLOUDS = [
  'CLAUDE_CODE_USE_BEDROCK',
  'CLAUDE_CODE_USE_VERTEX',
  'CLAUDE_CODE_USE_FOUNDRY',
  'CLAUDE_CODE_USE_ANTHROPIC_AWS',
  'CLAUDE_CODE_USE_ANTHROPIC_GOOGLE_CLOUD',
  'CLAUDE_CODE_USE_MANTLE',
  'CLAUDE_CODE_USE_GATEWAY',
];

/** Whether a variable such as `CLAUDE_CODE_USE_BEDROCK` turns something on. */
export const isTurnedOn = (value: string | undefined): boolean => !['', '0', 'false', undefined].includes(value);
