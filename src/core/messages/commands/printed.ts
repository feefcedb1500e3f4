/** A command's output and its effects on files, as far as its words tell. */

import type { Slice } from '../../slice';
import type { NumberForm } from '../../agents/types';
import type { Word } from './script';

/** Lines of a file. */
export interface LineRange {
  /** The first line's number, from 1; undefined where it depends on the file's length. */
  readonly first: number | undefined;
  /** How many lines at most: a file may end before. */
  readonly most: number;
}

/** One piece of output. */
export type PrintedText =
  /** Lines of one file and nothing else. */
  | {
      readonly kind: 'lines';
      readonly path: string;
      /** The revision that it was printed from, where it is not the file as it stands. */
      readonly revision?: string;
      /** One after the other; undefined for lines of which nobody knows which they are. */
      readonly ranges: readonly LineRange[] | undefined;
      /** The prefix of each line. */
      readonly numbers: NumberForm | undefined;
      readonly most: number;
    }
  /** Several files, each under `==> path <==`. */
  | { readonly kind: 'headed'; readonly folder: Word; readonly most: number }
  /** Lines that match a search: of one file as `12:text`, of several as `path:12:text`, without numbers as `path:text`. */
  | {
      readonly kind: 'matches';
      /** The one file that was searched; undefined where each line names its own. */
      readonly path: string | undefined;
      readonly isNumbered: boolean;
      readonly folder: Word;
      readonly most: number;
    }
  /** A unified diff. */
  | { readonly kind: 'diff'; readonly folder: Word; readonly most: number }
  /** Git's lines on changed files, one each. */
  | { readonly kind: 'status'; readonly most: number }
  /** Names of files. */
  | { readonly kind: 'paths'; readonly most: number }
  /** Exactly this text. */
  | { readonly kind: 'text'; readonly text: string; readonly at: Slice | undefined; readonly most: number }
  | { readonly kind: 'nothing'; readonly most: 0 }
  /** Anything. */
  | { readonly kind: 'other'; readonly most: number };

/** The effect of a command on a file. */
export type Effect =
  /** All of the file's text, or more of it, comes from the command; what is not known before it runs is left out. */
  | {
      readonly kind: 'write';
      readonly path: string;
      readonly text: string | undefined;
      readonly at: Slice | undefined;
      readonly appends: boolean;
    }
  | { readonly kind: 'edit'; readonly path: string }
  /** A patch that names its files. */
  | { readonly kind: 'patch'; readonly text: string; readonly at: Slice | undefined; readonly folder: Word }
  | { readonly kind: 'move'; readonly path: string; readonly to: string }
  | { readonly kind: 'delete'; readonly path: string };

/** The outcome of a command. */
export interface Outcome {
  readonly printed: readonly PrintedText[];
  readonly effects: readonly Effect[];
}

export const NOTHING: PrintedText = { kind: 'nothing', most: 0 };
export const OTHER: PrintedText = { kind: 'other', most: Infinity };

/** Something of at most so many lines. */
export const other = (most: number): PrintedText => ({ kind: 'other', most });

export const printing = (...printed: readonly PrintedText[]): Outcome => ({ printed, effects: [] });

/** All lines of a file. */
export const wholeFile = (path: string, numbers?: NumberForm): PrintedText => ({
  kind: 'lines',
  path,
  ranges: [{ first: 1, most: Infinity }],
  numbers,
  most: Infinity,
});

/** The printed lines with these ranges of them kept; their numbers are those of what was printed. */
export function selected(printed: PrintedText, ranges: readonly Range[]): PrintedText {
  const most = Math.min(
    printed.most,
    ranges.reduce((sum, { first, last }) => sum + Math.max(0, last - first + 1), 0),
  );
  if (printed.kind === 'lines') return { ...printed, ranges: selectedRanges(printed.ranges, ranges), most };
  // Numbers tell where a line stands, also when others are left out.
  return printed.kind === 'text' || printed.kind === 'nothing' ? other(most) : { ...printed, most };
}

/** From the first to the last line, counted from 1; Infinity for the end. */
export interface Range {
  readonly first: number;
  readonly last: number;
}

function selectedRanges(ranges: readonly LineRange[] | undefined, wanted: readonly Range[]): LineRange[] | undefined {
  const [only] = ranges ?? [];
  if (!only || ranges?.length !== 1) return undefined;
  return wanted.map(({ first, last }) => ({
    first: only.first === undefined ? undefined : only.first + first - 1,
    most: Math.max(0, Math.min(last, only.most) - first + 1),
  }));
}

/** One command of a pipe, as a program gets it. */
export interface Call {
  /** The words behind the program's name. */
  readonly words: readonly Word[];
  /** The folder it runs in; undefined where nobody knows. */
  readonly folder: Word;
  /** The output of the command before it in the pipe; undefined if it is the first. */
  readonly input: readonly PrintedText[] | undefined;
}

export type Program = (call: Call) => Outcome;
