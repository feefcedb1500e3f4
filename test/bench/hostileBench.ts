/**
 * Measures Lossless on texts that make careless algorithms slow, at a quarter, half and full size.
 */
import { losslessProvider } from '../../src/core/condense/providers/lossless';
import type { ApiMessage } from '../../src/core/messages/types';
import { assistant, call, result, user } from '../../src/core/testing';
import { freshCounter } from './measure';
import { millis, table } from './table';

export interface HostilePoint {
  readonly name: string;
  /** Number of characters as JSON. */
  readonly chars: number;
  /** Minimum CPU time of the runs in milliseconds, without counting tokens. */
  readonly cpuMs: number;
}

const SHARES = [0.25, 0.5, 1] as const;
const RUNS = 3;
const MEGABYTE = 1e6;

const FILE = { file_path: 'src/a.ts' };
const CODE_TEXT = 'if (request.retry > limit) return undefined; ';

const makeConversation = (results: readonly string[]): ApiMessage[] => [
  user('task'),
  ...results.flatMap((content, at) => [assistant(call(`id${at}`, 'Read', FILE)), user(result(`id${at}`, content))]),
];

const makeLines = (count: number, line: (at: number) => string): string =>
  Array.from({ length: count }, (_, at) => line(at)).join('\n');

/** Each function generates a share of the full size. */
const MAKE_MESSAGES_BY_CASE: Readonly<Record<string, (share: number) => ApiMessage[]>> = {
  'one line of 5 MB, twice': (share) => {
    const line = CODE_TEXT.repeat((5 * MEGABYTE * share) / CODE_TEXT.length);
    return makeConversation([line, `${line}\nend`]);
  },
  'one JSON string of 5 MB of lines, twice': (share) => {
    const text = makeLines(
      (5 * MEGABYTE * share) / 80,
      (at) => `${String(at).padStart(9, '0')} ${CODE_TEXT.slice(0, 70)}`,
    );
    return makeConversation([JSON.stringify([{ text }]), JSON.stringify([{ text: `${text}\nend` }])]);
  },
  'one JSON line of 5 MB full of escapes, twice': (share) => {
    const line = JSON.stringify('\\"\\'.repeat((5 * MEGABYTE * share) / 6));
    return makeConversation([`[${line},"a\\nb\\nc\\nd"]`, `[${line},"a\\nb\\nc\\ne"]`]);
  },
  '200,000 equal lines, twice': (share) => {
    const text = makeLines(200_000 * share, () => CODE_TEXT);
    return makeConversation([text, `${text}\nend`]);
  },
  '200,000 lines that differ in one character, twice': (share) => {
    const makeNotebook = (last: string): string =>
      makeLines(200_000 * share, (at) => `${CODE_TEXT}${String.fromCharCode(0x4e00 + (at % 20_000))}${last}`);
    return makeConversation([makeNotebook('a'), makeNotebook('b')]);
  },
  '10,000 reads of one file': (share) => {
    const text = makeLines(40, (at) => `${String(at + 1).padStart(6)}→${CODE_TEXT}${at}`);
    return makeConversation(Array.from({ length: 10_000 * share }, () => text));
  },
  '10,000 reads of parts of one file': (share) =>
    makeConversation(
      Array.from({ length: 10_000 * share }, (_, read) =>
        makeLines(40, (at) => `${String(read + at + 1).padStart(6)}→${CODE_TEXT}${read + at}`),
      ),
    ),
  '2,000 texts of one length with one beginning': (share) => {
    const beginning = CODE_TEXT.repeat(200);
    return makeConversation(
      Array.from({ length: 2_000 * share }, (_, at) => `${beginning}${String(at >> 1).padStart(9, '0')}`),
    );
  },
};

export async function benchHostile(): Promise<HostilePoint[]> {
  const points: HostilePoint[] = [];
  for (const [name, make] of Object.entries(MAKE_MESSAGES_BY_CASE)) {
    for (const share of SHARES) {
      const messages = make(share);
      const times: number[] = [];
      for (let run = 0; run < RUNS; run++) times.push(await measure(structuredClone(messages)));
      points.push({ name, chars: JSON.stringify(messages).length, cpuMs: Math.min(...times) });
    }
  }
  return points;
}

async function measure(messages: readonly ApiMessage[]): Promise<number> {
  const checked = losslessProvider.validateConfig({});
  if (!checked.valid) throw new Error('wrong configuration');
  const counter = freshCounter();
  counter.countMessages(messages);
  const started = process.cpuUsage();
  await losslessProvider.condense({ messages, edits: [], counter }, checked.config, {});
  const { user: own, system } = process.cpuUsage(started);
  return (own + system) / 1_000;
}

export function hostileTable(points: readonly HostilePoint[]): string {
  return table(
    ['what', 'quarter', 'half', 'whole', 'whole / half', 'characters'],
    Object.keys(MAKE_MESSAGES_BY_CASE).map((name) => {
      const casePoints = points.filter((point) => point.name === name);
      const [half, whole] = casePoints.slice(-2);
      return [
        name,
        ...casePoints.map(({ cpuMs }) => millis(cpuMs)),
        `${((whole?.cpuMs ?? 0) / (half?.cpuMs ?? 1)).toFixed(1)} ×`,
        whole?.chars ?? 0,
      ];
    }),
  );
}
