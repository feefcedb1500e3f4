/**
 * What programs print and do to files. Unlisted programs may print anything. awk, perl, bat, tee,
 * diff, patch, mv and cp are left out because they changed no result (`npm run bench -- --only
 * ablation --way program`).
 */

import { joinPath } from '../filePath';
import type { NumberForm } from '../../agents/types';
import { git, searchPrograms } from './searches';
import { has, readOptions, getOption, type Options } from './options';
import {
  type Call,
  type Program,
  NOTHING,
  other,
  OTHER,
  printing,
  selected,
  wholeFile,
  type Effect,
  type Outcome,
  type PrintedText,
} from './printed';
import type { GivenText, Word } from './script';
import { readSedRanges } from './sed';

export const pathIn = (folder: Word, word: Word): Word => (word === undefined ? undefined : joinPath(folder, word));

const ANYTHING: Outcome = printing(OTHER);
const SILENT: Outcome = printing(NOTHING);

/** The only item of the piped input or of the output so far. */
const getOnly = (input: readonly PrintedText[] | undefined): PrintedText | undefined =>
  input?.length === 1 ? input[0] : undefined;

const atMost =
  (lines: number): Program =>
  () =>
    printing(other(lines));

/** Prints the named files one after the other, or the piped input. */
function files(call: Call, options: Options, numbers: NumberForm | undefined): Outcome {
  const { operands } = options;
  if (operands.length === 0 || (operands.length === 1 && operands[0] === '-')) {
    const only = getOnly(call.input);
    if (!call.input) return ANYTHING;
    if (numbers === undefined) return printing(...call.input);
    // Numbers count the piped lines, which are the file's own if the whole file is piped.
    return only?.kind === 'lines' && only.numbers === undefined && isFromStart(only)
      ? printing({ ...only, numbers })
      : printing(other(most(call.input)));
  }
  const paths = operands.map((operand) => pathIn(call.folder, operand));
  if (paths.includes(undefined) || operands.includes('-') || (numbers !== undefined && paths.length > 1))
    return ANYTHING;
  return printing(...paths.map((path) => wholeFile(path as string, numbers)));
}

const most = (printed: readonly PrintedText[]): number => printed.reduce((sum, part) => sum + part.most, 0);

const isFromStart = ({ ranges }: Extract<PrintedText, { kind: 'lines' }>): boolean =>
  ranges?.length === 1 && ranges[0]?.first === 1;

const cat: Program = (call) => {
  const options = readOptions(call.words, new Set());
  if (has(options, 'A', 'e', 'E', 't', 'T', 'v', 's', 'b', 'show-all', 'squeeze-blank', 'number-nonblank'))
    return ANYTHING;
  return files(call, options, has(options, 'n', 'number') ? 'tab' : undefined);
};

const NL_SEPARATORS: Readonly<Record<string, NumberForm>> = {
  '\t': 'tab',
  ': ': 'colon',
  ':': 'colon',
  '|': 'bar',
  ' | ': 'pipe',
};

/** Without `-ba`, blank lines are not counted, so the numbers differ from the file's. */
const nl: Program = (call) => {
  const options = readOptions(call.words, new Set(['b', 'w', 's', 'v', 'n', 'i', 'd', 'f', 'h', 'l']));
  const form = NL_SEPARATORS[getOption(options, 's') ?? '\t'];
  const counts = getOption(options, 'b') === 'a' && !has(options, 'v', 'i', 'd', 'l');
  return counts && form ? files(call, options, form) : ANYTHING;
};

function takePart(
  call: Call,
  operands: readonly Word[],
  isHeaded: boolean,
  part: (whole: PrintedText) => PrintedText,
): Outcome {
  if (operands.length === 0) {
    const only = getOnly(call.input);
    if (only) return printing(part(only));
    return printing(other(call.input ? part(other(most(call.input))).most : Infinity));
  }
  const [operand] = operands;
  if (operands.length > 1) {
    // An unknown word may expand to any number of files, each with a header.
    return isHeaded ? printing({ kind: 'headed', folder: call.folder, most: Infinity }) : ANYTHING;
  }
  const path = pathIn(call.folder, operand);
  // A wildcard may match one file, which has no header, or several.
  return path === undefined ? ANYTHING : printing(part(wholeFile(path)));
}

const head: Program = (call) => {
  const options = readOptions(call.words, new Set(['n', 'c', 'lines', 'bytes']));
  if (has(options, 'c', 'bytes', 'z')) return ANYTHING;
  const given = getOption(options, 'n', 'lines', 'number') ?? (has(options, 'n', 'lines', 'number') ? '' : '10');
  const count = /^-?\d+$/.test(given) ? Number(given) : undefined;
  if (count === undefined) return ANYTHING;
  return takePart(call, options.operands, !has(options, 'q'), (whole) =>
    selected(whole, [{ first: 1, last: count < 0 ? Infinity : count }]),
  );
};

const tail: Program = (call) => {
  const words = /^\+\d+$/.test(call.words[0] ?? '') ? ['-n', ...call.words] : call.words;
  const options = readOptions(words, new Set(['n', 'c', 'lines', 'bytes']));
  if (has(options, 'c', 'bytes', 'z', 'f', 'F', 'r')) return ANYTHING;
  const given = getOption(options, 'n', 'lines', 'number') ?? (has(options, 'n', 'lines', 'number') ? '' : '10');
  if (!/^[+-]?\d+$/.test(given)) return ANYTHING;
  const count = Math.abs(Number(given));
  if (given.startsWith('+'))
    return takePart(call, options.operands, !has(options, 'q'), (whole) =>
      selected(whole, [{ first: Math.max(1, count), last: Infinity }]),
    );
  return takePart(call, options.operands, !has(options, 'q'), (whole) => takeLast(whole, count));
};

function takeLast(whole: PrintedText, count: number): PrintedText {
  const least = Math.min(whole.most, count);
  if (whole.kind !== 'lines') return { ...selected(whole, [{ first: 1, last: count }]), most: least } as PrintedText;
  return { ...whole, ranges: [{ first: undefined, most: least }], most: least };
}

const sed: Program = (call) => {
  const words = call.words;
  const options = readOptions(words, new Set(['e', 'f', 'l', 'expression', 'file', 'line-length']));
  const inPlace = [...options.given.keys()].some((name) => name === 'i' || name === 'in-place' || name === 'I');
  const scripts = [...(options.given.get('e') ?? []), ...(options.given.get('expression') ?? [])];
  const operands = scripts.length > 0 || has(options, 'f', 'file') ? options.operands : options.operands.slice(1);
  if (inPlace) return edited(call.folder, sedTargets(words));
  if (has(options, 'f', 'file', 's', 'z') || scripts.includes(undefined)) return ANYTHING;
  const script = scripts.length > 0 ? scripts.join('\n') : options.operands[0];
  const isQuiet = has(options, 'n', 'quiet', 'silent');
  const wanted = script === undefined ? undefined : readSedRanges(script, isQuiet);
  if (!wanted) return ANYTHING;
  // The lines of a second file are numbered after those of the first.
  if (operands.length > 1) return ANYTHING;
  return takePart(call, operands, false, (whole) => (wanted === 'some' ? takeSome(whole) : selected(whole, wanted)));
};

/** An unknown subset of the lines. */
const takeSome = (whole: PrintedText): PrintedText =>
  whole.kind === 'lines'
    ? { ...whole, ranges: undefined }
    : whole.kind === 'matches' || whole.kind === 'paths'
      ? whole
      : other(whole.most);

/** Files that `sed -i` edits: those after the script. BSD sed takes a suffix after `-i`. */
function sedTargets(words: readonly Word[]): readonly Word[] {
  const rest: Word[] = [];
  let hasScript = false;
  for (let at = 0; at < words.length; at++) {
    const word = words[at];
    if (word === '-e' || word === '-f' || word === '--expression' || word === '--file') {
      hasScript = true;
      at++;
    } else if (word === '' || word?.startsWith('-') === true) {
      // After `-i` comes the backup suffix.
      if (/^(?:-[Enrsuz]*e.|--(?:expression|file)=)/.test(word)) hasScript = true;
    } else {
      rest.push(word);
    }
  }
  if (!hasScript && rest.length > 2 && words[words.indexOf('-i') + 1] === rest[0] && /^\.\w+$/.test(rest[0] ?? ''))
    rest.shift();
  return hasScript ? rest : rest.slice(1);
}

function edited(folder: Word, words: readonly Word[]): Outcome {
  const effects = words.flatMap((word): Effect[] => {
    const path = pathIn(folder, word);
    return path === undefined ? [] : [{ kind: 'edit', path }];
  });
  return { printed: [NOTHING], effects };
}

const echo: Program = ({ words }) => {
  let rest = words;
  let isPlain = true;
  let hasNewline = true;
  while (/^-[neE]+$/.test(rest[0] ?? '')) {
    if (rest[0]?.includes('e') === true) isPlain = false;
    if (rest[0]?.includes('n') === true) hasNewline = false;
    rest = rest.slice(1);
  }
  if (rest.includes(undefined)) return ANYTHING;
  const joined = rest.join(' ');
  // Backslashes mean different things in different shells.
  const text = isPlain && !joined.includes('\\') ? joined : unescaped(joined);
  return text === undefined ? ANYTHING : printing(said(text + (hasNewline ? '\n' : '')));
};

const said = (text: string, at?: GivenText['at']): PrintedText => ({
  kind: 'text',
  text,
  at,
  most: text.split('\n').length - (text.endsWith('\n') ? 1 : 0),
});

export const givenText = ({ text, at }: GivenText): PrintedText => said(text, at);

function unescaped(text: string): string | undefined {
  if (!text.includes('\\')) return text;
  return /\\[^nt"']/.test(text)
    ? undefined
    : text
        .replaceAll('\\n', '\n')
        .replaceAll('\\t', '\t')
        .replaceAll(/\\(["'])/g, '$1');
}

const printf: Program = ({ words }) => {
  const [format, ...values] = words[0] === '--' ? words.slice(1) : words;
  if (format === undefined || values.includes(undefined)) return ANYTHING;
  const text = unescaped(format);
  if (text === undefined) return ANYTHING;
  if (values.length === 0)
    return text.replaceAll('%%', '').includes('%') ? ANYTHING : printing(said(text.replaceAll('%%', '%')));
  if (text.split('%s').join('').includes('%')) return ANYTHING;
  const places = text.split('%s').length - 1;
  if (places === 0 || values.length % places !== 0) return ANYTHING;
  let all = '';
  for (let at = 0; at < values.length; at += places) {
    let next = at;
    all += text.replaceAll('%s', () => values[next++] as string);
  }
  return printing(said(all));
};

const wc: Program = ({ words }) => {
  const { operands } = readOptions(words, new Set());
  return printing(other(operands.includes(undefined) ? Infinity : operands.length + (operands.length === 1 ? 0 : 1)));
};

/** The piped lines in another order. */
const reordered: Program = ({ input, words }) => {
  const only = getOnly(input);
  if (!only || readOptions(words, new Set(['k', 't', 'S', 'o'])).operands.length > 0) return ANYTHING;
  return printing(only.kind === 'matches' || only.kind === 'paths' ? only : other(only.most));
};

export const written = (path: string, printed: PrintedText | undefined, appends: boolean): Effect =>
  printed?.kind === 'text'
    ? { kind: 'write', path, text: printed.text, at: printed.at, appends }
    : { kind: 'write', path, text: undefined, at: undefined, appends };

const rm: Program = ({ words, folder }) => {
  const options = readOptions(words, new Set());
  const effects = options.operands.flatMap((word): Effect[] => {
    const path = pathIn(folder, word);
    return path === undefined ? [] : [{ kind: 'delete', path }];
  });
  return { printed: [has(options, 'v') ? OTHER : NOTHING], effects };
};

/** Takes the patch as an argument or as its input. */
const applyPatch: Program = ({ words, folder, input }) => {
  const [patch] = words;
  const given = getOnly(input);
  const text = patch ?? (given?.kind === 'text' ? given.text : undefined);
  if (text?.includes('*** Begin Patch') !== true) return ANYTHING;
  const at = patch === undefined && given?.kind === 'text' ? given.at : undefined;
  return { printed: [OTHER], effects: [{ kind: 'patch', text, at, folder }] };
};

const find: Program = ({ words }) => {
  const actions = words.filter(
    (word) => word === undefined || /^-(?:exec|execdir|ok|okdir|printf|fprintf?|fls|ls|delete|print0)$/.test(word),
  );
  return actions.length > 0 && !actions.every((word) => word === '-ls')
    ? ANYTHING
    : printing({ kind: 'paths', most: Infinity });
};

const paths: Program = () => printing({ kind: 'paths', most: Infinity });

const silent: Program = () => SILENT;

/** Programs that print nothing on success. */
const SILENT_PROGRAMS =
  'cd true : false export declare local readonly typeset mkdir touch chmod chown ln sleep set shopt unset exit wait trap test [ umask ulimit kill rmdir return break continue';

const ONE_LINE = 'pwd date whoami hostname mktemp uname nproc arch id uptime tty';
const LINE_A_NAME = 'which basename dirname realpath readlink sha256sum md5sum shasum';

const each = (names: string, program: Program): Record<string, Program> =>
  Object.fromEntries(names.split(' ').map((name) => [name, program]));

/** By name. Exported for `npm run bench -- --only ablation`, which removes them one by one. */
export const PROGRAMS: Readonly<Record<string, Program>> = {
  ...searchPrograms,
  git,
  cat,
  less: cat,
  more: cat,
  nl,
  head,
  tail,
  sed,
  gsed: sed,
  echo,
  printf,
  wc,
  sort: reordered,
  uniq: reordered,
  rm,
  unlink: rm,
  apply_patch: applyPatch,
  applypatch: applyPatch,
  find,
  fd: paths,
  ls: paths,
  tree: paths,
  ...each(SILENT_PROGRAMS, silent),
  ...each(ONE_LINE, atMost(1)),
  ...each(LINE_A_NAME, ({ words }) => printing(other(words.includes(undefined) ? Infinity : words.length))),
};

export const findProgram = (name: string): Program | undefined =>
  Object.hasOwn(PROGRAMS, name) ? PROGRAMS[name] : undefined;
