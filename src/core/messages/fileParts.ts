/** Finds which parts of a call's parameters and results are lines of which file. */

import type { Slice } from '../slice';
import type { ToolKind } from '../agents/types';
import { parseCommandCall, printedSlice } from './commands/commandCalls';
import { commandSteps, type CommandStep } from './commands/commandSteps';
import { outputParts, type LineHead } from './commands/outputParts';
import { trimList } from '../keptList';
import type { Content } from './content';
import type { ToolExchange } from './exchanges';
import { joinPath } from './filePath';
import { memoizeByObject } from '../memoizeByObject';
import { readPatches } from './patches';
import { getPath, ruleFor, type ToolTable } from './tools';

export interface FilePart extends Slice {
  readonly path: string;
  /** Prefix of each line; undefined if absent or unknown. */
  readonly head: LineHead | undefined;
  /** Number of the first line, if known and not printed. */
  readonly firstLine: number | undefined;
  /** True if the lines are those of the file after the call, not of an older revision. */
  readonly isCurrent: boolean;
}

const NONE: readonly FilePart[] = [];

/** Oh My Pi appends line ranges to the path: `src/a.rs:10-40,60-80`. */
const RANGE = /:\d+(?:-\d+)?(?:,\d+(?:-\d+)?)*$/;

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
  const parts = trimList(
    content.type === 'toolParameters'
      ? parameterParts(tools, exchange, kind, content)
      : resultParts(tools, exchange, kind, content),
  );
  known.set(content, parts);
  return parts;
}

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

/** Cached per input, since results change more often than command lines. */
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
  // If a line ran in several pieces with one result each, the results can't be attributed.
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

/** Codex code mode puts its header in a separate text. */
const isHeadAlone = (text: string): boolean => {
  const { start } = printedSlice(text);
  return start > 0 && start >= text.trimEnd().length;
};

/** True if the parameter is the agent's literal command line. */
const isCommandLine = (exchange: ToolExchange, { path, text }: Content): boolean =>
  ['command', 'cmd', 'script'].includes(String(path.at(-1))) &&
  text === parseCommandCall(exchange.tool, exchange.input)?.line;

/** Text that a command line writes to files: here-documents and patches. */
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
