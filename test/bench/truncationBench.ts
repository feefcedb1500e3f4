/**
 * Measures for each agent what Truncation removes from recorded sessions, and what is lost. The
 * beginning of a result is kept, its end, or both, at the same size, and then with other sizes.
 * Lost are lines that the next 20 turns quote, and lines that report an error.
 */
import { chooseSessionCuts } from '../../src/core/condense/futureNeed/cuts';
import { NeededLineChecker } from '../../src/core/condense/futureNeed/kept';
import { findNeededLines } from '../../src/core/condense/futureNeed/neededLater';
import { applyEdits } from '../../src/core/condense/edits/applyEdits';
import { truncationProvider } from '../../src/core/condense/providers/truncation';
import { ALL_CORPORA, sessionFiles } from './corpus';
import { listErrorLines, textsIn } from './lossBench';
import { candidate, condense, freshCounter } from './measure';
import { percent, table } from './table';

/** Shares of a session's turns after which everything before is condensed. */
const CUTS = [0.3, 0.6, 0.9];
const KEEPS = ['head', 'both', 'tail'] as const;
type Keep = (typeof KEEPS)[number];

interface Size {
  /** Number of recent messages that are not changed. */
  readonly recent: number;
  /**
   * Number of lines, of a hundred characters each, that are kept of a result. If absent, results
   * are truncated as by default, and the way to keep applies to parameters.
   */
  readonly lines?: number;
}

const SIZES: readonly Size[] = [
  { recent: 10, lines: 20 },
  { recent: 10, lines: 40 },
  { recent: 10, lines: 10 },
  { recent: 5, lines: 20 },
  { recent: 5, lines: 5 },
  { recent: 10 },
];

interface Sums {
  readonly tokens: number;
  readonly removed: number;
  readonly needed: number;
  readonly neededLost: number;
  readonly errors: number;
  readonly errorsLost: number;
}

const NOTHING: Sums = { tokens: 0, removed: 0, needed: 0, neededLost: 0, errors: 0, errorsLost: 0 };

const addUp = (all: readonly Sums[]): Sums =>
  all.reduce(
    (a, b) => ({
      tokens: a.tokens + b.tokens,
      removed: a.removed + b.removed,
      needed: a.needed + b.needed,
      neededLost: a.neededLost + b.neededLost,
      errors: a.errors + b.errors,
      errorsLost: a.errorsLost + b.errorsLost,
    }),
    NOTHING,
  );

/** Measures one way to keep, with one session. */
export interface TruncationRow extends Sums, Size {
  readonly keep: Keep;
  readonly agent: string;
  readonly project: string;
}

/** @param tell called with the progress of each session */
export async function benchTruncation(tell: (text: string) => void): Promise<TruncationRow[]> {
  const rows: TruncationRow[] = [];
  for (const session of sessionFiles(ALL_CORPORA)) {
    for (const { agent, project, messages } of session.read(tell)) {
      const prefixes = chooseSessionCuts(messages, { cuts: CUTS }).map(({ cut, end }) => {
        const prefix = messages.slice(0, cut);
        return { prefix, needed: findNeededLines(messages, cut, end), errors: listErrorLines(prefix) };
      });
      const counter = freshCounter();
      for (const { recent, lines } of SIZES) {
        for (const keep of KEEPS) {
          const way = candidate('truncation', truncationProvider, {
            preserveRecentCount: recent,
            ...(lines === undefined
              ? { toolParameters: { keep } }
              : { toolResults: { maxLines: lines, maxChars: lines * 100, keep } }),
          });
          const each: Sums[] = [];
          for (const { prefix, needed, errors } of prefixes) {
            const tokens = counter.countMessages(prefix);
            const { edits } = await condense(prefix, way, counter);
            const shown = applyEdits(prefix, edits);
            const { messages: view } = shown;
            const kept = new NeededLineChecker(shown);
            const text = textsIn(view);
            each.push({
              tokens,
              removed: tokens - counter.countMessages(view),
              needed: needed.length,
              neededLost: needed.filter((line) => kept.checkLine(line) !== 'verbatim').length,
              errors: errors.length,
              errorsLost: errors.filter((line) => !text.includes(line)).length,
            });
          }
          rows.push({ recent, ...(lines !== undefined && { lines }), keep, agent, project, ...addUp(each) });
        }
      }
      tell(session.name);
    }
  }
  return rows;
}

/**
 * Shows rows by agent and in total. Then it shows, with each project left out in turn, how much
 * more is lost if only the end is kept than if both ends are.
 */
export function truncationTable(rows: readonly TruncationRow[]): string {
  const agents = [...new Set(rows.map(({ agent }) => agent))];
  return SIZES.map(({ recent, lines }) => {
    const own = rows.filter((row) => row.recent === recent && row.lines === lines);
    const cells = ['all', ...agents].map((agent) => {
      const of = own.filter((row) => agent === 'all' || row.agent === agent);
      const [head, both, tail] = KEEPS.map((keep) => addUp(of.filter((row) => row.keep === keep)));
      const each = [head ?? NOTHING, both ?? NOTHING, tail ?? NOTHING];
      return [
        agent,
        of.length / KEEPS.length,
        each.map(({ removed, tokens }) => percent(removed / tokens)).join(' / '),
        each[0]?.needed ?? 0,
        each.map(({ neededLost, needed }) => percent(neededLost / needed)).join(' / '),
        each[0]?.errors ?? 0,
        each.map(({ errorsLost, errors }) => percent(errorsLost / errors)).join(' / '),
        spread(of, (sums) => sums.neededLost / sums.needed),
        spread(of, (sums) => sums.errorsLost / sums.errors),
      ];
    });
    const head = [
      `${recent} messages, ${lines === undefined ? 'parameters' : `${lines} lines`}; beginning / both / end`,
      'sessions',
      'removed',
      'needed lines',
      'lost',
      'error lines',
      'lost',
      'needed, end less both',
      'errors, end less both',
    ];
    return table(head, cells);
  }).join('\n\n');
}

/**
 * Returns the minimum and maximum difference in percentage points, with each project left out in
 * turn.
 */
function spread(rows: readonly TruncationRow[], share: (sums: Sums) => number): string {
  const differences = [...new Set(rows.map(({ project }) => project))]
    .map((project) => {
      const others = rows.filter((row) => row.project !== project);
      const [both, end] = (['both', 'tail'] as const).map((keep) =>
        share(addUp(others.filter((row) => row.keep === keep))),
      );
      return 100 * ((end ?? 0) - (both ?? 0));
    })
    .filter((points) => !Number.isNaN(points));
  if (differences.length === 0) return '–';
  const signed = (points: number): string => `${points > 0 ? '+' : ''}${points.toFixed(1)}`;
  return `${signed(Math.min(...differences))} to ${signed(Math.max(...differences))}`;
}
