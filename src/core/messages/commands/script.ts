import type { Slice } from '../../slice';
import { joinPath } from '../filePath';

export type ScriptWord = string | undefined;

export interface InlineInputText {
  readonly text: string;
  /** Undefined if the text is escaped in the command line. */
  readonly sourceSlice: Slice | undefined;
}

export interface OutputRedirect {
  readonly stream: 'output' | 'errors' | 'both';
  readonly target: ScriptWord;
  readonly appends: boolean;
}

export interface SimpleCommand {
  /** The first word is the program's name without its folder. */
  readonly words: readonly ScriptWord[];
  readonly inputText: InlineInputText | undefined;
  readonly inputFile: ScriptWord | null;
  readonly redirects: readonly OutputRedirect[];
}

export type RunCondition = 'always' | 'success' | 'failure';

export interface ScriptStep {
  readonly when: RunCondition;
  /**
   * Folder in which the step runs: '' for the one in which the line starts; undefined if unknown.
   */
  readonly folder: ScriptWord;
  /** Empty for anything that we do not analyze, such as a loop. */
  readonly commands: readonly SimpleCommand[];
}

/** Words that change the folder or run commands that are not visible here. */
const FOLDER_CHANGING_COMMAND =
  /(?:^|[\s;|&({])(?:cd|chdir|sl|pushd|popd|source|eval|iex|\.|(?:set|push|pop)-location|invoke-expression)(?![\w-])/i;

export class ShellScriptState {
  /** Longer scripts are generated. */
  static readonly MAX_STEPS = 400;
  readonly steps: ScriptStep[] = [];
  private readonly variables = new Map<string, ScriptWord>();

  constructor(public folder: ScriptWord = '') {}

  getVariable(name: string): ScriptWord {
    return this.variables.get(name);
  }

  assignVariable(name: string, value: ScriptWord): void {
    this.variables.set(name, value);
  }

  /** @returns false if the script has too many steps */
  addStep(when: RunCondition, commands: readonly SimpleCommand[]): boolean {
    if (this.steps.length >= ShellScriptState.MAX_STEPS) return false;
    this.steps.push({ when, folder: this.folder, commands });
    return true;
  }

  /** The step may have changed variables and the folder. */
  addUnknownStep(when: RunCondition, text: string): boolean {
    const isAdded = this.addStep(when, []);
    if (FOLDER_CHANGING_COMMAND.test(text)) this.folder = undefined;
    this.variables.clear();
    return isAdded;
  }

  changeFolder(words: readonly ScriptWord[]): void {
    const targetFolder = words.find(
      (word) => word === undefined || !/^(?:-[LP@]|--|\/d|-(?:Literal)?Path)$/i.test(word),
    );
    this.folder = targetFolder === undefined || targetFolder === '-' ? undefined : joinPath(this.folder, targetFolder);
  }

  saveState(): () => void {
    const folderBefore = this.folder;
    const variablesBefore = new Map(this.variables);
    return () => {
      this.folder = folderBefore;
      this.variables.clear();
      for (const [name, value] of variablesBefore) this.variables.set(name, value);
    };
  }
}

export const getProgramName = (word: string): string =>
  (word.split(/[\\/]/).pop() ?? word).replace(/\.(?:exe|cmd)$/i, '');

const PROGRAMS_THAT_RUN_THEIR_ARGUMENTS = new Set([
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

/** Returns the command that `timeout 30` or `env A=b` runs. */
export function stripWrapperPrograms(words: readonly ScriptWord[]): readonly ScriptWord[] {
  let innerWords = words;
  for (;;) {
    const [program] = innerWords;
    if (program === undefined || !PROGRAMS_THAT_RUN_THEIR_ARGUMENTS.has(getProgramName(program))) return innerWords;
    let wordIndex = 1;
    const isTimeout = getProgramName(program).endsWith('timeout');
    while (wordIndex < innerWords.length) {
      const word = innerWords[wordIndex];
      if (word === undefined) return innerWords;
      if (word.startsWith('-') || (program === 'env' && /^\w+=/.test(word))) wordIndex++;
      else break;
    }
    if (isTimeout && /^[\d.]+[smhd]?$/.test(innerWords[wordIndex] ?? '')) wordIndex++;
    if (wordIndex >= innerWords.length) return innerWords;
    innerWords = innerWords.slice(wordIndex);
  }
}
