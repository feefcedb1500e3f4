/** Counts how often an agent's requests broke the prefix that the vendor had received. */
import { listItems, type SeenRequest } from './upstream';

/**
 * Returns the history of a request with one text per item, without cache breakpoints. String
 * content is converted to a list, so that both forms are equal.
 */
const listHistory = (seen: SeenRequest): string[] =>
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
 * @returns `ownBreaks`: breaks that the agent itself caused, because it replaced results or continued
 *   from its summary
 */
export function countBreaks(
  seen: readonly SeenRequest[],
  rewrites?: RegExp,
): { readonly all: number; readonly own: number } {
  const brokenPrefixes: { before: readonly string[]; now: readonly string[]; isSummarized: boolean }[] = [];
  let historyBefore: readonly string[] | undefined;
  let isSummarized = false;
  for (const request of seen) {
    isSummarized ||= request.kind === 'summary';
    if (request.kind !== 'main') continue;
    const history = listHistory(request);
    if (historyBefore?.some((item, index) => history[index] !== item) === true)
      brokenPrefixes.push({ before: historyBefore, now: history, isSummarized });
    historyBefore = history;
    isSummarized = false;
  }
  const countReplacedResults = (items: readonly string[]): number =>
    rewrites === undefined ? 0 : (items.join('\n').match(rewrites)?.length ?? 0);
  const ownBreaks = brokenPrefixes.filter(
    (one) => one.isSummarized || countReplacedResults(one.now) > countReplacedResults(one.before),
  );
  return { all: brokenPrefixes.length, own: ownBreaks.length };
}
