/**
 * The table of agents. Lists, readers, stores, tools, give-back and documentation are derived from
 * it or tested against it.
 */
import { claudeCode } from './claudeCode';
import { codex } from './codex';
import { continueDev } from './continue';
import { copilotCli, vscode } from './copilot';
import { cursor } from './cursor';
import { gemini, qwenCode } from './gemini';
import { openCode } from './openCode';
import { ohMyPi, pi } from './pi';
import { cline, kilo, roo, zoo } from './roo';
import type { Agent } from './types';

const AGENT_TABLE = {
  'claude-code': claudeCode,
  codex,
  vscode,
  'copilot-cli': copilotCli,
  roo,
  zoo,
  kilo,
  cline,
  opencode: openCode,
  'gemini-cli': gemini,
  'qwen-code': qwenCode,
  pi,
  'oh-my-pi': ohMyPi,
  cursor,
  continue: continueDev,
} as const satisfies Readonly<Record<string, Agent>>;

type AgentTable = typeof AGENT_TABLE;
export type AgentId = keyof AgentTable;
export type AgentName = AgentTable[AgentId]['name'];
export type AgentFormat = AgentTable[AgentId]['formats'][number];

export type GatewayCommand = Extract<AgentTable[AgentId]['live'], { through: 'gateway' }>['command'];

export type KnownAgent = Agent & { readonly name: AgentName; readonly formats: readonly AgentFormat[] };

export const AGENTS: Readonly<Record<AgentId, KnownAgent>> = AGENT_TABLE;

export const AGENT_LIST: readonly KnownAgent[] = Object.values(AGENTS);

export function getLiveCommand(name: string): string | undefined {
  const live = AGENT_LIST.find((agent) => agent.name === name)?.live;
  return live?.through === 'gateway' ? live.command : undefined;
}
