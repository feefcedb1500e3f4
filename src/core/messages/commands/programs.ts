/**
 * What programs print and do to files. An unlisted program may print anything. Programs whose
 * simulation changed no benchmark result (`npm run bench -- --only ablation --way program`) are not
 * listed.
 */

import { joinPath } from '../filePath';
import type { LineNumberForm } from '../../agents/types';
import { simulateGit, searchPrograms } from './searches';
import { hasOption, parseCommandOptions, getOption, type ParsedCommandOptions } from './options';
import {
  type SimulatedCall,
  type SimulatedProgram,
  EMPTY_PRINT,
  makeUnknownPrint,
  UNKNOWN_PRINT,
  makeOutcomeThatPrints,
  selectPrintedLines,
  makePrintedFile,
  type CommandEffect,
  type CommandOutcome,
  type ExpectedPrint,
} from './printed';
import type { InlineInputText, ScriptWord } from './script';
import { readSedRanges } from './sed';

export const joinWordPath = (folder: ScriptWord, word: ScriptWord): ScriptWord =>
  word === undefined ? undefined : joinPath(folder, word);

const UNKNOWN_COMMAND_OUTCOME: CommandOutcome = makeOutcomeThatPrints(UNKNOWN_PRINT);
const OUTCOME_THAT_PRINTS_NOTHING: CommandOutcome = makeOutcomeThatPrints(EMPTY_PRINT);

const getOnlyElement = (input: readonly ExpectedPrint[] | undefined): ExpectedPrint | undefined =>
  input?.length === 1 ? input[0] : undefined;

const createLineLimitedProgram =
  (lines: number): SimulatedProgram =>
  () =>
    makeOutcomeThatPrints(makeUnknownPrint(lines));

function simulatePrintingFiles(
  call: SimulatedCall,
  options: ParsedCommandOptions,
  numbers: LineNumberForm | undefined,
): CommandOutcome {
  const { operands } = options;
  if (operands.length === 0 || (operands.length === 1 && operands[0] === '-')) {
    const singleInput = getOnlyElement(call.input);
    if (!call.input) return UNKNOWN_COMMAND_OUTCOME;
    if (numbers === undefined) return makeOutcomeThatPrints(...call.input);
    // If the input is a whole file, the printed numbers are the line numbers of that file.
    return singleInput?.kind === 'lines' && singleInput.numbers === undefined && startsAtFirstLine(singleInput)
      ? makeOutcomeThatPrints({ ...singleInput, numbers })
      : makeOutcomeThatPrints(makeUnknownPrint(sumMaxLines(call.input)));
  }
  const paths = operands.map((operand) => joinWordPath(call.folder, operand));
  if (paths.includes(undefined) || operands.includes('-') || (numbers !== undefined && paths.length > 1))
    return UNKNOWN_COMMAND_OUTCOME;
  return makeOutcomeThatPrints(...paths.map((path) => makePrintedFile(path as string, numbers)));
}

const sumMaxLines = (printed: readonly ExpectedPrint[]): number =>
  printed.reduce((sum, part) => sum + part.maxLines, 0);

const startsAtFirstLine = ({ ranges }: Extract<ExpectedPrint, { kind: 'lines' }>): boolean =>
  ranges?.length === 1 && ranges[0]?.first === 1;

const simulateCat: SimulatedProgram = (call) => {
  const options = parseCommandOptions(call.words, new Set());
  if (hasOption(options, 'A', 'e', 'E', 't', 'T', 'v', 's', 'b', 'show-all', 'squeeze-blank', 'number-nonblank'))
    return UNKNOWN_COMMAND_OUTCOME;
  return simulatePrintingFiles(call, options, hasOption(options, 'n', 'number') ? 'tab' : undefined);
};

const NL_SEPARATORS: Readonly<Record<string, LineNumberForm>> = {
  '\t': 'tab',
  ': ': 'colon',
  ':': 'colon',
  '|': 'bar',
  ' | ': 'pipe',
};

/** nl doesn't count blank lines without `-ba`, so its numbers differ from the file's. */
const simulateNl: SimulatedProgram = (call) => {
  const options = parseCommandOptions(call.words, new Set(['b', 'w', 's', 'v', 'n', 'i', 'd', 'f', 'h', 'l']));
  const form = NL_SEPARATORS[getOption(options, 's') ?? '\t'];
  const numbersEveryLine = getOption(options, 'b') === 'a' && !hasOption(options, 'v', 'i', 'd', 'l');
  return numbersEveryLine && form ? simulatePrintingFiles(call, options, form) : UNKNOWN_COMMAND_OUTCOME;
};

function simulateHeadOrTail(
  call: SimulatedCall,
  operands: readonly ScriptWord[],
  isHeaded: boolean,
  selectLines: (print: ExpectedPrint) => ExpectedPrint,
): CommandOutcome {
  if (operands.length === 0) {
    const singleInput = getOnlyElement(call.input);
    if (singleInput) return makeOutcomeThatPrints(selectLines(singleInput));
    return makeOutcomeThatPrints(
      makeUnknownPrint(call.input ? selectLines(makeUnknownPrint(sumMaxLines(call.input))).maxLines : Infinity),
    );
  }
  const [operand] = operands;
  if (operands.length > 1) {
    // An unknown word may be any number of files, each with a header.
    return isHeaded
      ? makeOutcomeThatPrints({ kind: 'headed', folder: call.folder, maxLines: Infinity })
      : UNKNOWN_COMMAND_OUTCOME;
  }
  const path = joinWordPath(call.folder, operand);
  // A wildcard may match one file, which has no header, or several.
  return path === undefined ? UNKNOWN_COMMAND_OUTCOME : makeOutcomeThatPrints(selectLines(makePrintedFile(path)));
}

const simulateHead: SimulatedProgram = (call) => {
  const options = parseCommandOptions(call.words, new Set(['n', 'c', 'lines', 'bytes']));
  if (hasOption(options, 'c', 'bytes', 'z')) return UNKNOWN_COMMAND_OUTCOME;
  const countOption =
    getOption(options, 'n', 'lines', 'number') ?? (hasOption(options, 'n', 'lines', 'number') ? '' : '10');
  const count = /^-?\d+$/.test(countOption) ? Number(countOption) : undefined;
  if (count === undefined) return UNKNOWN_COMMAND_OUTCOME;
  return simulateHeadOrTail(call, options.operands, !hasOption(options, 'q'), (print) =>
    selectPrintedLines(print, [{ first: 1, last: count < 0 ? Infinity : count }]),
  );
};

const simulateTail: SimulatedProgram = (call) => {
  const words = /^\+\d+$/.test(call.words[0] ?? '') ? ['-n', ...call.words] : call.words;
  const options = parseCommandOptions(words, new Set(['n', 'c', 'lines', 'bytes']));
  if (hasOption(options, 'c', 'bytes', 'z', 'f', 'F', 'r')) return UNKNOWN_COMMAND_OUTCOME;
  const countOption =
    getOption(options, 'n', 'lines', 'number') ?? (hasOption(options, 'n', 'lines', 'number') ? '' : '10');
  if (!/^[+-]?\d+$/.test(countOption)) return UNKNOWN_COMMAND_OUTCOME;
  const count = Math.abs(Number(countOption));
  if (countOption.startsWith('+'))
    return simulateHeadOrTail(call, options.operands, !hasOption(options, 'q'), (print) =>
      selectPrintedLines(print, [{ first: Math.max(1, count), last: Infinity }]),
    );
  return simulateHeadOrTail(call, options.operands, !hasOption(options, 'q'), (print) =>
    selectLastPrintedLines(print, count),
  );
};

function selectLastPrintedLines(print: ExpectedPrint, count: number): ExpectedPrint {
  const maxLines = Math.min(print.maxLines, count);
  if (print.kind !== 'lines')
    return { ...selectPrintedLines(print, [{ first: 1, last: count }]), maxLines } as ExpectedPrint;
  return { ...print, ranges: [{ first: undefined, maxLines }], maxLines };
}

const simulateSed: SimulatedProgram = (call) => {
  const words = call.words;
  const options = parseCommandOptions(words, new Set(['e', 'f', 'l', 'expression', 'file', 'line-length']));
  const editsInPlace = [...options.valuesByOption.keys()].some(
    (name) => name === 'i' || name === 'in-place' || name === 'I',
  );
  const scripts = [...(options.valuesByOption.get('e') ?? []), ...(options.valuesByOption.get('expression') ?? [])];
  const operands = scripts.length > 0 || hasOption(options, 'f', 'file') ? options.operands : options.operands.slice(1);
  if (editsInPlace) return makeOutcomeThatEditsFiles(call.folder, listFilesOfSedCommand(words));
  if (hasOption(options, 'f', 'file', 's', 'z') || scripts.includes(undefined)) return UNKNOWN_COMMAND_OUTCOME;
  const script = scripts.length > 0 ? scripts.join('\n') : options.operands[0];
  const isQuiet = hasOption(options, 'n', 'quiet', 'silent');
  const wantedRanges = script === undefined ? undefined : readSedRanges(script, isQuiet);
  if (!wantedRanges) return UNKNOWN_COMMAND_OUTCOME;
  // sed continues its line numbers across files.
  if (operands.length > 1) return UNKNOWN_COMMAND_OUTCOME;
  return simulateHeadOrTail(call, operands, false, (print) =>
    wantedRanges === 'some' ? forgetWhichLinesArePrinted(print) : selectPrintedLines(print, wantedRanges),
  );
};

const forgetWhichLinesArePrinted = (print: ExpectedPrint): ExpectedPrint =>
  print.kind === 'lines'
    ? { ...print, ranges: undefined }
    : print.kind === 'matches' || print.kind === 'paths'
      ? print
      : makeUnknownPrint(print.maxLines);

/** In `sed -i`, files follow the script; BSD's sed takes a suffix after `-i`. */
function listFilesOfSedCommand(words: readonly ScriptWord[]): readonly ScriptWord[] {
  const operands: ScriptWord[] = [];
  let hasScript = false;
  for (let wordIndex = 0; wordIndex < words.length; wordIndex++) {
    const word = words[wordIndex];
    if (word === '-e' || word === '-f' || word === '--expression' || word === '--file') {
      hasScript = true;
      wordIndex++;
    } else if (word === '' || word?.startsWith('-') === true) {
      if (/^(?:-[Enrsuz]*e.|--(?:expression|file)=)/.test(word)) hasScript = true;
    } else {
      operands.push(word);
    }
  }
  if (
    !hasScript &&
    operands.length > 2 &&
    words[words.indexOf('-i') + 1] === operands[0] &&
    /^\.\w+$/.test(operands[0] ?? '')
  )
    operands.shift();
  return hasScript ? operands : operands.slice(1);
}

function makeOutcomeThatEditsFiles(folder: ScriptWord, words: readonly ScriptWord[]): CommandOutcome {
  const effects = words.flatMap((word): CommandEffect[] => {
    const path = joinWordPath(folder, word);
    return path === undefined ? [] : [{ kind: 'edit', path }];
  });
  return { printed: [EMPTY_PRINT], effects };
}

const simulateEcho: SimulatedProgram = ({ words }) => {
  let textWords = words;
  let isWithoutEscapes = true;
  let hasNewline = true;
  while (/^-[neE]+$/.test(textWords[0] ?? '')) {
    if (textWords[0]?.includes('e') === true) isWithoutEscapes = false;
    if (textWords[0]?.includes('n') === true) hasNewline = false;
    textWords = textWords.slice(1);
  }
  if (textWords.includes(undefined)) return UNKNOWN_COMMAND_OUTCOME;
  const joinedText = textWords.join(' ');
  // Backslashes mean different things in different shells.
  const text = isWithoutEscapes && !joinedText.includes('\\') ? joinedText : unescapeText(joinedText);
  return text === undefined
    ? UNKNOWN_COMMAND_OUTCOME
    : makeOutcomeThatPrints(makePrintedText(text + (hasNewline ? '\n' : '')));
};

const makePrintedText = (text: string, sourceSlice?: InlineInputText['sourceSlice']): ExpectedPrint => ({
  kind: 'text',
  text,
  sourceSlice,
  maxLines: text.split('\n').length - (text.endsWith('\n') ? 1 : 0),
});

export const makePrintedInlineText = ({ text, sourceSlice }: InlineInputText): ExpectedPrint =>
  makePrintedText(text, sourceSlice);

function unescapeText(text: string): string | undefined {
  if (!text.includes('\\')) return text;
  return /\\[^nt"']/.test(text)
    ? undefined
    : text
        .replaceAll('\\n', '\n')
        .replaceAll('\\t', '\t')
        .replaceAll(/\\(["'])/g, '$1');
}

const simulatePrintf: SimulatedProgram = ({ words }) => {
  const [format, ...values] = words[0] === '--' ? words.slice(1) : words;
  if (format === undefined || values.includes(undefined)) return UNKNOWN_COMMAND_OUTCOME;
  const text = unescapeText(format);
  if (text === undefined) return UNKNOWN_COMMAND_OUTCOME;
  if (values.length === 0)
    return text.replaceAll('%%', '').includes('%')
      ? UNKNOWN_COMMAND_OUTCOME
      : makeOutcomeThatPrints(makePrintedText(text.replaceAll('%%', '%')));
  if (text.split('%s').join('').includes('%')) return UNKNOWN_COMMAND_OUTCOME;
  const placeholderCount = text.split('%s').length - 1;
  if (placeholderCount === 0 || values.length % placeholderCount !== 0) return UNKNOWN_COMMAND_OUTCOME;
  let printedText = '';
  for (let valueIndex = 0; valueIndex < values.length; valueIndex += placeholderCount) {
    let nextIndex = valueIndex;
    printedText += text.replaceAll('%s', () => values[nextIndex++] as string);
  }
  return makeOutcomeThatPrints(makePrintedText(printedText));
};

const simulateWc: SimulatedProgram = ({ words }) => {
  const { operands } = parseCommandOptions(words, new Set());
  return makeOutcomeThatPrints(
    makeUnknownPrint(operands.includes(undefined) ? Infinity : operands.length + (operands.length === 1 ? 0 : 1)),
  );
};

const simulateLineReordering: SimulatedProgram = ({ input, words }) => {
  const singleInput = getOnlyElement(input);
  if (!singleInput || parseCommandOptions(words, new Set(['k', 't', 'S', 'o'])).operands.length > 0)
    return UNKNOWN_COMMAND_OUTCOME;
  return makeOutcomeThatPrints(
    singleInput.kind === 'matches' || singleInput.kind === 'paths'
      ? singleInput
      : makeUnknownPrint(singleInput.maxLines),
  );
};

export const makeWriteEffect = (path: string, printed: ExpectedPrint | undefined, appends: boolean): CommandEffect =>
  printed?.kind === 'text'
    ? { kind: 'write', path, text: printed.text, sourceSlice: printed.sourceSlice, appends }
    : { kind: 'write', path, text: undefined, sourceSlice: undefined, appends };

const simulateRm: SimulatedProgram = ({ words, folder }) => {
  const options = parseCommandOptions(words, new Set());
  const effects = options.operands.flatMap((word): CommandEffect[] => {
    const path = joinWordPath(folder, word);
    return path === undefined ? [] : [{ kind: 'delete', path }];
  });
  return { printed: [hasOption(options, 'v') ? UNKNOWN_PRINT : EMPTY_PRINT], effects };
};

const simulateApplyPatch: SimulatedProgram = ({ words, folder, input }) => {
  const [patch] = words;
  const singleInput = getOnlyElement(input);
  const text = patch ?? (singleInput?.kind === 'text' ? singleInput.text : undefined);
  if (text?.includes('*** Begin Patch') !== true) return UNKNOWN_COMMAND_OUTCOME;
  const sourceSlice = patch === undefined && singleInput?.kind === 'text' ? singleInput.sourceSlice : undefined;
  return { printed: [UNKNOWN_PRINT], effects: [{ kind: 'patch', text, sourceSlice, folder }] };
};

const simulateFind: SimulatedProgram = ({ words }) => {
  const actions = words.filter(
    (word) => word === undefined || /^-(?:exec|execdir|ok|okdir|printf|fprintf?|fls|ls|delete|print0)$/.test(word),
  );
  return actions.length > 0 && !actions.every((word) => word === '-ls')
    ? UNKNOWN_COMMAND_OUTCOME
    : makeOutcomeThatPrints({ kind: 'paths', maxLines: Infinity });
};

const simulatePathLister: SimulatedProgram = () => makeOutcomeThatPrints({ kind: 'paths', maxLines: Infinity });

const simulateSilentProgram: SimulatedProgram = () => OUTCOME_THAT_PRINTS_NOTHING;

const SILENT_PROGRAMS =
  'cd true : false export declare local readonly typeset mkdir touch chmod chown ln sleep set shopt unset exit wait trap test [ umask ulimit kill rmdir return break continue';

const ONE_LINE_PROGRAMS = 'pwd date whoami hostname mktemp uname nproc arch id uptime tty';
const LINE_PER_NAME_PROGRAMS = 'which basename dirname realpath readlink sha256sum md5sum shasum';

const makeProgramsWithSameBehavior = (names: string, program: SimulatedProgram): Record<string, SimulatedProgram> =>
  Object.fromEntries(names.split(' ').map((name) => [name, program]));

/** Exported for `npm run bench -- --only ablation`, which removes programs one by one. */
export const SIMULATED_PROGRAMS: Readonly<Record<string, SimulatedProgram>> = {
  ...searchPrograms,
  git: simulateGit,
  cat: simulateCat,
  less: simulateCat,
  more: simulateCat,
  nl: simulateNl,
  head: simulateHead,
  tail: simulateTail,
  sed: simulateSed,
  gsed: simulateSed,
  echo: simulateEcho,
  printf: simulatePrintf,
  wc: simulateWc,
  sort: simulateLineReordering,
  uniq: simulateLineReordering,
  rm: simulateRm,
  unlink: simulateRm,
  apply_patch: simulateApplyPatch,
  applypatch: simulateApplyPatch,
  find: simulateFind,
  fd: simulatePathLister,
  ls: simulatePathLister,
  tree: simulatePathLister,
  ...makeProgramsWithSameBehavior(SILENT_PROGRAMS, simulateSilentProgram),
  ...makeProgramsWithSameBehavior(ONE_LINE_PROGRAMS, createLineLimitedProgram(1)),
  ...makeProgramsWithSameBehavior(LINE_PER_NAME_PROGRAMS, ({ words }) =>
    makeOutcomeThatPrints(makeUnknownPrint(words.includes(undefined) ? Infinity : words.length)),
  ),
};

export const findProgram = (name: string): SimulatedProgram | undefined =>
  Object.hasOwn(SIMULATED_PROGRAMS, name) ? SIMULATED_PROGRAMS[name] : undefined;
