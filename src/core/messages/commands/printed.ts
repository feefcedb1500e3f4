import type { Slice } from '../../slice';
import type { LineNumberForm } from '../../agents/types';
import type { ScriptWord } from './script';

export interface LineRange {
  /** Number of the first line, from 1; undefined if it depends on the file's length. */
  readonly first: number | undefined;
  readonly maxLines: number;
}

export type ExpectedPrint =
  | {
      readonly kind: 'lines';
      readonly path: string;
      readonly revision?: string;
      /** Undefined if it is unknown which lines of the file are printed. */
      readonly ranges: readonly LineRange[] | undefined;
      readonly numbers: LineNumberForm | undefined;
      readonly maxLines: number;
    }
  | { readonly kind: 'headed'; readonly folder: ScriptWord; readonly maxLines: number }
  /**
   * Search matches: `12:text` for one file, `path:12:text` for several, `path:text` without
   * numbers.
   */
  | {
      readonly kind: 'matches';
      /** The searched file; undefined if each line names its file. */
      readonly path: string | undefined;
      readonly isNumbered: boolean;
      readonly folder: ScriptWord;
      readonly maxLines: number;
    }
  | { readonly kind: 'diff'; readonly folder: ScriptWord; readonly maxLines: number }
  | { readonly kind: 'status'; readonly maxLines: number }
  | { readonly kind: 'paths'; readonly maxLines: number }
  | { readonly kind: 'text'; readonly text: string; readonly sourceSlice: Slice | undefined; readonly maxLines: number }
  | { readonly kind: 'nothing'; readonly maxLines: 0 }
  | { readonly kind: 'other'; readonly maxLines: number };

export type CommandEffect =
  /** `text` is undefined if it is unknown before the command runs. */
  | {
      readonly kind: 'write';
      readonly path: string;
      readonly text: string | undefined;
      readonly sourceSlice: Slice | undefined;
      readonly appends: boolean;
    }
  | { readonly kind: 'edit'; readonly path: string }
  | {
      readonly kind: 'patch';
      readonly text: string;
      readonly sourceSlice: Slice | undefined;
      readonly folder: ScriptWord;
    }
  | { readonly kind: 'move'; readonly path: string; readonly to: string }
  | { readonly kind: 'delete'; readonly path: string };

export interface CommandOutcome {
  readonly printed: readonly ExpectedPrint[];
  readonly effects: readonly CommandEffect[];
}

export const EMPTY_PRINT: ExpectedPrint = { kind: 'nothing', maxLines: 0 };
export const UNKNOWN_PRINT: ExpectedPrint = { kind: 'other', maxLines: Infinity };

export const makeUnknownPrint = (maxLines: number): ExpectedPrint => ({ kind: 'other', maxLines });

export const makeOutcomeThatPrints = (...printed: readonly ExpectedPrint[]): CommandOutcome => ({
  printed,
  effects: [],
});

export const makePrintedFile = (path: string, numbers?: LineNumberForm): ExpectedPrint => ({
  kind: 'lines',
  path,
  ranges: [{ first: 1, maxLines: Infinity }],
  numbers,
  maxLines: Infinity,
});

export function selectPrintedLines(printed: ExpectedPrint, ranges: readonly LineNumberRange[]): ExpectedPrint {
  const maxLines = Math.min(
    printed.maxLines,
    ranges.reduce((sum, { first, last }) => sum + Math.max(0, last - first + 1), 0),
  );
  if (printed.kind === 'lines') return { ...printed, ranges: selectRanges(printed.ranges, ranges), maxLines };
  // Printed line numbers identify lines even if others are left out.
  return printed.kind === 'text' || printed.kind === 'nothing' ? makeUnknownPrint(maxLines) : { ...printed, maxLines };
}

/** Line numbers, from 1; Infinity stands for the end of the file. */
export interface LineNumberRange {
  readonly first: number;
  readonly last: number;
}

function selectRanges(
  ranges: readonly LineRange[] | undefined,
  wantedRanges: readonly LineNumberRange[],
): LineRange[] | undefined {
  const [firstRange] = ranges ?? [];
  if (!firstRange || ranges?.length !== 1) return undefined;
  return wantedRanges.map(({ first, last }) => ({
    first: firstRange.first === undefined ? undefined : firstRange.first + first - 1,
    maxLines: Math.max(0, Math.min(last, firstRange.maxLines) - first + 1),
  }));
}

export interface SimulatedCall {
  readonly words: readonly ScriptWord[];
  readonly folder: ScriptWord;
  /** What the previous command of the pipeline prints; undefined for the first command. */
  readonly input: readonly ExpectedPrint[] | undefined;
}

export type SimulatedProgram = (call: SimulatedCall) => CommandOutcome;
