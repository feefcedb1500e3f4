import { describe, expect, it } from 'vitest';
import { BUILT_IN_PRESETS } from '../core/condense/providers/smart/presets';
import { BUILT_IN_STRATEGIES } from '../core/condense/providers/strategy/builtIn';
import { parseLine } from './args';
import { parseGatewayLine } from './gateway/arguments';
import { COMMANDS, commandsWith, formatHelp, OTHER_COMMANDS, parsedOptions } from './help';

const optionsIn = (help: string): string[] => [...help.matchAll(/^ {2}--([\w-]+)/gm)].map(([, name = '']) => name);

describe('help', () => {
  it.each([...COMMANDS, ...OTHER_COMMANDS])('of %s names the options that it parses', (command) => {
    expect(optionsIn(formatHelp(command)).sort()).toEqual(Object.keys(parsedOptions([command])).sort());
  });

  it.each([
    ['run', 'gateway', ['--address-file', 'x', 'codex']],
    ['gateway', 'run', ['--hold']],
    ['gateway', 'run', ['--trust-project']],
  ] as const)('%s refuses an option of %s alone: %j', (command, other, line) => {
    expect(() => parseGatewayLine(command, line)).toThrow(`${command} has no ${line[0]}; ${other} has it.`);
  });

  it('an option that a command with a file does not have is refused with those that have it', () => {
    expect(() => parseLine(['inspect', 'x', '--to', 'openai'])).toThrow('inspect has no --to; export has it.');
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
