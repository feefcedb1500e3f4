/** Which parts of a call's parameters and results are lines of which file. */

import type { Slice } from '../slice';
import type { ToolKind } from '../agents/types';
import { parseCommandCall, printedSlice } from './commands/commandCalls';
import { commandSteps, type CommandStep } from './commands/commandSteps';
import { outputParts, type LineHead } from './commands/outputParts';
import { keptList } from '../keptList';
import type { Content } from './content';
import type { ToolExchange } from './exchanges';
import { joinPath } from './filePath';
import { memoizeByObject } from '../memoizeByObject';
import { readPatches } from './patches';
import { getPath, ruleFor, type ToolTable } from './tools';

/** Part of a content whose lines are lines of one file. */
export interface FilePart extends Slice {
  readonly path: string;
  /** The prefix of each line; undefined if it must be found out, or there is none. */
  readonly head: LineHead | undefined;
  /** The first line's number, where it is known and does not stand in front of it. */
  readonly firstLine: number | undefined;
  /** Whether the lines are the file's as it stands after the call: not an older revision's. */
  readonly isCurrent: boolean;
}

const NONE: readonly FilePart[] = [];

/** Oh My Pi names the lines of a file behind its path: `src/a.rs:10-40,60-80`. */
const RANGE = /:\d+(?:-\d+)?(?:,\d+(?:-\d+)?)*$/;

/** The file that a call is about. */
export const getFilePath = (tools: ToolTable, exchange: ToolExchange): string | undefined =>
  getPath(tools, exchange)?.replace(RANGE, '');

/**
 * The files that a content of a call shows.
 * @param content one of the exchange's parameters or results.
 * @returns parts in the content's order, by offsets of its text.
 */
export function listFileParts(tools: ToolTable, exchange: ToolExchange, content: Content): readonly FilePart[] {
  const known = memory(tools)(exchange);
  const before = known.get(content);
  if (before) return before;
  const kind = ruleFor(tools, exchange)?.kind;
  const parts = keptList(
    content.type === 'toolParameters'
      ? parameterParts(tools, exchange, kind, content)
      : resultParts(tools, exchange, kind, content),
  );
  known.set(content, parts);
  return parts;
}

/** By table and call: several steps ask for the same. */
const memory = memoizeByObject<ToolTable, (exchange: ToolExchange) => Map<Content, readonly FilePart[]>>(() =>
  memoizeByObject(() => new Map()),
);

const whole = ({ text }: Content, path: string | undefined): readonly FilePart[] =>
  path === undefined
    ? NONE
    : [{ start: 0, end: text.length, path, head: undefined, firstLine: undefined, isCurrent: true }];

function parameterParts(
  tools: ToolTable,
  exchange: ToolExchange,
  kind: ToolKind | undefined,
  content: Content,
): readonly FilePart[] {
  if (kind === 'command') return isCommandLine(exchange, content) ? givenParts(exchange) : NONE;
  if (content.text.includes('*** Begin Patch')) return patchParts(content.text, 0, '');
  return whole(content, getFilePath(tools, exchange));
}

function resultParts(
  tools: ToolTable,
  exchange: ToolExchange,
  kind: ToolKind | undefined,
  content: Content,
): readonly FilePart[] {
  if (exchange.isError) return NONE;
  const path = getFilePath(tools, exchange);
  if (kind === 'command') return printedParts(exchange, content);
  if (kind === 'search') return foundParts(content.text, path);
  return kind === 'list' ? NONE : whole(content, path);
}

/** A call's command line is read once, however often its result changes. */
function getSteps({ tool, input }: ToolExchange): readonly CommandStep[] {
  const known = stepsByInput.get(input);
  if (known?.tool === tool) return known.steps;
  const call = parseCommandCall(tool, input);
  const steps = call ? (commandSteps(call.line, { shell: call.shell, folder: call.folder }) ?? []) : [];
  stepsByInput.set(input, { tool, steps });
  return steps;
}

const stepsByInput = new WeakMap<
  ToolExchange['input'],
  { readonly tool: string; readonly steps: readonly CommandStep[] }
>();

function printedParts(exchange: ToolExchange, { text }: Content): readonly FilePart[] {
  // A line that the agent ran in several pieces has one result for each; nobody knows which is whose.
  if (exchange.results.length > 1 && !exchange.results.slice(0, -1).every(({ text: other }) => isHeadAlone(other)))
    return NONE;
  const steps = getSteps(exchange);
  if (steps.length === 0) return NONE;
  const { start, end } = printedSlice(text);
  return outputParts(steps, text.slice(start, end)).map((part) => ({
    ...part,
    start: start + part.start,
    end: start + part.end,
    isCurrent: part.revision === undefined && part.head !== 'diff',
  }));
}

/** Codex' code mode puts its head into a text of its own. */
const isHeadAlone = (text: string): boolean => {
  const { start } = printedSlice(text);
  return start > 0 && start >= text.trimEnd().length;
};

/** Whether a parameter is the command line as the agent wrote it. */
const isCommandLine = (exchange: ToolExchange, { path, text }: Content): boolean =>
  ['command', 'cmd', 'script'].includes(String(path.at(-1))) &&
  text === parseCommandCall(exchange.tool, exchange.input)?.line;

/** The text that a command line writes to files: here-documents and patches. */
const givenParts = (exchange: ToolExchange): readonly FilePart[] =>
  getSteps(exchange)
    .flatMap(({ effects }) => effects)
    .flatMap((effect): readonly FilePart[] => {
      if (effect.kind === 'write' && effect.at)
        return [
          {
            ...effect.at,
            path: effect.path,
            head: undefined,
            firstLine: effect.appends ? undefined : 1,
            isCurrent: true,
          },
        ];
      return effect.kind === 'patch' && effect.at ? patchParts(effect.text, effect.at.start, effect.folder) : NONE;
    });

/** The hunks of a patch. */
function patchParts(text: string, offset: number, folder: string | undefined): readonly FilePart[] {
  return readPatches(text).flatMap(({ path, movedTo, hunks }) => {
    const file = joinPath(folder, movedTo ?? path);
    return file === undefined
      ? NONE
      : hunks.map(({ start, end, firstNew }): FilePart => ({
          start: offset + start,
          end: offset + end,
          path: file,
          head: 'diff',
          firstLine: firstNew,
          isCurrent: true,
        }));
  });
}

/** Search tools print in ripgrep's form. */
function foundParts(text: string, path: string | undefined): readonly FilePart[] {
  const search = (one: string | undefined): CommandStep => ({
    when: 'always',
    printed: [{ kind: 'matches', path: one, isNumbered: true, folder: '', most: Infinity }],
    effects: [],
    programs: [],
  });
  const isOneFile = path !== undefined && /^\d{1,9}[:-]/.test(text);
  return outputParts([search(isOneFile ? path : undefined)], text).map((part) => ({ ...part, isCurrent: true }));
}
