import { describe, expect, it } from 'vitest';
import { BUILT_IN_PRESETS } from '../core/condense/providers/smart/presets';
import { BUILT_IN_STRATEGIES } from '../core/condense/providers/strategy/builtIn';
import { OPTIONS as ACCOUNT } from './account';
import { OPTIONS as OF_FILES } from './args';
import { OPTIONS as GATEWAY, parseGatewayLine } from './gateway/arguments';
import { COMMANDS, commandsWith, formatHelp, OTHER_COMMANDS } from './help';
import { OPTIONS as JUDGE } from './judge';
import { OPTIONS as MCP } from './mcp/mcpCommand';

const OPTIONS = { account: ACCOUNT, gateway: GATEWAY, run: GATEWAY, judge: JUDGE, mcp: MCP };
const optionsIn = (help: string): string[] => [...help.matchAll(/^ {2}--([\w-]+)/gm)].map(([, name = '']) => name);

describe('help', () => {
  it.each(OTHER_COMMANDS)('of %s names the options that it parses', (command) => {
    const others = command === 'run' ? ['address-file'] : command === 'gateway' ? ['hold', 'trust-project'] : [];
    expect([...optionsIn(formatHelp(command)), ...others].sort()).toEqual(Object.keys(OPTIONS[command]).sort());
    for (const option of others) {
      const line = command === 'run' ? [`--${option}`, 'x', 'codex'] : [`--${option}`];
      expect(() => parseGatewayLine(command as 'run' | 'gateway', line)).toThrow(
        `${command} has no --${option}; ${command === 'run' ? 'gateway' : 'run'} has it.`,
      );
    }
  });

  it('names every option of commands with a file for one of them, and no other', () => {
    const named = new Set(COMMANDS.flatMap((command) => optionsIn(formatHelp(command))));
    expect([...named, 'help', 'version'].sort()).toEqual(Object.keys(OF_FILES).sort());
    expect(commandsWith('to')).toEqual(['export']);
    expect(commandsWith('no-such')).toBeUndefined();
  });

  it('names every preset and every strategy', () => {
    const help = formatHelp('condense').replace(/\s+/g, ' ');
    for (const { id } of [...BUILT_IN_PRESETS, ...BUILT_IN_STRATEGIES]) expect(help).toContain(id);
  });

  it('of the program lists the commands, each in a line that fits a terminal', () => {
    for (const command of [...COMMANDS, ...OTHER_COMMANDS])
      expect(formatHelp()).toMatch(new RegExp(`^  ${command} +\\w`, 'm'));
    for (const command of [undefined, ...COMMANDS, ...OTHER_COMMANDS])
      for (const line of formatHelp(command).split('\n')) expect(line.length).toBeLessThanOrEqual(110);
  });
});
