/** PowerShell's own commands: their output, and their effects on files. */

import { joinPath } from '../filePath';
import { lastOf, someOf, written } from './programs';
import {
  NOTHING,
  other,
  OTHER,
  printing,
  selected,
  wholeFile,
  type Effect,
  type Outcome,
  type Printed,
  type Program,
} from './printed';
import type { Word } from './script';

/** The parameters of a cmdlet by their names in small letters; what stands without a name under ''. */
type Parameters = ReadonlyMap<string, readonly Word[]>;

/** Parameters that take no value. */
const SWITCHES = new Set(
  'raw force recurse name nonewline append passthru wait file directory unique allmatches simplematch casesensitive notmatch quiet list whatif confirm verbose noclobber asbytestream hidden readcount'.split(
    ' ',
  ),
);

/** @param valued a parameter that takes a value here, although one of the same name takes none elsewhere. */
function parametersOf(words: readonly Word[], valued?: string): Parameters {
  const found = new Map<string, Word[]>();
  /** The parameter that the last value went to, and the one that waits for its own. */
  let last = '';
  let waiting: string | undefined;
  let isNext = false;
  for (const word of words) {
    if (word === ',') {
      isNext = true;
    } else if (!isNext && word !== undefined && /^-[A-Za-z]/.test(word)) {
      const name = word.slice(1).replace(/:$/, '').toLowerCase();
      found.set(name, []);
      waiting = SWITCHES.has(name) && name !== valued ? undefined : name;
    } else {
      if (!isNext) last = waiting ?? '';
      found.set(last, [...(found.get(last) ?? []), word]);
      waiting = undefined;
      isNext = false;
    }
  }
  return found;
}

/** The first of the named parameters that was given. */
function parameter(parameters: Parameters, ...names: readonly string[]): readonly Word[] | undefined {
  for (const name of names) {
    const values = parameters.get(name);
    if (values) return values;
  }
  return undefined;
}

const numberOf = (words: readonly Word[] | undefined): number | undefined => {
  const [word] = words ?? [];
  return word !== undefined && /^\d+$/.test(word) ? Number(word) : undefined;
};

const ANYTHING: Outcome = printing(OTHER);

/** `Env:PATH` and the like name no files. */
const DRIVE = /^\w{2,}:/;

const pathsIn = (folder: Word, words: readonly Word[]): Word[] =>
  words.map((word) =>
    word === undefined || /[*?]/.test(word) || DRIVE.test(word) ? undefined : joinPath(folder, word),
  );

const getContent: Program = ({ words, folder }) => {
  const parameters = parametersOf(words);
  const given = parameter(parameters, 'path', 'literalpath', 'lp', '') ?? [];
  const files = pathsIn(folder, given);
  if (files.length === 0 || files.includes(undefined) || parameters.has('asbytestream')) return ANYTHING;
  const heads = parameter(parameters, 'totalcount', 'head', 'first');
  const tails = parameter(parameters, 'tail', 'last');
  const [head, tail] = [numberOf(heads), numberOf(tails)];
  if ((heads && head === undefined) || (tails && tail === undefined)) return ANYTHING;
  return printing(
    ...files.map((path): Printed => {
      const whole = wholeFile(path as string);
      if (tail !== undefined) return lastOf(whole, tail);
      return head === undefined ? whole : selected(whole, [{ first: 1, last: head }]);
    }),
  );
};

/** Of what is piped in: the first lines, the last, those behind some, or those at given places. */
const selectObject: Program = ({ words, input }) => {
  const [whole] = input ?? [];
  const parameters = parametersOf(words);
  if (!whole || input?.length !== 1) return ANYTHING;
  const first = numberOf(parameter(parameters, 'first', 'f'));
  const last = numberOf(parameter(parameters, 'last'));
  const skip = numberOf(parameter(parameters, 'skip'));
  const index = parameter(parameters, 'index')?.[0];
  const known = ['first', 'f', 'last', 'skip', 'index'];
  // Properties of objects are no lines.
  if ([...parameters.keys()].some((name) => !known.includes(name))) return printing(other(whole.most));
  if (index !== undefined) {
    const [, from, to] = /^(-?\d+)\.\.(-?\d+)$/.exec(index) ?? ['', index, index];
    const [low, high] = [Number(from), Number(to)];
    if (!Number.isInteger(low) || !Number.isInteger(high)) return ANYTHING;
    // `[-1..-3]` turns the order round.
    if (high < low || (low < 0 && high >= 0)) return printing(other(whole.most));
    if (low < 0) return printing(lastOf(whole, high - low + 1));
    return printing(selected(whole, [{ first: low + 1, last: high + 1 }]));
  }
  if (last !== undefined) return skip === undefined ? printing(lastOf(whole, last)) : printing(other(last));
  const from = (skip ?? 0) + 1;
  if (first === undefined && skip === undefined) return printing(other(whole.most));
  return printing(selected(whole, [{ first: from, last: first === undefined ? Infinity : from + first - 1 }]));
};

/** Of files it prints `path:12:text`; of what is piped in, the lines. */
const selectString: Program = ({ words, folder, input }) => {
  const parameters = parametersOf(words);
  if (parameters.has('quiet') || parameters.has('list') || parameters.has('raw')) return ANYTHING;
  const hasContext = parameters.has('context');
  const [whole] = input ?? [];
  if (whole && input?.length === 1) {
    if (whole.kind === 'lines' && !hasContext) return printing(someOf(whole));
    // It searches the files that `Get-ChildItem` names, but the names that other programs print.
    return printing(whole.kind === 'matches' ? whole : other(Infinity));
  }
  if (!parameter(parameters, 'path', 'literalpath') && (parameters.get('')?.length ?? 0) < 2) return ANYTHING;
  return hasContext
    ? ANYTHING
    : printing({ kind: 'matches', path: undefined, isNumbered: true, folder, most: Infinity });
};

/** The written text is piped in or stands behind `-Value`. */
const writesFile =
  (appends: boolean): Program =>
  ({ words, folder, input }) => {
    const parameters = parametersOf(words);
    const unnamed = parameters.get('') ?? [];
    const named = parameter(parameters, 'path', 'literalpath', 'filepath');
    const [path] = pathsIn(folder, named ?? unnamed.slice(0, 1));
    const value = parameter(parameters, 'value', 'inputobject') ?? (named ? unnamed : unnamed.slice(1));
    if (path === undefined) return { printed: [NOTHING], effects: [] };
    const [text] = value;
    const given: Printed | undefined =
      value.length === 1 && text !== undefined ? { kind: 'text', text, at: undefined, most: Infinity } : input?.[0];
    const effect = written(path, given, appends || parameters.has('append'));
    return { printed: [NOTHING], effects: [effect] };
  };

const teeObject: Program = ({ words, folder, input }) => {
  const [path] = pathsIn(folder, parameter(parametersOf(words), 'filepath', 'literalpath', '') ?? []);
  return {
    printed: input ?? [OTHER],
    effects: path === undefined ? [] : [written(path, input?.[0], parametersOf(words).has('append'))],
  };
};

const removeItem: Program = ({ words, folder }) => ({
  printed: [NOTHING],
  effects: pathsIn(folder, parameter(parametersOf(words), 'path', 'literalpath', '') ?? []).flatMap((path): Effect[] =>
    path === undefined ? [] : [{ kind: 'delete', path }],
  ),
});

const movesItem =
  (kind: 'move' | 'copy'): Program =>
  ({ words, folder }) => {
    const parameters = parametersOf(words);
    const unnamed = parameters.get('') ?? [];
    const named = parameter(parameters, 'path', 'literalpath');
    const [path] = pathsIn(folder, named ?? unnamed.slice(0, 1));
    const [to] = pathsIn(folder, parameter(parameters, 'destination') ?? (named ? unnamed : unnamed.slice(1)));
    return { printed: [NOTHING], effects: path === undefined || to === undefined ? [] : [{ kind, path, to }] };
  };

const newItem: Program = ({ words, folder }) => {
  const parameters = parametersOf(words, 'name');
  const [own] = pathsIn(folder, parameter(parameters, 'path', '') ?? ['.']);
  const name = parameters.get('name');
  const [path] = name ? pathsIn(own, name) : [own];
  const isFile = /^(?:file)?$/i.test(parameter(parameters, 'itemtype', 'type')?.[0] ?? '');
  const [text] = parameter(parameters, 'value') ?? [''];
  if (path === undefined || !isFile) return printing(OTHER);
  return { printed: [OTHER], effects: [{ kind: 'write', path, text, at: undefined, appends: false }] };
};

/** @param between what stands between several texts. */
const says =
  (between: ' ' | '\n'): Program =>
  ({ words }) => {
    const parameters = parametersOf(words);
    const texts = parameter(parameters, 'object', 'inputobject', '') ?? [];
    const others = [...parameters.keys()].filter(
      (name) => !['', 'object', 'inputobject', 'foregroundcolor', 'backgroundcolor'].includes(name),
    );
    if (texts.includes(undefined) || others.length > 0) return ANYTHING;
    const text = `${texts.join(between)}\n`;
    return printing({ kind: 'text', text, at: undefined, most: text.split('\n').length - 1 });
  };

const passesOn: Program = ({ input }) => printing(...(input ?? [OTHER]));
const silent: Program = () => printing(NOTHING);
const lists: Program = () => printing({ kind: 'paths', most: Infinity });
const oneLine: Program = () => printing(other(1));
const anything: Program = () => ANYTHING;

const named = (names: string, program: Program): [string, Program][] => names.split(' ').map((name) => [name, program]);

/** By name and by the short names that PowerShell has for them. */
const CMDLETS = new Map<string, Program>([
  ...named('get-content gc type cat', getContent),
  ...named('select-object select', selectObject),
  ...named('select-string sls', selectString),
  ...named('set-content sc out-file', writesFile(false)),
  ...named('add-content ac', writesFile(true)),
  ...named('tee-object tee', teeObject),
  ...named('remove-item ri rm del erase rd rmdir', removeItem),
  ...named('move-item mi mv move rename-item rni ren', movesItem('move')),
  ...named('copy-item cpi cp copy', movesItem('copy')),
  ...named('new-item ni', newItem),
  ...named('write-host', says(' ')),
  ...named('write-output write echo', says('\n')),
  ...named('out-string out-host oss', passesOn),
  ...named('out-null set-location sl cd chdir push-location start-sleep sleep $null set-strictmode', silent),
  ...named('get-childitem gci ls dir resolve-path rvpa', lists),
  ...named('test-path', oneLine),
  // Their namesakes on Unix do something else.
  ...named(
    'sort sort-object measure-object measure where-object where foreach-object foreach diff compare-object',
    anything,
  ),
]);

/** The effects of a cmdlet; undefined for other programs. */
export const cmdletOf = (name: string): Program | undefined => CMDLETS.get(name.toLowerCase());
