/** Counts how often an agent's requests broke the prefix, as received by the vendor. */
import { listItems, type Seen } from './upstream';

/**
 * The history of a request, one text per item, without cache breakpoints; string content counts as
 * a list.
 */
const listHistory = (seen: Seen): string[] =>
  listItems(seen.record.body).map((item) =>
    JSON.stringify(
      typeof item['content'] === 'string' && item['role'] !== 'tool'
        ? { ...item, content: [{ type: 'text', text: item['content'] }] }
        : item,
      (field, value: unknown) => (field === 'cache_control' ? undefined : value),
    ),
  );

/**
 * How often a request did not extend the previous one.
 * @returns `own`: breaks by the agent itself, which replaced results or continued from its summary
 */
export function breaksIn(seen: readonly Seen[], rewrites?: RegExp): { readonly all: number; readonly own: number } {
  const broken: { before: readonly string[]; now: readonly string[]; isSummarized: boolean }[] = [];
  let before: readonly string[] | undefined;
  let isSummarized = false;
  for (const one of seen) {
    isSummarized ||= one.kind === 'summary';
    if (one.kind !== 'main') continue;
    const now = listHistory(one);
    if (before?.some((item, index) => now[index] !== item) === true) broken.push({ before, now, isSummarized });
    before = now;
    isSummarized = false;
  }
  const words = (items: readonly string[]): number =>
    rewrites === undefined ? 0 : (items.join('\n').match(rewrites)?.length ?? 0);
  const own = broken.filter((one) => one.isSummarized || words(one.now) > words(one.before));
  return { all: broken.length, own: own.length };
}
