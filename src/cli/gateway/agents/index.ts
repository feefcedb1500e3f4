/** Contains exactly the agents that the table in core/agents marks as usable with the gateway. */
import { AGENT_LIST, type GatewayCommand } from '../../../core/agents';
import type { GatewayAgent } from './agent';
import { claudeCode } from './claudeCode';
import { clineGatewayAgent } from './cline';
import { codexGatewayAgent } from './codex';
import { continueCli } from './continueCli';
import { copilotCli } from './copilotCli';
import { geminiCli } from './geminiCli';
import { kiloGatewayAgent, openCode } from './openCode';
import { piGatewayAgent } from './pi';
import { qwenCode } from './qwenCode';

const GATEWAY_AGENTS: Readonly<Record<GatewayCommand, GatewayAgent>> = {
  claude: claudeCode,
  cline: clineGatewayAgent,
  cn: continueCli,
  codex: codexGatewayAgent,
  copilot: copilotCli,
  gemini: geminiCli,
  kilo: kiloGatewayAgent,
  opencode: openCode,
  pi: piGatewayAgent,
  qwen: qwenCode,
};

export const GATEWAY_COMMANDS = Object.keys(GATEWAY_AGENTS) as readonly GatewayCommand[];

const isGatewayCommand = (word: string): word is GatewayCommand => Object.hasOwn(GATEWAY_AGENTS, word);

/** Returns undefined for a command that isn't one of these agents. */
export function findGatewayAgent(command: string): (GatewayAgent & { readonly name: string }) | undefined {
  if (!isGatewayCommand(command)) return undefined;
  const row = AGENT_LIST.find(({ live }) => live.through === 'gateway' && live.command === command);
  return { ...GATEWAY_AGENTS[command], name: row?.name ?? command };
}
