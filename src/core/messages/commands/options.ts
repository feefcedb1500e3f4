import type { ScriptWord } from './script';

export interface ParsedCommandOptions {
  /** By option name without dashes; '' if an option has no value. */
  readonly valuesByOption: ReadonlyMap<string, readonly ScriptWord[]>;
  /** Files and patterns; undefined if unknown before the command runs. */
  readonly operands: readonly ScriptWord[];
}

/**
 * Splits words as GNU's programs do.
 * @param words without the program's name
 * @param valued options that take a value
 */
export function parseCommandOptions(words: readonly ScriptWord[], valued: ReadonlySet<string>): ParsedCommandOptions {
  const valuesByOption = new Map<string, ScriptWord[]>();
  const operands: ScriptWord[] = [];
  const addOption = (name: string, value: ScriptWord): void => {
    const values = valuesByOption.get(name);
    if (values) values.push(value);
    else valuesByOption.set(name, [value]);
  };
  for (let wordIndex = 0; wordIndex < words.length; wordIndex++) {
    const word = words[wordIndex];
    if (word === '--') {
      operands.push(...words.slice(wordIndex + 1));
      break;
    }
    if (word === undefined || word === '-' || !word.startsWith('-')) {
      operands.push(word);
    } else if (word.startsWith('--')) {
      const [name = '', ...rest] = word.slice(2).split('=');
      if (rest.length > 0) addOption(name, rest.join('='));
      else addOption(name, valued.has(name) ? words[++wordIndex] : '');
    } else if (/^-\d/.test(word)) {
      addOption('number', word.slice(1));
    } else {
      for (let letter = 1; letter < word.length; letter++) {
        const name = word[letter] as string;
        if (!valued.has(name)) {
          addOption(name, '');
          continue;
        }
        addOption(name, letter + 1 < word.length ? word.slice(letter + 1) : words[++wordIndex]);
        break;
      }
    }
  }
  return { valuesByOption, operands };
}

export const hasOption = ({ valuesByOption }: ParsedCommandOptions, ...names: readonly string[]): boolean =>
  names.some((name) => valuesByOption.has(name));

export function getOption({ valuesByOption }: ParsedCommandOptions, ...names: readonly string[]): ScriptWord {
  for (const name of names) {
    const value = valuesByOption.get(name)?.at(-1);
    if (value !== undefined) return value;
  }
  return undefined;
}
