import { has, readOptions, getOption, type Options } from './options';
import {
  NOTHING,
  other,
  OTHER,
  printing,
  type Effect,
  type Outcome,
  type PrintedText,
  type Call,
  type Program,
} from './printed';
import type { Word } from './script';
import { joinPath } from '../filePath';

const ANYTHING: Outcome = printing(OTHER);

const GREP_VALUES = new Set([
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
const RG_VALUES = new Set([
  ...GREP_VALUES,
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
/** Options that print no file lines, or change them. */
const NO_LINES = [
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
  readonly values: ReadonlySet<string>;
  /** True if it searches folders unless it has piped input. */
  readonly isRecursive: boolean;
  readonly noLines: readonly string[];
}

const RULES = {
  grep: {
    values: GREP_VALUES,
    isRecursive: false,
    noLines: NO_LINES.filter((name) => !['p', 'r', 'U', 'M', 'z'].includes(name)),
  },
  rg: { values: RG_VALUES, isRecursive: true, noLines: NO_LINES },
} satisfies Record<string, SearchRules>;

const search =
  ({ values, isRecursive, noLines }: SearchRules): Program =>
  ({ words, folder, input }) => {
    const options = readOptions(words, values);
    if (has(options, 'q', 'quiet', 'silent')) return printing(NOTHING);
    if (has(options, 'l', 'L', 'files-with-matches', 'files-without-match', 'files', 'type-list'))
      return printing({ kind: 'paths', most: Infinity });
    if (has(options, ...noLines)) return ANYTHING;
    const hasPattern = has(options, 'e', 'f', 'regexp', 'file');
    const where = hasPattern ? options.operands : options.operands.slice(1);
    const isNumbered = has(options, 'n', 'line-number') && !has(options, 'N', 'no-line-number');
    const matches = { kind: 'matches', isNumbered, folder, most: Infinity } as const;
    const recurses = isRecursive || has(options, 'r', 'R', 'recursive', 'dereference-recursive');
    if (where.length === 0 && input) return printing(filtered(input, options, isNumbered));
    if (has(options, 'h', 'no-filename', 'I'))
      return where.length === 1 && !recurses ? oneFile(where[0], matches) : ANYTHING;
    if (where.length === 0 && !recurses) return ANYTHING;
    const isOne = where.length === 1 && !has(options, 'H', 'with-filename') && !isFolder(where[0]);
    // grep -r prints the file name; ripgrep omits it for a single file.
    if (isOne && (!recurses || isRecursive)) return where[0] === undefined ? ANYTHING : oneFile(where[0], matches);
    return printing({ ...matches, path: undefined });
  };

function oneFile(word: Word, matches: Omit<Extract<PrintedText, { kind: 'matches' }>, 'path'>): Outcome {
  const path = word === undefined ? undefined : joinPath(matches.folder, word);
  return path === undefined ? ANYTHING : printing({ ...matches, path });
}

/** A name without an extension may be a folder, one with a wildcard several files. */
const isFolder = (word: Word): boolean =>
  word !== undefined && !/[^/\\.]\.\w+$/.test(word) && !/^(?:\w*file|LICENSE|README)$/i.test(word);

function filtered(input: readonly PrintedText[], options: Options, isNumbered: boolean): PrintedText {
  const [only] = input;
  if (!only || input.length !== 1) return OTHER;
  if (only.kind === 'matches') return isNumbered ? other(only.most) : only;
  if (only.kind === 'paths') return only;
  if (only.kind !== 'lines') return other(only.most);
  const hasContext = has(options, 'A', 'B', 'C', 'context', 'after-context', 'before-context');
  if (isNumbered) {
    // Numbers count the piped lines, which are the file's own if the whole file is piped.
    const isWhole = only.numbers === undefined && only.ranges?.length === 1 && only.ranges[0]?.first === 1;
    return isWhole ? { kind: 'matches', path: only.path, isNumbered, folder: '', most: only.most } : other(only.most);
  }
  // Dashes between context groups are not lines of the file.
  if (hasContext && only.numbers === undefined)
    return { kind: 'matches', path: only.path, isNumbered: false, folder: '', most: Infinity };
  return { ...only, ranges: undefined };
}

export const searchPrograms: Readonly<Record<string, Program>> = {
  grep: search(RULES.grep),
  egrep: search(RULES.grep),
  fgrep: search(RULES.grep),
  ggrep: search(RULES.grep),
  rg: search(RULES.rg),
  ripgrep: search(RULES.rg),
};

const GIT_VALUES = new Set(['C', 'c', 'git-dir', 'work-tree', 'namespace']);
const NO_DIFF = [
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
const DIFF_VALUES = new Set([
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

export const git: Program = (call) => {
  const at = subcommandAt(call.words);
  const [name, ...words] = call.words.slice(at);
  if (name === undefined) return ANYTHING;
  const folder = findFolder(call.words.slice(0, at), call.folder);
  return gitCommand(name, { ...call, words, folder });
};

function subcommandAt(words: readonly Word[]): number {
  let at = 0;
  while (at < words.length) {
    const word = words[at];
    if (word?.startsWith('-') !== true) break;
    at += GIT_VALUES.has(word.replace(/^--?/, '')) ? 2 : 1;
  }
  return at;
}

function findFolder(options: readonly Word[], folder: Word): Word {
  const at = options.indexOf('-C');
  if (at < 0) return folder;
  const target = options[at + 1];
  return target === undefined ? undefined : joinPath(folder, target);
}

function gitCommand(name: string, call: Call): Outcome {
  const { words, folder } = call;
  switch (name) {
    case 'diff':
      return simulateDiff(words, folder);
    case 'show':
      return shown(words, folder);
    case 'log': {
      const options = readOptions(words, DIFF_VALUES);
      if (has(options, 'p', 'patch', 'u') && !has(options, ...NO_DIFF))
        return printing({ kind: 'diff', folder, most: Infinity });
      return printing(other(linesOfLog(options)));
    }
    case 'stash':
      return words[0] === 'show' && has(readOptions(words, DIFF_VALUES), 'p', 'patch')
        ? printing({ kind: 'diff', folder, most: Infinity })
        : ANYTHING;
    case 'grep':
      // In another revision each line starts with the revision's name.
      return searchedByGit(call);
    case 'ls-files':
    case 'ls-tree':
      return printing({ kind: 'paths', most: Infinity });
    case 'status': {
      const options = readOptions(words, new Set());
      return has(options, 's', 'short', 'porcelain') ? printing({ kind: 'status', most: Infinity }) : ANYTHING;
    }
    case 'branch':
      return words[0] === '--show-current' ? printing(other(1)) : ANYTHING;
    case 'add':
      return printing(NOTHING);
    case 'rev-parse':
    case 'merge-base':
      return printing(other(Math.max(1, words.length)));
    case 'mv': {
      const [from, to] = words.filter((word) => word === undefined || !word.startsWith('-'));
      const path = from === undefined ? undefined : joinPath(folder, from);
      const target = to === undefined ? undefined : joinPath(folder, to);
      return {
        printed: [NOTHING],
        effects: path === undefined || target === undefined ? [] : [{ kind: 'move', path, to: target }],
      };
    }
    case 'rm':
      return {
        printed: [OTHER],
        effects: has(readOptions(words, new Set()), 'cached')
          ? []
          : named('delete', readOptions(words, new Set()).operands, folder),
      };
    case 'restore':
      return {
        printed: [NOTHING],
        effects: named('edit', readOptions(words, new Set(['s', 'source'])).operands, folder),
      };
    case 'checkout': {
      const dashes = words.indexOf('--');
      return { printed: [OTHER], effects: dashes < 0 ? [] : named('edit', words.slice(dashes + 1), folder) };
    }
    case 'apply': {
      const [given] = call.input ?? [];
      if (
        given?.kind !== 'text' ||
        readOptions(words, new Set(['p', 'directory', 'C'])).operands.some((word) => word !== '-')
      )
        return ANYTHING;
      return { printed: [OTHER], effects: [{ kind: 'patch', text: given.text, at: given.at, folder }] };
    }
    default:
      return ANYTHING;
  }
}

/** Maximum lines of `git log`; `--oneline -5` prints at most five. */
function linesOfLog(options: Options): number {
  const count = Number(getOption(options, 'number', 'n', 'max-count') ?? NaN);
  const format = getOption(options, 'format', 'pretty');
  // Format names without a percent sign are longer forms.
  const isShort =
    has(options, 'oneline') ||
    (format !== undefined &&
      /^(?:oneline|reference|(?=t?format:|[^\n]*%)(?:%[has]|%ad|%cd|%an|%d|%ci|%ai|[^%\n])+)$/.test(format));
  const hasMore = has(
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
  return isShort && !hasMore && Number.isInteger(count) ? count : Infinity;
}

function named(kind: 'edit' | 'delete', words: readonly Word[], folder: Word): Effect[] {
  return words.flatMap((word) => {
    const path = word === undefined || word === '.' ? undefined : joinPath(folder, word);
    return path === undefined ? [] : [{ kind, path }];
  });
}

function simulateDiff(words: readonly Word[], folder: Word): Outcome {
  const options = readOptions(words, DIFF_VALUES);
  if (has(options, 'name-only')) return printing({ kind: 'paths', most: Infinity });
  // `--stat -p` prints both; the diff is recognized by its header.
  if (has(options, ...NO_DIFF) && !has(options, 'p', 'patch')) return ANYTHING;
  return printing({ kind: 'diff', folder, most: Infinity });
}

/** `git show HEAD:path` prints a file, `git show HEAD` a commit. */
function shown(words: readonly Word[], folder: Word): Outcome {
  const options = readOptions(words, DIFF_VALUES);
  const [object] = options.operands;
  if (options.operands.includes(undefined)) return ANYTHING;
  if (options.operands.length === 1 && object !== undefined) {
    const colon = object.indexOf(':');
    if (colon >= 0 && !object.startsWith(':/')) {
      const path = object.slice(colon + 1).replace(/^\d:/, '');
      // Paths in a revision are relative to the repository root unless they start with `./`.
      const known = path.startsWith('./') ? joinPath(folder, path) : path;
      return known === undefined || path === '' || path.endsWith('/')
        ? ANYTHING
        : printing({
            kind: 'lines',
            path: known,
            revision: object.slice(0, colon),
            ranges: [{ first: 1, most: Infinity }],
            numbers: undefined,
            most: Infinity,
          });
    }
  }
  if (options.operands.some((operand) => operand?.includes(':'))) return ANYTHING;
  if (has(options, ...NO_DIFF) && !has(options, 'p', 'patch')) return ANYTHING;
  return printing({ kind: 'diff', folder, most: Infinity });
}

function searchedByGit({ words, folder }: Call): Outcome {
  const options = readOptions(words, GREP_VALUES);
  if (has(options, 'l', 'files-with-matches', 'L', 'name-only')) return printing({ kind: 'paths', most: Infinity });
  if (has(options, 'c', 'count', 'o', 'only-matching', 'h', 'heading', 'break', 'column', 'p', 'W', 'q'))
    return ANYTHING;
  return printing({
    kind: 'matches',
    path: undefined,
    isNumbered: has(options, 'n', 'line-number'),
    folder,
    most: Infinity,
  });
}
