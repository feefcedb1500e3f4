/**
 * Measures masking: how many forms of secrets are masked, how many look-alikes are left alone, and
 * the time on ordinary and hostile text.
 */
import { maskSecrets } from '../../src/core/secrets/maskSecrets';
import {
  TESTED_KEY_FORMS,
  UNUSUAL_TEXT_PIECES,
  makeTestKey,
  TEXTS_LIKE_SECRETS,
  SECRET_EXAMPLES,
} from '../../src/core/secrets/testing';
import { codeFile } from '../generators/codeFiles';
import { Random } from '../generators/random';
import { millis, table } from './table';

export interface MaskingPoint {
  readonly name: string;
  /** CPU time in milliseconds for half a megabyte, and for one megabyte. */
  readonly halfMs: number;
  readonly wholeMs: number;
}

export interface MaskingFigures {
  readonly masked: number;
  readonly forms: number;
  readonly left: number;
  readonly lookAlikes: number;
  readonly points: readonly MaskingPoint[];
}

const MEGABYTE = 1_000_000;
/** Number of hostile texts to list, slowest first. */
const SLOWEST_COUNT = 8;

/** Creates a hostile text, which is a single line. */
const repeatText = (piece: string, chars: number): string =>
  piece.repeat(Math.ceil(chars / piece.length)).slice(0, chars);

const processorMs = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
};

export function benchMasking(): MaskingFigures {
  const code = codeFile(new Random(1), 'ts', 400);
  const ordinaryPoints = ['code', 'code on one line'].map((name, at) =>
    measurePoint(name, at === 0 ? code : code.replaceAll('\n', ' ')),
  );
  const hostilePoints = UNUSUAL_TEXT_PIECES.map((piece) => measurePoint(JSON.stringify(piece), piece));
  const maskedForms = [
    ...TESTED_KEY_FORMS.map(({ start, body, min }) => makeTestKey(start, body, min + 8)).map(
      (key) => maskSecrets(key) === '[key]',
    ),
    ...SECRET_EXAMPLES.map(([text, secret]) => !maskSecrets(text).includes(secret)),
  ];
  return {
    masked: maskedForms.filter(Boolean).length,
    forms: maskedForms.length,
    left: TEXTS_LIKE_SECRETS.filter((text) => maskSecrets(text) === text).length,
    lookAlikes: TEXTS_LIKE_SECRETS.length,
    points: [...ordinaryPoints, ...hostilePoints.toSorted((a, b) => b.wholeMs - a.wholeMs).slice(0, SLOWEST_COUNT)],
  };
}

function measurePoint(name: string, piece: string): MaskingPoint {
  const [half, whole] = [repeatText(piece, MEGABYTE / 2), repeatText(piece, MEGABYTE)];
  return { name, halfMs: measureMaskingMs(half), wholeMs: measureMaskingMs(whole) };
}

function measureMaskingMs(text: string): number {
  const started = processorMs();
  maskSecrets(text);
  return processorMs() - started;
}

export const maskingTable = ({ masked, forms, left, lookAlikes, points }: MaskingFigures): string =>
  [
    `Forms masked: ${masked} of ${forms}; look-alikes left: ${left} of ${lookAlikes}. A megabyte of each, the slowest of ${UNUSUAL_TEXT_PIECES.length} hostile ones:`,
    table(
      ['text', 'half', 'whole', 'whole / half'],
      points.map(({ name, halfMs, wholeMs }) => [
        name,
        millis(halfMs),
        millis(wholeMs),
        `${(wholeMs / halfMs).toFixed(1)} ×`,
      ]),
    ),
  ].join('\n\n');
