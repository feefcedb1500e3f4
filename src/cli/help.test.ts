import { describe, expect, it } from 'vitest';
import { BUILT_IN_PRESETS } from '../core/condense/providers/smart/presets';
import { BUILT_IN_STRATEGIES } from '../core/condense/providers/strategy/builtIn';
import { parseCommandLine } from './args';
import { GATEWAY_COMMANDS } from './gateway/agents';
import { parseGatewayLine } from './gateway/arguments';
import { SESSION_COMMANDS, findCommandsWithOption, formatHelp, STANDALONE_COMMANDS, selectOptions } from './help';

const optionsIn = (help: string): string[] => [...help.matchAll(/^ {2}--([\w-]+)/gm)].map(([, name = '']) => name);

describe('command-line help', () => {
  it.each([...SESSION_COMMANDS, ...STANDALONE_COMMANDS])(
    'for %s names exactly the options that it parses',
    (command) => {
      expect(optionsIn(formatHelp(command)).sort()).toEqual(Object.keys(selectOptions([command])).sort());
    },
  );

  it.each([
    ['run', 'gateway', ['--address-file', 'x', 'codex']],
    ['gateway', 'run', ['--hold']],
    ['gateway', 'run', ['--trust-project']],
  ] as const)('says which command has an option if %s gets one that belongs only to %s: %j', (command, other, line) => {
    expect(() => parseGatewayLine(command, line)).toThrow(`${command} has no ${line[0]}; ${other} has it.`);
  });

  it('names the commands that accept an option if it is given to a command that does not', () => {
    expect(() => parseCommandLine(['inspect', 'x', '--to', 'openai'])).toThrow('inspect has no --to; export has it.');
    expect(findCommandsWithOption('to')).toEqual(['export']);
    expect(findCommandsWithOption('no-such')).toBeUndefined();
  });

  it('names every preset and every strategy', () => {
    const help = formatHelp('condense').replace(/\s+/g, ' ');
    for (const { id } of [...BUILT_IN_PRESETS, ...BUILT_IN_STRATEGIES]) expect(help).toContain(id);
  });

  it('for run names every agent that it can start', () => {
    const [, agents = ''] = /Agents: (.*?)\. /.exec(formatHelp('run').replace(/\s+/g, ' ')) ?? [];
    expect(agents.replace(/ \([^)]*\)/, '').split(', ')).toEqual([...GATEWAY_COMMANDS].sort());
  });

  it('for the program lists each command in a line that fits a terminal', () => {
    for (const command of [...SESSION_COMMANDS, ...STANDALONE_COMMANDS])
      expect(formatHelp()).toMatch(new RegExp(`^  ${command} +\\w`, 'm'));
    for (const command of [undefined, ...SESSION_COMMANDS, ...STANDALONE_COMMANDS])
      for (const line of formatHelp(command).split('\n')) expect(line.length).toBeLessThanOrEqual(110);
  });
});
