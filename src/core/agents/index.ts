/**
 * The one table of agents. Names in lists, readers, stores, tools, what is given back and the documents' tables are made of it or
 * held to it by a test.
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

const TABLE = {
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

type Table = typeof TABLE;
export type AgentId = keyof Table;
/** As people know it. */
export type AgentName = Table[AgentId]['name'];
/** The formats in which agents store conversations. */
export type AgentFormat = Table[AgentId]['formats'][number];

/** The commands of the agents whose requests can go through the gateway. */
export type GatewayCommand = Extract<Table[AgentId]['live'], { through: 'gateway' }>['command'];

/** An agent whose row is known by its id, name and formats. */
export type KnownAgent = Agent & { readonly name: AgentName; readonly formats: readonly AgentFormat[] };

export const AGENTS: Readonly<Record<AgentId, KnownAgent>> = TABLE;

/** All agents, in the order in which they are listed. */
export const AGENT_LIST: readonly KnownAgent[] = Object.values(AGENTS);

/** The command of an agent, by the name that people know it by, whose requests can go through the gateway; undefined for others. */
export function getLiveCommand(name: string): string | undefined {
  const live = AGENT_LIST.find((agent) => agent.name === name)?.live;
  return live?.through === 'gateway' ? live.command : undefined;
}
