/** Writes README's table of agents for `npm run manifest`. */
import { AGENT_LIST, type KnownAgent } from '.';

export const renderAgentsTable = (): string =>
  [
    '| agent | while it works | what it has stored |',
    '|---|---|---|',
    ...AGENT_LIST.map((agent) => `| ${agent.name} | ${describeLiveAccess(agent)} | ${describeStoredAccess(agent)} |`),
  ].join('\n');

function describeLiveAccess({ live }: KnownAgent): string {
  switch (live.through) {
    case 'chat-models':
      return 'in its chat, with a model that ends in "· condensed"';
    case 'gateway':
      return `\`context-condenser run ${live.command}\``;
    case 'nothing':
      return 'not yet';
  }
}

function describeStoredAccess({ formats, giveBack, storesFewResults }: KnownAgent): string {
  if (formats.length === 0) return 'not read yet';
  if (storesFewResults) return 'read, exported; it stores few tool results, so there is little to condense';
  return giveBack ? 'condensed, exported, given back to it' : 'condensed, exported';
}
