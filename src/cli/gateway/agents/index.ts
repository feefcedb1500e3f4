/**
 * The agents that `run` supports by command: exactly those that the table of agents marks for the
 * gateway.
 */
import { AGENT_LIST, type GatewayCommand } from '../../../core/agents';
import type { GatewayAgent } from './agent';
import { claudeCode } from './claudeCode';
import { cline } from './cline';
import { codex } from './codex';
import { continueCli } from './continueCli';
import { copilotCli } from './copilotCli';
import { geminiCli } from './geminiCli';
import { kilo, openCode } from './openCode';
import { pi } from './pi';
import { qwenCode } from './qwenCode';

const AGENTS: Readonly<Record<GatewayCommand, GatewayAgent>> = {
  claude: claudeCode,
  cline,
  cn: continueCli,
  codex,
  copilot: copilotCli,
  gemini: geminiCli,
  kilo,
  opencode: openCode,
  pi,
  qwen: qwenCode,
};

export const GATEWAY_COMMANDS = Object.keys(AGENTS) as readonly GatewayCommand[];

const isCommand = (word: string): word is GatewayCommand => Object.hasOwn(AGENTS, word);

/** Undefined for an unknown command. */
export function gatewayAgent(command: string): (GatewayAgent & { readonly name: string }) | undefined {
  if (!isCommand(command)) return undefined;
  const row = AGENT_LIST.find(({ live }) => live.through === 'gateway' && live.command === command);
  return { ...AGENTS[command], name: row?.name ?? command };
}
