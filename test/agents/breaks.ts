/** How often an agent's requests broke the prefix, by what its vendor got. */
import { itemsOf, type Seen } from './upstream';

/** The history of a request, one text per item; cache marks are no part of it, and a text alone is a list of that text. */
const historyOf = (seen: Seen): string[] =>
  itemsOf(seen.record.body).map((item) =>
    JSON.stringify(
      typeof item['content'] === 'string' && item['role'] !== 'tool'
        ? { ...item, content: [{ type: 'text', text: item['content'] }] }
        : item,
      (field, value: unknown) => (field === 'cache_control' ? undefined : value),
    ),
  );

/**
 * How often a request did not begin with all that the one before held.
 * @returns `own`: those of them in which the agent itself has put its words in place of something.
 */
export function breaksIn(seen: readonly Seen[], rewrites?: RegExp): { readonly all: number; readonly own: number } {
  const histories = seen.filter(({ kind }) => kind === 'main').map(historyOf);
  const broken = histories.flatMap((now, at) => {
    const before = histories[at - 1];
    return before?.some((item, index) => now[index] !== item) === true ? [{ before, now }] : [];
  });
  const words = (items: readonly string[]): number =>
    rewrites === undefined ? 0 : (items.join('\n').match(rewrites)?.length ?? 0);
  return { all: broken.length, own: broken.filter(({ before, now }) => words(now) > words(before)).length };
}
