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
import { ALL_CORPUS_FOLDERS, sessionFiles } from './corpus';
import { listErrorLines, joinTexts } from './lossBench';
import { makeCandidate, condense, freshCounter } from './measure';
import { percent, table } from './table';

/** Shares of a session's turns after which everything before is condensed. */
const CUTS = [0.3, 0.6, 0.9];
const KEPT_PARTS = ['head', 'both', 'tail'] as const;
type KeptPart = (typeof KEPT_PARTS)[number];

interface TruncationSize {
  /** Number of recent messages that are not changed. */
  readonly recent: number;
  /**
   * Number of lines, of a hundred characters each, that are kept of a result. If absent, results
   * are truncated as by default, and `keep` applies to parameters.
   */
  readonly lines?: number;
}

const SIZES: readonly TruncationSize[] = [
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

const ZERO_SUMS: Sums = { tokens: 0, removed: 0, needed: 0, neededLost: 0, errors: 0, errorsLost: 0 };

const addSums = (all: readonly Sums[]): Sums =>
  all.reduce(
    (a, b) => ({
      tokens: a.tokens + b.tokens,
      removed: a.removed + b.removed,
      needed: a.needed + b.needed,
      neededLost: a.neededLost + b.neededLost,
      errors: a.errors + b.errors,
      errorsLost: a.errorsLost + b.errorsLost,
    }),
    ZERO_SUMS,
  );

/** Measures one way to keep, with one session. */
export interface TruncationRow extends Sums, TruncationSize {
  readonly keep: KeptPart;
  readonly agent: string;
  readonly project: string;
}

/** @param tell called with the progress of each session */
export async function benchTruncation(tell: (text: string) => void): Promise<TruncationRow[]> {
  const rows: TruncationRow[] = [];
  for (const session of sessionFiles(ALL_CORPUS_FOLDERS)) {
    for (const { agent, project, messages } of session.read(tell)) {
      const prefixes = chooseSessionCuts(messages, { cuts: CUTS }).map(({ cut, end }) => {
        const prefix = messages.slice(0, cut);
        return { prefix, needed: findNeededLines(messages, cut, end), errors: listErrorLines(prefix) };
      });
      const counter = freshCounter();
      for (const { recent, lines } of SIZES) {
        for (const keep of KEPT_PARTS) {
          const truncationCandidate = makeCandidate('truncation', truncationProvider, {
            preserveRecentCount: recent,
            ...(lines === undefined
              ? { toolParameters: { keep } }
              : { toolResults: { maxLines: lines, maxChars: lines * 100, keep } }),
          });
          const sumsByPrefix: Sums[] = [];
          for (const { prefix, needed, errors } of prefixes) {
            const tokens = counter.countMessages(prefix);
            const { edits } = await condense(prefix, truncationCandidate, counter);
            const shown = applyEdits(prefix, edits);
            const { messages: view } = shown;
            const kept = new NeededLineChecker(shown);
            const text = joinTexts(view);
            sumsByPrefix.push({
              tokens,
              removed: tokens - counter.countMessages(view),
              needed: needed.length,
              neededLost: needed.filter((line) => kept.checkLine(line) !== 'verbatim').length,
              errors: errors.length,
              errorsLost: errors.filter((line) => !text.includes(line)).length,
            });
          }
          rows.push({ recent, ...(lines !== undefined && { lines }), keep, agent, project, ...addSums(sumsByPrefix) });
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
    const sizeRows = rows.filter((row) => row.recent === recent && row.lines === lines);
    const cells = ['all', ...agents].map((agent) => {
      const agentRows = sizeRows.filter((row) => agent === 'all' || row.agent === agent);
      const [head, both, tail] = KEPT_PARTS.map((keep) => addSums(agentRows.filter((row) => row.keep === keep)));
      const sumsByKept = [head ?? ZERO_SUMS, both ?? ZERO_SUMS, tail ?? ZERO_SUMS];
      return [
        agent,
        agentRows.length / KEPT_PARTS.length,
        sumsByKept.map(({ removed, tokens }) => percent(removed / tokens)).join(' / '),
        sumsByKept[0]?.needed ?? 0,
        sumsByKept.map(({ neededLost, needed }) => percent(neededLost / needed)).join(' / '),
        sumsByKept[0]?.errors ?? 0,
        sumsByKept.map(({ errorsLost, errors }) => percent(errorsLost / errors)).join(' / '),
        formatSpread(agentRows, (sums) => sums.neededLost / sums.needed),
        formatSpread(agentRows, (sums) => sums.errorsLost / sums.errors),
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
function formatSpread(rows: readonly TruncationRow[], share: (sums: Sums) => number): string {
  const differences = [...new Set(rows.map(({ project }) => project))]
    .map((project) => {
      const otherProjects = rows.filter((row) => row.project !== project);
      const [both, end] = (['both', 'tail'] as const).map((keep) =>
        share(addSums(otherProjects.filter((row) => row.keep === keep))),
      );
      return 100 * ((end ?? 0) - (both ?? 0));
    })
    .filter((points) => !Number.isNaN(points));
  if (differences.length === 0) return '–';
  const formatSigned = (points: number): string => `${points > 0 ? '+' : ''}${points.toFixed(1)}`;
  return `${formatSigned(Math.min(...differences))} to ${formatSigned(Math.max(...differences))}`;
}
