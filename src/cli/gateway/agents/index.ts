/** The agents that `run` knows, by the name of their command. */
import type { KnownAgent } from './agent';
import { claudeCode } from './claudeCode';
import { cline } from './cline';
import { codex } from './codex';
import { continueCli } from './continueCli';
import { geminiCli } from './geminiCli';
import { kilo, openCode } from './openCode';
import { pi } from './pi';
import { qwenCode } from './qwenCode';

export const AGENTS: Readonly<Partial<Record<string, KnownAgent>>> = {
  claude: claudeCode,
  cline,
  cn: continueCli,
  codex,
  gemini: geminiCli,
  kilo,
  opencode: openCode,
  pi,
  qwen: qwenCode,
};
