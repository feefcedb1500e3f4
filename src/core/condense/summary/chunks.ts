import { safeBoundary } from '../operations/truncate';

/**
 * Packs texts in their order into chunks of at most so many tokens. A text that is too long alone is split, at a line's
 * end where there is one.
 * @param count tokens of a text; the sum over parts is at least that of the whole.
 */
export function packChunks(texts: readonly string[], budget: number, count: (text: string) => number): string[] {
  const chunks: string[] = [];
  let open: string[] = [];
  let tokens = 0;
  const close = (): void => {
    if (open.length > 0) chunks.push(open.join('\n\n'));
    open = [];
    tokens = 0;
  };
  for (const text of texts.flatMap((long) => split(long, budget, count))) {
    // The blank line between two texts.
    const own = count(text) + 1;
    if (tokens + own > budget) close();
    open.push(text);
    tokens += own;
  }
  close();
  return chunks;
}

function split(text: string, budget: number, count: (text: string) => number): string[] {
  const parts: string[] = [];
  let rest = text;
  while (rest.length > 1 && count(rest) + 1 > budget) {
    let chars = Math.max(1, Math.floor((rest.length * budget) / (count(rest) + 1)));
    while (chars > 1 && count(rest.slice(0, chars)) + 1 > budget) chars = Math.floor(chars * 0.8);
    const line = rest.lastIndexOf('\n', chars) + 1;
    const at = Math.max(1, line > chars / 2 ? line : safeBoundary(rest, chars));
    parts.push(rest.slice(0, at));
    rest = rest.slice(at);
  }
  return [...parts, rest];
}
