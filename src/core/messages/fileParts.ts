import type { Slice } from '../slice';
import type { ToolKind } from '../agents/types';
import { parseCommandCall, findSlicePrintedByCommand } from './commands/commandCalls';
import { parseCommandSteps, type CommandStep } from './commands/commandSteps';
import { splitCommandOutput, type OutputLinePrefix } from './commands/outputParts';
import { copyWithoutSpareCapacity } from '../keptList';
import type { Content } from './content';
import type { ToolExchange } from './exchanges';
import { joinPath } from './filePath';
import { memoizeByObject } from '../memoizeByObject';
import { readPatches } from './patches';
import { getToolPath, getToolRule, type ToolTable } from './tools';

export interface FilePart extends Slice {
  readonly path: string;
  readonly linePrefix: OutputLinePrefix | undefined;
  readonly firstLine: number | undefined;
  /** False if the lines are those of an older revision. */
  readonly isCurrent: boolean;
}

const NO_FILE_PARTS: readonly FilePart[] = [];

/** Oh My Pi appends line ranges to the path: `src/a.rs:10-40,60-80`. */
const LINE_RANGE_SUFFIX = /:\d+(?:-\d+)?(?:,\d+(?:-\d+)?)*$/;

export const getFilePath = (tools: ToolTable, exchange: ToolExchange): string | undefined =>
  getToolPath(tools, exchange)?.replace(LINE_RANGE_SUFFIX, '');

/** @param content one of the exchange's parameters or results */
export function listFileParts(tools: ToolTable, exchange: ToolExchange, content: Content): readonly FilePart[] {
  const cache = getCachedFileParts(tools)(exchange);
  const cachedParts = cache.get(content);
  if (cachedParts) return cachedParts;
  const kind = getToolRule(tools, exchange)?.kind;
  const parts = copyWithoutSpareCapacity(
    content.type === 'toolParameters'
      ? listFilePartsOfParameter(tools, exchange, kind, content)
      : listFilePartsOfResult(tools, exchange, kind, content),
  );
  cache.set(content, parts);
  return parts;
}

const getCachedFileParts = memoizeByObject<ToolTable, (exchange: ToolExchange) => Map<Content, readonly FilePart[]>>(
  () => memoizeByObject(() => new Map()),
);

const makeFilePartOfWholeContent = ({ text }: Content, path: string | undefined): readonly FilePart[] =>
  path === undefined
    ? NO_FILE_PARTS
    : [{ start: 0, end: text.length, path, linePrefix: undefined, firstLine: undefined, isCurrent: true }];

function listFilePartsOfParameter(
  tools: ToolTable,
  exchange: ToolExchange,
  kind: ToolKind | undefined,
  content: Content,
): readonly FilePart[] {
  if (kind === 'command')
    return isCommandLine(exchange, content) ? listFilePartsWrittenByCommand(exchange) : NO_FILE_PARTS;
  if (content.text.includes('*** Begin Patch')) return listFilePartsOfPatch(content.text, 0, '');
  return makeFilePartOfWholeContent(content, getFilePath(tools, exchange));
}

function listFilePartsOfResult(
  tools: ToolTable,
  exchange: ToolExchange,
  kind: ToolKind | undefined,
  content: Content,
): readonly FilePart[] {
  if (exchange.isError) return NO_FILE_PARTS;
  const path = getFilePath(tools, exchange);
  if (kind === 'command') return listFilePartsPrintedByCommand(exchange, content);
  if (kind === 'search') return listFilePartsOfSearchMatches(content.text, path);
  return kind === 'list' ? NO_FILE_PARTS : makeFilePartOfWholeContent(content, path);
}

function getCommandSteps({ tool, input }: ToolExchange): readonly CommandStep[] {
  const cachedSteps = stepsByInput.get(input);
  if (cachedSteps?.tool === tool) return cachedSteps.steps;
  const call = parseCommandCall(tool, input);
  const steps = call ? (parseCommandSteps(call.line, { shell: call.shell, folder: call.folder }) ?? []) : [];
  stepsByInput.set(input, { tool, steps });
  return steps;
}

const stepsByInput = new WeakMap<
  ToolExchange['input'],
  { readonly tool: string; readonly steps: readonly CommandStep[] }
>();

function listFilePartsPrintedByCommand(exchange: ToolExchange, { text }: Content): readonly FilePart[] {
  // If the output is split into several results, its lines can't be attributed.
  if (
    exchange.results.length > 1 &&
    !exchange.results.slice(0, -1).every(({ text: other }) => isOnlyOutputHeader(other))
  )
    return NO_FILE_PARTS;
  const steps = getCommandSteps(exchange);
  if (steps.length === 0) return NO_FILE_PARTS;
  const { start, end } = findSlicePrintedByCommand(text);
  return splitCommandOutput(steps, text.slice(start, end)).map((part) => ({
    ...part,
    start: start + part.start,
    end: start + part.end,
    isCurrent: part.revision === undefined && part.linePrefix !== 'diff',
  }));
}

/** Codex code mode puts its header in a separate text. */
const isOnlyOutputHeader = (text: string): boolean => {
  const { start } = findSlicePrintedByCommand(text);
  return start > 0 && start >= text.trimEnd().length;
};

const isCommandLine = (exchange: ToolExchange, { path, text }: Content): boolean =>
  ['command', 'cmd', 'script'].includes(String(path.at(-1))) &&
  text === parseCommandCall(exchange.tool, exchange.input)?.line;

const listFilePartsWrittenByCommand = (exchange: ToolExchange): readonly FilePart[] =>
  getCommandSteps(exchange)
    .flatMap(({ effects }) => effects)
    .flatMap((effect): readonly FilePart[] => {
      if (effect.kind === 'write' && effect.sourceSlice)
        return [
          {
            ...effect.sourceSlice,
            path: effect.path,
            linePrefix: undefined,
            firstLine: effect.appends ? undefined : 1,
            isCurrent: true,
          },
        ];
      return effect.kind === 'patch' && effect.sourceSlice
        ? listFilePartsOfPatch(effect.text, effect.sourceSlice.start, effect.folder)
        : NO_FILE_PARTS;
    });

function listFilePartsOfPatch(text: string, offset: number, folder: string | undefined): readonly FilePart[] {
  return readPatches(text).flatMap(({ path, movedTo, hunks }) => {
    const changedPath = joinPath(folder, movedTo ?? path);
    return changedPath === undefined
      ? NO_FILE_PARTS
      : hunks.map(({ start, end, firstNew }): FilePart => ({
          start: offset + start,
          end: offset + end,
          path: changedPath,
          linePrefix: 'diff',
          firstLine: firstNew,
          isCurrent: true,
        }));
  });
}

function listFilePartsOfSearchMatches(text: string, path: string | undefined): readonly FilePart[] {
  const makeSearchStep = (searchedPath: string | undefined): CommandStep => ({
    when: 'always',
    printed: [{ kind: 'matches', path: searchedPath, isNumbered: true, folder: '', maxLines: Infinity }],
    effects: [],
    programs: [],
  });
  const isOneFile = path !== undefined && /^\d{1,9}[:-]/.test(text);
  return splitCommandOutput([makeSearchStep(isOneFile ? path : undefined)], text).map((part) => ({
    ...part,
    isCurrent: true,
  }));
}
