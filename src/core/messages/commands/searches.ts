import { hasOption, parseCommandOptions, getOption, type ParsedCommandOptions } from './options';
import {
  EMPTY_PRINT,
  makeUnknownPrint,
  UNKNOWN_PRINT,
  makeOutcomeThatPrints,
  type CommandEffect,
  type CommandOutcome,
  type ExpectedPrint,
  type SimulatedCall,
  type SimulatedProgram,
} from './printed';
import type { ScriptWord } from './script';
import { joinPath } from '../filePath';

const UNKNOWN_COMMAND_OUTCOME: CommandOutcome = makeOutcomeThatPrints(UNKNOWN_PRINT);

const GREP_OPTIONS_WITH_VALUE = new Set([
  'e',
  'f',
  'm',
  'A',
  'B',
  'C',
  'd',
  'D',
  'regexp',
  'file',
  'max-count',
  'after-context',
  'before-context',
  'context',
  'label',
]);
const RG_OPTIONS_WITH_VALUE = new Set([
  ...GREP_OPTIONS_WITH_VALUE,
  ...[
    'g',
    't',
    'T',
    'j',
    'M',
    'E',
    'r',
    'glob',
    'iglob',
    'type',
    'type-not',
    'threads',
    'max-columns',
    'encoding',
    'replace',
    'max-depth',
    'sort',
    'sortr',
    'color',
    'colors',
    'ignore-file',
    'max-filesize',
    'path-separator',
    'pre',
    'engine',
  ],
]);
/** Options with which a program prints no lines of files, or prints changed lines. */
const SEARCH_OPTIONS_WITHOUT_LINES = [
  'c',
  'count',
  'count-matches',
  'o',
  'only-matching',
  'json',
  'heading',
  'p',
  'pretty',
  'vimgrep',
  'b',
  'byte-offset',
  'column',
  'z',
  'null',
  '0',
  'U',
  'multiline',
  'r',
  'replace',
  'M',
  'max-columns',
  'stats',
  'passthru',
  'help',
  'version',
  'V',
];

interface SearchRules {
  readonly optionsWithValue: ReadonlySet<string>;
  /** True if the program searches folders unless it has piped input. */
  readonly isRecursive: boolean;
  readonly optionsWithoutLines: readonly string[];
}

const SEARCH_RULES = {
  grep: {
    optionsWithValue: GREP_OPTIONS_WITH_VALUE,
    isRecursive: false,
    optionsWithoutLines: SEARCH_OPTIONS_WITHOUT_LINES.filter((name) => !['p', 'r', 'U', 'M', 'z'].includes(name)),
  },
  rg: { optionsWithValue: RG_OPTIONS_WITH_VALUE, isRecursive: true, optionsWithoutLines: SEARCH_OPTIONS_WITHOUT_LINES },
} satisfies Record<string, SearchRules>;

const createSearchProgram =
  ({ optionsWithValue, isRecursive, optionsWithoutLines }: SearchRules): SimulatedProgram =>
  ({ words, folder, input }) => {
    const options = parseCommandOptions(words, optionsWithValue);
    if (hasOption(options, 'q', 'quiet', 'silent')) return makeOutcomeThatPrints(EMPTY_PRINT);
    if (hasOption(options, 'l', 'L', 'files-with-matches', 'files-without-match', 'files', 'type-list'))
      return makeOutcomeThatPrints({ kind: 'paths', maxLines: Infinity });
    if (hasOption(options, ...optionsWithoutLines)) return UNKNOWN_COMMAND_OUTCOME;
    const hasPattern = hasOption(options, 'e', 'f', 'regexp', 'file');
    const searchedPaths = hasPattern ? options.operands : options.operands.slice(1);
    const isNumbered = hasOption(options, 'n', 'line-number') && !hasOption(options, 'N', 'no-line-number');
    const expectedMatches = { kind: 'matches', isNumbered, folder, maxLines: Infinity } as const;
    const isRecursiveSearch = isRecursive || hasOption(options, 'r', 'R', 'recursive', 'dereference-recursive');
    if (searchedPaths.length === 0 && input)
      return makeOutcomeThatPrints(simulateFilteringInput(input, options, isNumbered));
    if (hasOption(options, 'h', 'no-filename', 'I'))
      return searchedPaths.length === 1 && !isRecursiveSearch
        ? simulateSearchInOneFile(searchedPaths[0], expectedMatches)
        : UNKNOWN_COMMAND_OUTCOME;
    if (searchedPaths.length === 0 && !isRecursiveSearch) return UNKNOWN_COMMAND_OUTCOME;
    const isSingleFile =
      searchedPaths.length === 1 && !hasOption(options, 'H', 'with-filename') && !looksLikeFolder(searchedPaths[0]);
    // grep -r prints the file name; ripgrep omits it for a single file.
    if (isSingleFile && (!isRecursiveSearch || isRecursive))
      return searchedPaths[0] === undefined
        ? UNKNOWN_COMMAND_OUTCOME
        : simulateSearchInOneFile(searchedPaths[0], expectedMatches);
    return makeOutcomeThatPrints({ ...expectedMatches, path: undefined });
  };

function simulateSearchInOneFile(
  word: ScriptWord,
  matches: Omit<Extract<ExpectedPrint, { kind: 'matches' }>, 'path'>,
): CommandOutcome {
  const path = word === undefined ? undefined : joinPath(matches.folder, word);
  return path === undefined ? UNKNOWN_COMMAND_OUTCOME : makeOutcomeThatPrints({ ...matches, path });
}

/** A name without an extension may be a folder, one with a wildcard several files. */
const looksLikeFolder = (word: ScriptWord): boolean =>
  word !== undefined && !/[^/\\.]\.\w+$/.test(word) && !/^(?:\w*file|LICENSE|README)$/i.test(word);

function simulateFilteringInput(
  input: readonly ExpectedPrint[],
  options: ParsedCommandOptions,
  isNumbered: boolean,
): ExpectedPrint {
  const [firstInput] = input;
  if (!firstInput || input.length !== 1) return UNKNOWN_PRINT;
  if (firstInput.kind === 'matches') return isNumbered ? makeUnknownPrint(firstInput.maxLines) : firstInput;
  if (firstInput.kind === 'paths') return firstInput;
  if (firstInput.kind !== 'lines') return makeUnknownPrint(firstInput.maxLines);
  const hasContext = hasOption(options, 'A', 'B', 'C', 'context', 'after-context', 'before-context');
  if (isNumbered) {
    // If the input is a whole file, the printed numbers are the line numbers of that file.
    const isWholeFile =
      firstInput.numbers === undefined && firstInput.ranges?.length === 1 && firstInput.ranges[0]?.first === 1;
    return isWholeFile
      ? { kind: 'matches', path: firstInput.path, isNumbered, folder: '', maxLines: firstInput.maxLines }
      : makeUnknownPrint(firstInput.maxLines);
  }
  // Dashes between groups of context are not lines of the file.
  if (hasContext && firstInput.numbers === undefined)
    return { kind: 'matches', path: firstInput.path, isNumbered: false, folder: '', maxLines: Infinity };
  return { ...firstInput, ranges: undefined };
}

export const searchPrograms: Readonly<Record<string, SimulatedProgram>> = {
  grep: createSearchProgram(SEARCH_RULES.grep),
  egrep: createSearchProgram(SEARCH_RULES.grep),
  fgrep: createSearchProgram(SEARCH_RULES.grep),
  ggrep: createSearchProgram(SEARCH_RULES.grep),
  rg: createSearchProgram(SEARCH_RULES.rg),
  ripgrep: createSearchProgram(SEARCH_RULES.rg),
};

const GIT_OPTIONS_WITH_VALUE = new Set(['C', 'c', 'git-dir', 'work-tree', 'namespace']);
const GIT_OPTIONS_WITHOUT_DIFF = [
  'stat',
  'shortstat',
  'numstat',
  'name-only',
  'name-status',
  'summary',
  'dirstat',
  'check',
  'raw',
  's',
  'no-patch',
  'quiet',
  'word-diff',
  'color-words',
  'exit-code',
  'compact-summary',
  'color',
  'word-diff-regex',
];
const DIFF_OPTIONS_WITH_VALUE = new Set([
  'U',
  'unified',
  'G',
  'S',
  'l',
  'n',
  'O',
  'format',
  'pretty',
  'diff-filter',
  'author',
  'since',
  'until',
  'date',
  'max-count',
  'grep',
]);

export const simulateGit: SimulatedProgram = (call) => {
  const subcommandIndex = findSubcommand(call.words);
  const [name, ...words] = call.words.slice(subcommandIndex);
  if (name === undefined) return UNKNOWN_COMMAND_OUTCOME;
  const folder = findFolderOfGitOption(call.words.slice(0, subcommandIndex), call.folder);
  return simulateGitCommand(name, { ...call, words, folder });
};

function findSubcommand(words: readonly ScriptWord[]): number {
  let wordIndex = 0;
  while (wordIndex < words.length) {
    const word = words[wordIndex];
    if (word?.startsWith('-') !== true) break;
    wordIndex += GIT_OPTIONS_WITH_VALUE.has(word.replace(/^--?/, '')) ? 2 : 1;
  }
  return wordIndex;
}

function findFolderOfGitOption(options: readonly ScriptWord[], folder: ScriptWord): ScriptWord {
  const optionIndex = options.indexOf('-C');
  if (optionIndex < 0) return folder;
  const target = options[optionIndex + 1];
  return target === undefined ? undefined : joinPath(folder, target);
}

function simulateGitCommand(name: string, call: SimulatedCall): CommandOutcome {
  const { words, folder } = call;
  switch (name) {
    case 'diff':
      return simulateDiff(words, folder);
    case 'show':
      return simulateGitShow(words, folder);
    case 'log': {
      const options = parseCommandOptions(words, DIFF_OPTIONS_WITH_VALUE);
      if (hasOption(options, 'p', 'patch', 'u') && !hasOption(options, ...GIT_OPTIONS_WITHOUT_DIFF))
        return makeOutcomeThatPrints({ kind: 'diff', folder, maxLines: Infinity });
      return makeOutcomeThatPrints(makeUnknownPrint(countLogLines(options)));
    }
    case 'stash':
      return words[0] === 'show' && hasOption(parseCommandOptions(words, DIFF_OPTIONS_WITH_VALUE), 'p', 'patch')
        ? makeOutcomeThatPrints({ kind: 'diff', folder, maxLines: Infinity })
        : UNKNOWN_COMMAND_OUTCOME;
    case 'grep':
      // In another revision, each line starts with the revision's name.
      return simulateGitGrep(call);
    case 'ls-files':
    case 'ls-tree':
      return makeOutcomeThatPrints({ kind: 'paths', maxLines: Infinity });
    case 'status': {
      const options = parseCommandOptions(words, new Set());
      return hasOption(options, 's', 'short', 'porcelain')
        ? makeOutcomeThatPrints({ kind: 'status', maxLines: Infinity })
        : UNKNOWN_COMMAND_OUTCOME;
    }
    case 'branch':
      return words[0] === '--show-current' ? makeOutcomeThatPrints(makeUnknownPrint(1)) : UNKNOWN_COMMAND_OUTCOME;
    case 'add':
      return makeOutcomeThatPrints(EMPTY_PRINT);
    case 'rev-parse':
    case 'merge-base':
      return makeOutcomeThatPrints(makeUnknownPrint(Math.max(1, words.length)));
    case 'mv': {
      const [from, to] = words.filter((word) => word === undefined || !word.startsWith('-'));
      const path = from === undefined ? undefined : joinPath(folder, from);
      const targetPath = to === undefined ? undefined : joinPath(folder, to);
      return {
        printed: [EMPTY_PRINT],
        effects: path === undefined || targetPath === undefined ? [] : [{ kind: 'move', path, to: targetPath }],
      };
    }
    case 'rm':
      return {
        printed: [UNKNOWN_PRINT],
        effects: hasOption(parseCommandOptions(words, new Set()), 'cached')
          ? []
          : makeEffectsOnFiles('delete', parseCommandOptions(words, new Set()).operands, folder),
      };
    case 'restore':
      return {
        printed: [EMPTY_PRINT],
        effects: makeEffectsOnFiles('edit', parseCommandOptions(words, new Set(['s', 'source'])).operands, folder),
      };
    case 'checkout': {
      const separatorIndex = words.indexOf('--');
      return {
        printed: [UNKNOWN_PRINT],
        effects: separatorIndex < 0 ? [] : makeEffectsOnFiles('edit', words.slice(separatorIndex + 1), folder),
      };
    }
    case 'apply': {
      const [given] = call.input ?? [];
      if (
        given?.kind !== 'text' ||
        parseCommandOptions(words, new Set(['p', 'directory', 'C'])).operands.some((word) => word !== '-')
      )
        return UNKNOWN_COMMAND_OUTCOME;
      return {
        printed: [UNKNOWN_PRINT],
        effects: [{ kind: 'patch', text: given.text, sourceSlice: given.sourceSlice, folder }],
      };
    }
    default:
      return UNKNOWN_COMMAND_OUTCOME;
  }
}

/** `--oneline -5` prints at most five lines. */
function countLogLines(options: ParsedCommandOptions): number {
  const commitCount = Number(getOption(options, 'number', 'n', 'max-count') ?? NaN);
  const format = getOption(options, 'format', 'pretty');
  // Other named formats print several lines for each commit.
  const isShort =
    hasOption(options, 'oneline') ||
    (format !== undefined &&
      /^(?:oneline|reference|(?=t?format:|[^\n]*%)(?:%[has]|%ad|%cd|%an|%d|%ci|%ai|[^%\n])+)$/.test(format));
  const printsMoreThanLog = hasOption(
    options,
    'graph',
    'stat',
    'shortstat',
    'numstat',
    'name-only',
    'name-status',
    'summary',
    'raw',
    'p',
    'patch',
    'show-signature',
  );
  return isShort && !printsMoreThanLog && Number.isInteger(commitCount) ? commitCount : Infinity;
}

function makeEffectsOnFiles(
  kind: 'edit' | 'delete',
  words: readonly ScriptWord[],
  folder: ScriptWord,
): CommandEffect[] {
  return words.flatMap((word) => {
    const path = word === undefined || word === '.' ? undefined : joinPath(folder, word);
    return path === undefined ? [] : [{ kind, path }];
  });
}

function simulateDiff(words: readonly ScriptWord[], folder: ScriptWord): CommandOutcome {
  const options = parseCommandOptions(words, DIFF_OPTIONS_WITH_VALUE);
  if (hasOption(options, 'name-only')) return makeOutcomeThatPrints({ kind: 'paths', maxLines: Infinity });
  // `--stat -p` also prints a diff, which can be recognized by its header.
  if (hasOption(options, ...GIT_OPTIONS_WITHOUT_DIFF) && !hasOption(options, 'p', 'patch'))
    return UNKNOWN_COMMAND_OUTCOME;
  return makeOutcomeThatPrints({ kind: 'diff', folder, maxLines: Infinity });
}

/** `git show HEAD:path` prints a file, `git show HEAD` a commit. */
function simulateGitShow(words: readonly ScriptWord[], folder: ScriptWord): CommandOutcome {
  const options = parseCommandOptions(words, DIFF_OPTIONS_WITH_VALUE);
  const [object] = options.operands;
  if (options.operands.includes(undefined)) return UNKNOWN_COMMAND_OUTCOME;
  if (options.operands.length === 1 && object !== undefined) {
    const colonIndex = object.indexOf(':');
    if (colonIndex >= 0 && !object.startsWith(':/')) {
      const path = object.slice(colonIndex + 1).replace(/^\d:/, '');
      // Paths in a revision are relative to the repository root unless they start with `./`.
      const knownPath = path.startsWith('./') ? joinPath(folder, path) : path;
      return knownPath === undefined || path === '' || path.endsWith('/')
        ? UNKNOWN_COMMAND_OUTCOME
        : makeOutcomeThatPrints({
            kind: 'lines',
            path: knownPath,
            revision: object.slice(0, colonIndex),
            ranges: [{ first: 1, maxLines: Infinity }],
            numbers: undefined,
            maxLines: Infinity,
          });
    }
  }
  if (options.operands.some((operand) => operand?.includes(':'))) return UNKNOWN_COMMAND_OUTCOME;
  if (hasOption(options, ...GIT_OPTIONS_WITHOUT_DIFF) && !hasOption(options, 'p', 'patch'))
    return UNKNOWN_COMMAND_OUTCOME;
  return makeOutcomeThatPrints({ kind: 'diff', folder, maxLines: Infinity });
}

function simulateGitGrep({ words, folder }: SimulatedCall): CommandOutcome {
  const options = parseCommandOptions(words, GREP_OPTIONS_WITH_VALUE);
  if (hasOption(options, 'l', 'files-with-matches', 'L', 'name-only'))
    return makeOutcomeThatPrints({ kind: 'paths', maxLines: Infinity });
  if (hasOption(options, 'c', 'count', 'o', 'only-matching', 'h', 'heading', 'break', 'column', 'p', 'W', 'q'))
    return UNKNOWN_COMMAND_OUTCOME;
  return makeOutcomeThatPrints({
    kind: 'matches',
    path: undefined,
    isNumbered: hasOption(options, 'n', 'line-number'),
    folder,
    maxLines: Infinity,
  });
}
