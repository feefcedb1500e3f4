/**
 * Parses `*** Begin Patch` (OpenAI's apply_patch) and unified diffs as git prints them. Skips other
 * text, so it can parse whole outputs.
 */

import type { Slice } from '../slice';

export type PatchSign = ' ' | '+' | '-';

/** The slice excludes the sign. */
export interface PatchLine extends Slice {
  readonly sign: PatchSign;
}

export interface PatchHunk extends Slice {
  /** Line number at which the hunk starts in the new file; undefined if the patch has none. */
  readonly firstNew: number | undefined;
  readonly lines: readonly PatchLine[];
}

export interface PatchedFile {
  readonly change: 'add' | 'update' | 'delete';
  /** For a renamed file, the old path. */
  readonly path: string;
  readonly movedTo: string | undefined;
  readonly hunks: readonly PatchHunk[];
}

/** If the patch is truncated, its last hunk ends at the end of the text. */
export function readPatches(text: string): PatchedFile[] {
  const files: PatchedFile[] = [];
  const lines = new PatchLineReader(text);
  while (lines.isOpen) {
    const line = lines.getLineText();
    if (line === '*** Begin Patch') {
      lines.moveToNextLine();
      readApplyPatchEnvelope(lines, files);
    } else if (line.startsWith('diff --git ') || isUnifiedFileHeader(lines)) {
      const file = readUnifiedDiff(lines);
      if (file) files.push(file);
    } else {
      lines.moveToNextLine();
    }
  }
  return files;
}

class PatchLineReader {
  start = 0;
  end = 0;

  constructor(readonly source: string) {
    this.end = this.findEndOfLine(0);
  }

  get isOpen(): boolean {
    return this.start <= this.source.length;
  }

  moveToNextLine(): this {
    this.start = this.end + 1;
    this.end = this.findEndOfLine(this.start);
    return this;
  }

  getLineText(): string {
    return this.source.slice(this.start, this.textEnd);
  }

  get textEnd(): number {
    return this.end > this.start && this.source[this.end - 1] === '\r' ? this.end - 1 : this.end;
  }

  get sign(): string {
    return this.start < this.end ? (this.source[this.start] as string) : '';
  }

  lineStartsWith(head: string): boolean {
    return this.source.startsWith(head, this.start);
  }

  nextLineStartsWith(head: string): boolean {
    return this.end < this.source.length && this.source.startsWith(head, this.end + 1);
  }

  private findEndOfLine(start: number): number {
    const newline = this.source.indexOf('\n', start);
    return newline < 0 ? this.source.length : newline;
  }
}

const PATCH_FILE_HEADER = /^\*\*\* (Add|Update|Delete) File: (.+)$/;
const PATCH_MOVE_HEADER = /^\*\*\* Move to: (.+)$/;

function readApplyPatchEnvelope(lines: PatchLineReader, files: PatchedFile[]): void {
  while (lines.isOpen) {
    const line = lines.getLineText();
    if (line === '*** End Patch') {
      lines.moveToNextLine();
      return;
    }
    const [, kind, path = ''] = PATCH_FILE_HEADER.exec(line) ?? [];
    lines.moveToNextLine();
    if (kind === undefined) continue;
    const change = kind === 'Add' ? 'add' : kind === 'Delete' ? 'delete' : 'update';
    const [, movedTo] = PATCH_MOVE_HEADER.exec(lines.getLineText()) ?? [];
    if (movedTo !== undefined) lines.moveToNextLine();
    files.push({ change, path: path.trim(), movedTo: movedTo?.trim(), hunks: readApplyPatchHunks(lines) });
  }
}

/**
 * Reads hunks up to the next `***` line. A line with `@@` separates hunks, and may quote a line
 * above the hunk.
 */
function readApplyPatchHunks(lines: PatchLineReader): PatchHunk[] {
  const hunks: PatchHunk[] = [];
  let hunkLines: PatchLine[] = [];
  const closeHunk = (): void => {
    const [first] = hunkLines;
    const lastLine = hunkLines.at(-1);
    if (first && lastLine)
      hunks.push({ start: first.start - 1, end: lastLine.end, firstNew: undefined, lines: hunkLines });
    hunkLines = [];
  };
  for (; lines.isOpen && !lines.lineStartsWith('*** '); lines.moveToNextLine()) {
    const { sign, start, textEnd } = lines;
    if (isPatchSign(sign)) hunkLines.push({ sign, start: start + 1, end: textEnd });
    else if (lines.lineStartsWith('@@')) closeHunk();
    // An empty line of the file has no sign and ends the hunk. The end of the text is not a line.
    else if (sign === '' && lines.end < lines.source.length) closeHunk();
  }
  closeHunk();
  return hunks;
}

const isPatchSign = (sign: string): sign is PatchSign => sign === ' ' || sign === '+' || sign === '-';

/** A file starts with `--- a/x` and then `+++ b/x`. */
const isUnifiedFileHeader = (lines: PatchLineReader): boolean =>
  lines.lineStartsWith('--- ') && lines.nextLineStartsWith('+++ ');

const DIFF_HUNK_HEADER = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/;

function readUnifiedDiff(lines: PatchLineReader): PatchedFile | undefined {
  let oldPath: string | undefined;
  let newPath: string | undefined;
  const isGit = lines.lineStartsWith('diff --git ');
  if (isGit) {
    [oldPath, newPath] = readGitPaths(lines.getLineText());
    lines.moveToNextLine();
    for (; lines.isOpen && !isUnifiedFileHeader(lines); lines.moveToNextLine()) {
      if (lines.lineStartsWith('diff --git ') || lines.lineStartsWith('@@ ')) break;
      const line = lines.getLineText();
      if (
        !/^(?:index |old mode|new mode|deleted file|new file|copy |rename |similarity |dissimilarity |Binary )/.test(
          line,
        )
      )
        break;
      const [, side, path] = /^rename (from|to) (.+)$/.exec(line) ?? [];
      if (side === 'from') oldPath = path;
      if (side === 'to') newPath = path;
    }
  }
  if (lines.isOpen && isUnifiedFileHeader(lines)) {
    oldPath = readPathFromFileHeader(lines.getLineText(), isGit);
    lines.moveToNextLine();
    newPath = readPathFromFileHeader(lines.getLineText(), isGit);
    lines.moveToNextLine();
  } else if (!isGit) {
    return undefined;
  }
  const hunks: PatchHunk[] = [];
  while (lines.isOpen) {
    const hunk = readUnifiedHunk(lines);
    if (!hunk) break;
    hunks.push(hunk);
  }
  const path = oldPath ?? newPath;
  if (path === undefined) return undefined;
  const change = oldPath === undefined ? 'add' : newPath === undefined ? 'delete' : 'update';
  return { change, path, movedTo: newPath !== undefined && newPath !== path ? newPath : undefined, hunks };
}

function readUnifiedHunk(lines: PatchLineReader): PatchHunk | undefined {
  const header = DIFF_HUNK_HEADER.exec(lines.getLineText());
  if (!header) return undefined;
  let oldLinesLeft = Number(header[2] ?? 1);
  let newLinesLeft = Number(header[4] ?? 1);
  lines.moveToNextLine();
  const hunkLines: PatchLine[] = [];
  const start = lines.start;
  for (; lines.isOpen && (oldLinesLeft > 0 || newLinesLeft > 0 || lines.sign === '\\'); lines.moveToNextLine()) {
    const { sign } = lines;
    if (sign === '\\') continue;
    // Some tools strip the blank from an empty line.
    const isBlank = sign === '' || (sign === '\r' && lines.end === lines.start + 1);
    if (!isPatchSign(sign) && !isBlank) break;
    if (isBlank && lines.end >= lines.source.length) break;
    const lineSign = isBlank ? ' ' : (sign as PatchSign);
    if (lineSign !== '+') oldLinesLeft--;
    if (lineSign !== '-') newLinesLeft--;
    if (oldLinesLeft < 0 || newLinesLeft < 0) break;
    hunkLines.push({ sign: lineSign, start: lines.start + (isBlank ? 0 : 1), end: lines.textEnd });
  }
  const lastLine = hunkLines.at(-1);
  return {
    start,
    end: lastLine?.end ?? start,
    firstNew: Number(header[3]),
    lines: hunkLines,
  };
}

/** Names with blanks in `diff --git a/x b/x` can be split only if both are equal. */
function readGitPaths(line: string): [string | undefined, string | undefined] {
  const pathsText = line.slice('diff --git '.length);
  const pathsMatch = /^("(?:[^"\\]|\\.)*"|\S+) ("(?:[^"\\]|\\.)*"|\S+)$/.exec(pathsText);
  if (pathsMatch) return [removeGitPrefix(pathsMatch[1] ?? '', true), removeGitPrefix(pathsMatch[2] ?? '', true)];
  const firstHalf = pathsText.slice(0, (pathsText.length - 1) / 2);
  const secondHalf = pathsText.slice((pathsText.length + 1) / 2);
  const [a, b] = [removeGitPrefix(firstHalf, true), removeGitPrefix(secondHalf, true)];
  return a === b ? [a, b] : [undefined, undefined];
}

/** Undefined if the file does not exist on that side. */
function readPathFromFileHeader(line: string, isGit: boolean): string | undefined {
  const path = line.slice(4).split('\t')[0] ?? '';
  return path.trim() === '/dev/null' ? undefined : removeGitPrefix(path.trim(), isGit || /^[ab]\//.test(path));
}

function removeGitPrefix(path: string, hasPrefix: boolean): string {
  const unquotedPath = path.startsWith('"') && path.endsWith('"') ? path.slice(1, -1).replaceAll(/\\(.)/g, '$1') : path;
  return hasPrefix ? unquotedPath.replace(/^[abciow]\//, '') : unquotedPath;
}
