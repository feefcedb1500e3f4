/**
 * Variables that make Claude Code ignore `ANTHROPIC_BASE_URL`, as listed in the published program
 * (2.1.330).
 */
export const CLAUDE_CODE_CLOUD_VARIABLES = [
  'CLAUDE_CODE_USE_BEDROCK',
  'CLAUDE_CODE_USE_VERTEX',
  'CLAUDE_CODE_USE_FOUNDRY',
  'CLAUDE_CODE_USE_ANTHROPIC_AWS',
  'CLAUDE_CODE_USE_ANTHROPIC_GOOGLE_CLOUD',
  'CLAUDE_CODE_USE_MANTLE',
  'CLAUDE_CODE_USE_GATEWAY',
];

export const isVariableTurnedOn = (value: string | undefined): boolean =>
  !['', '0', 'false', undefined].includes(value);
