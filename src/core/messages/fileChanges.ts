import { memoizeByObject } from '../memoizeByObject';
import type { ToolExchange } from './exchanges';
import { getFilePath, listFileParts } from './fileParts';
import { joinPath } from './filePath';
import { readPatches, type PatchedFile, type PatchSign } from './patches';
import { getToolRule, listParameterTexts, type ToolTable } from './tools';

export interface FileChange {
  readonly path: string;
  /** The replaced lines; empty if the call writes the whole file. */
  readonly before: readonly string[];
  readonly after: readonly string[];
}

const NO_FILE_CHANGES: readonly FileChange[] = [];

/** Includes changes of calls that failed. */
export const listFileChanges = (tools: ToolTable, exchange: ToolExchange): readonly FileChange[] =>
  getCachedFileChanges(tools)(exchange);

const getCachedFileChanges = memoizeByObject((tools: ToolTable) =>
  memoizeByObject((call: ToolExchange) => findFileChanges(tools, call)),
);

function findFileChanges(tools: ToolTable, call: ToolExchange): readonly FileChange[] {
  const rule = getToolRule(tools, call);
  const path = getFilePath(tools, call);
  switch (rule?.kind) {
    case 'command':
      return [...findPatchedFiles(tools, call), ...readPatchesInProgram(call)];
    case 'write':
      return path === undefined
        ? NO_FILE_CHANGES
        : listParameterTexts(call.input, rule.content).map((text) => ({ path, before: [], after: text.split('\n') }));
    case 'edit':
      return [
        ...(path === undefined ? NO_FILE_CHANGES : readReplacedTexts(path, call, rule)),
        ...findPatchedFiles(tools, call),
      ];
    default:
      return NO_FILE_CHANGES;
  }
}

const SEARCH_BLOCK =
  /<<<<<<< SEARCH\n(?::start_line:.*\n)?(?:-{5,}\n)?([\s\S]*?)\n?=======\n([\s\S]*?)\n?>>>>>>> REPLACE/g;

function readReplacedTexts(
  path: string,
  { input, parameters }: ToolExchange,
  rule: NonNullable<ReturnType<typeof getToolRule>>,
): FileChange[] {
  const [olds, news] = [listParameterTexts(input, rule.old), listParameterTexts(input, rule.new)];
  const replacements = Array.from({ length: Math.max(olds.length, news.length) }, (_, at) => [olds[at], news[at]])
    // The loop below handles parameters with search/replace blocks.
    .filter(([, put = '']) => put.search(SEARCH_BLOCK) === -1);
  for (const { text } of parameters)
    for (const [, old, put] of text.matchAll(SEARCH_BLOCK)) replacements.push([old, put]);
  return replacements.map(([old = '', put = '']) => ({ path, before: old.split('\n'), after: put.split('\n') }));
}

function findPatchedFiles(tools: ToolTable, call: ToolExchange): FileChange[] {
  return call.parameters.flatMap((content) =>
    listFileParts(tools, call, content).flatMap(({ path, linePrefix, start, end }): FileChange[] => {
      const lines = content.text.slice(start, end).split('\n');
      if (linePrefix !== 'diff')
        return getToolRule(tools, call)?.kind === 'command' ? [{ path, before: [], after: lines }] : [];
      const listLinesWithSign = (signs: string): string[] =>
        lines.filter((line) => signs.includes(line[0] ?? ' ')).map((line) => line.slice(1));
      return [{ path, before: listLinesWithSign(' -'), after: listLinesWithSign(' +') }];
    }),
  );
}

/** In Codex code mode a patch is a string literal in a program. */
const STRING_WITH_PATCH =
  /"(?:[^"\\]|\\.)*\*\*\* Begin Patch(?:[^"\\]|\\.)*"|`(?:[^`\\]|\\.)*\*\*\* Begin Patch(?:[^`\\]|\\.)*`/g;

function readPatchesInProgram({ input }: ToolExchange): FileChange[] {
  const program = input['input'];
  if (typeof program !== 'string' || !program.includes('tools.')) return [];
  return (program.match(STRING_WITH_PATCH) ?? []).flatMap((literal) => {
    const patchText = unquoteString(literal);
    return readPatches(patchText).flatMap((file) => convertPatchedFile(file, patchText));
  });
}

function unquoteString(literal: string): string {
  if (literal.startsWith('`')) return literal.slice(1, -1).replaceAll(/\\([`$\\])/g, '$1');
  try {
    return String(JSON.parse(literal));
  } catch {
    return '';
  }
}

function convertPatchedFile({ path, movedTo, hunks }: PatchedFile, text: string): FileChange[] {
  const changedPath = joinPath('', movedTo ?? path);
  if (changedPath === undefined) return [];
  return hunks.map(({ lines }) => {
    const listLinesWithSign = (...signs: readonly PatchSign[]): string[] =>
      lines.filter(({ sign }) => signs.includes(sign)).map(({ start, end }) => text.slice(start, end));
    return { path: changedPath, before: listLinesWithSign(' ', '-'), after: listLinesWithSign(' ', '+') };
  });
}
