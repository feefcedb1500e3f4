import { commandOf } from '../../messages/tools';
import type { ToolExchange } from '../../messages/exchanges';
import type { Source } from './sources';

/** A run of lines in one text and where its lines are kept. */
export interface KeptRun {
  readonly source: Source;
  readonly first: number;
  readonly last: number;
  /** For each line that stands elsewhere (blank ones between them may have none): where. */
  readonly keepers: readonly { readonly source: Source; readonly line: number }[];
}

type RangeOf = (source: Source, first: number, last: number) => string | undefined;

/** What {@link describeRun} says at most: whether the numbers still stand changes nothing. */
export const longestDescription = (run: KeptRun): string =>
  describeRun(run, (source) => (source === run.source ? '1000-1999' : '3000-3999'));

/** What a marker says about a run: which lines are missing and where they stand. */
export function describeRun(run: KeptRun, rangeOf: RangeOf = statedRange): string {
  const { source, first, last, keepers } = run;
  const numbers = rangeOf(source, first, last);
  const what = numbers ? `lines ${numbers}` : plural(last - first + 1);
  const bySource = new Map<Source, { first: number; last: number; count: number }>();
  for (const keeper of keepers) {
    const known = bySource.get(keeper.source);
    if (known) {
      known.first = Math.min(known.first, keeper.line);
      known.last = Math.max(known.last, keeper.line);
      known.count++;
    } else bySource.set(keeper.source, { first: keeper.line, last: keeper.line, count: 1 });
  }
  const kept = [...bySource].sort((a, b) => b[1].count - a[1].count);
  const [main] = kept;
  if (!main) return what;
  const [keeper, range] = main;
  const there = rangeOf(keeper, range.first, range.last);
  const isLast = isLater(keeper, source);
  const others = kept.slice(1).some(([other]) => !isSameFile(other, source)) ? ' and elsewhere' : '';
  if (isSameCall(keeper, source)) return `${what}, as in ${String(keeper.content.path.at(-1))}${others}`;
  if (isSameFile(keeper, source)) {
    const isWhole = range.last - range.first + 1 === range.count;
    const as = !there || there === numbers || kept.length > 1 ? '' : ` ${isWhole ? 'as' : 'within'} ${there}`;
    return `${what}, shown ${isLast ? 'later' : 'above'}${as}${others}`;
  }
  const lines = there && kept.length === 1 ? `, lines ${there}` : '';
  return `${what}, as in the ${isLast ? `later ${named(keeper)}` : `${named(keeper)} above`}${lines}${others}`;
}

const isSameFile = (a: Source, b: Source): boolean => a.path !== undefined && a.path === b.path;

/** Two parameters of one call, such as the sides of an edit. */
const isSameCall = (a: Source, b: Source): boolean =>
  a.content.message === b.content.message && a.content.path[1] === b.content.path[1] && a.content.path[2] === 'input';

const plural = (count: number): string => (count === 1 ? '1 line' : `${count} lines`);

const isLater = (a: Source, b: Source): boolean =>
  a.content.message > b.content.message ||
  (a.content.message === b.content.message && Number(a.content.path[1] ?? 0) > Number(b.content.path[1] ?? 0));

function statedRange({ lines }: Source, first: number, last: number): string | undefined {
  const from = lines.number(first);
  const to = lines.number(last);
  if (from === 0 || to - from !== last - first) return undefined;
  return from === to ? String(from) : `${from}-${to}`;
}

/** How a model knows a call again: by the tool and by what it asked for. */
function named(source: Source): string {
  if (source.path !== undefined) return `${source.exchange.tool} of ${shortPath(source.path)}`;
  const asked = askedFor(source.exchange);
  return asked === undefined ? source.exchange.tool : `${source.exchange.tool} "${asked}"`;
}

const MAX_ASKED = 24;

/** The beginning of the command line behind what many share, or of what was looked for. */
function askedFor(exchange: ToolExchange): string | undefined {
  const { input } = exchange;
  const text = plainCommand(exchange) ?? input['pattern'] ?? input['query'] ?? severalFiles(input['args']);
  if (typeof text !== 'string') return undefined;
  const line = text
    .trim()
    .split(/[\n⟦⟧]/)[0]
    ?.trim();
  if (!line) return undefined;
  return line.length > MAX_ASKED ? `${line.slice(0, MAX_ASKED).trim()}…` : line;
}

/** Roo reads several files in one call: `<args><file><path>x</path></file>…</args>`. */
const severalFiles = (args: unknown): string | undefined =>
  typeof args === 'string'
    ? [...args.matchAll(/<path>([^<]*)<\/path>/g)].map((match) => shortPath(match[1] ?? '')).join(', ')
    : undefined;

/** A command line without the folder that it runs in. */
export const plainCommand = (exchange: ToolExchange): string | undefined =>
  commandOf(exchange)
    ?.trim()
    .replace(/^cd\s+\S+\s*(?:&&|;)\s*/, '')
    .replace(/^git\s+-C\s+\S+/, 'git');

/** The end of a path, enough to know the file by. */
export const shortPath = (path: string): string => path.split(/[\\/]/).filter(Boolean).slice(-2).join('/');
