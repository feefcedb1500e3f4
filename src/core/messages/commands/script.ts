/** A command line in one form: the simple commands that it runs, in their order. */

import type { Slice } from '../../slice';
import { joinPath } from '../filePath';

/** A word of a command; undefined where it is only known once the command runs. */
export type Word = string | undefined;

/** A text that a command gets on its standard input. */
export interface GivenText {
  readonly text: string;
  /** Where it stands in the command line; undefined where it stands there in another spelling. */
  readonly at: Slice | undefined;
}

/** Where a command's output goes instead of being printed. */
export interface Redirect {
  readonly stream: 'output' | 'errors' | 'both';
  readonly to: Word;
  readonly appends: boolean;
}

/** A program with its arguments: one command of a pipe. */
export interface SimpleCommand {
  /** The program's name first, without its folder. */
  readonly words: readonly Word[];
  readonly given: GivenText | undefined;
  /** The file that it reads as its standard input. */
  readonly inputFile: Word | null;
  readonly redirects: readonly Redirect[];
}

/** When a step runs: always, or as the step before it came out. */
export type When = 'always' | 'success' | 'failure';

/** A pipe, which often is a single command. */
export interface ScriptStep {
  readonly when: When;
  /** The folder it runs in: '' where the whole line was started, undefined where nobody knows. */
  readonly folder: Word;
  /** None where the step is a loop, a condition or anything else that is not taken apart. */
  readonly commands: readonly SimpleCommand[];
}

/** Words that change the folder, or run what nobody sees here. */
const MOVES =
  /(?:^|[\s;|&({])(?:cd|chdir|sl|pushd|popd|source|eval|iex|\.|(?:set|push|pop)-location|invoke-expression)(?![\w-])/i;

/** The state while a script is read: its folder and its variables. */
export class Shell {
  /** No person or model writes more steps than this one by one. */
  static readonly MAX_STEPS = 400;
  readonly steps: ScriptStep[] = [];
  private readonly variables = new Map<string, Word>();

  constructor(
    /** The folder in which the next step runs; undefined where nobody knows. */
    public folder: Word = '',
  ) {}

  /** The value of a variable that the script itself set. */
  variable(name: string): Word {
    return this.variables.get(name);
  }

  assign(name: string, value: Word): void {
    this.variables.set(name, value);
  }

  /** @returns false where the script has too many steps. */
  add(when: When, commands: readonly SimpleCommand[]): boolean {
    if (this.steps.length >= Shell.MAX_STEPS) return false;
    this.steps.push({ when, folder: this.folder, commands });
    return true;
  }

  /**
   * A step that is not taken apart: it may have changed variables, and the folder if it has a word that does.
   * @param text the step as it stands in the script.
   */
  addUnknown(when: When, text: string): boolean {
    const isAdded = this.add(when, []);
    if (MOVES.test(text)) this.folder = undefined;
    this.variables.clear();
    return isAdded;
  }

  /** Goes to a folder as `cd` does. */
  enter(words: readonly Word[]): void {
    const target = words.find((word) => word === undefined || !/^(?:-[LP@]|--|\/d|-(?:Literal)?Path)$/i.test(word));
    this.folder = target === undefined || target === '-' ? undefined : joinPath(this.folder, target);
  }

  /** Saves the state before a part that runs on its own, as in parentheses. @returns restores it. */
  save(): () => void {
    const folder = this.folder;
    const variables = new Map(this.variables);
    return () => {
      this.folder = folder;
      this.variables.clear();
      for (const [name, value] of variables) this.variables.set(name, value);
    };
  }
}

/** A program's name without folder and without the ending that Windows gives it. */
export const programName = (word: string): string => (word.split(/[\\/]/).pop() ?? word).replace(/\.(?:exe|cmd)$/i, '');

const NO_WRAPPER = new Set([
  'env',
  'command',
  'nohup',
  'time',
  'sudo',
  'stdbuf',
  'nice',
  'timeout',
  'gtimeout',
  'builtin',
]);

/** The command that a wrapper like `timeout 30` or `env A=b` runs: the words behind it. */
export function unwrapped(words: readonly Word[]): readonly Word[] {
  let rest = words;
  for (;;) {
    const [program] = rest;
    if (program === undefined || !NO_WRAPPER.has(programName(program))) return rest;
    let next = 1;
    const isTimeout = programName(program).endsWith('timeout');
    while (next < rest.length) {
      const word = rest[next];
      if (word === undefined) return rest;
      if (word.startsWith('-') || (program === 'env' && /^\w+=/.test(word))) next++;
      else break;
    }
    // `timeout` takes the time in front of the command.
    if (isTimeout && /^[\d.]+[smhd]?$/.test(rest[next] ?? '')) next++;
    if (next >= rest.length) return rest;
    rest = rest.slice(next);
  }
}
