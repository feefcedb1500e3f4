/** Counts how often an agent's requests broke the prefix that the vendor had received. */
import { listItems, type Seen } from './upstream';

/**
 * Returns the history of a request with one text per item, without cache breakpoints. String
 * content is converted to a list, so that both forms are equal.
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
 * Counts the requests that did not extend the previous one.
 * @returns `own`: breaks that the agent itself caused, because it replaced results or continued
 *   from its summary
 */
export function countBreaks(seen: readonly Seen[], rewrites?: RegExp): { readonly all: number; readonly own: number } {
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
  const countReplacedResults = (items: readonly string[]): number =>
    rewrites === undefined ? 0 : (items.join('\n').match(rewrites)?.length ?? 0);
  const own = broken.filter(
    (one) => one.isSummarized || countReplacedResults(one.now) > countReplacedResults(one.before),
  );
  return { all: broken.length, own: own.length };
}
