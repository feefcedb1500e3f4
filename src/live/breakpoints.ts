import type { Shown } from './followEdits';
import { MESSAGE_CACHE_MARKS } from './request';

/**
 * Where the prompt cache should have breakpoints: at the end of the condensed prefix, which stays put; at what was the
 * newest message of the request before, where the cache surely has one; and at the newest. Breakpoints look back only 20
 * blocks (Anthropic API guide, "Prompt caching"), so the middle one is needed where many were added at once.
 * @param previous messages of the view that the last request had.
 * @returns indexes of the view, ascending.
 */
export function breakpoints({ edits, messages, origins }: Shown, previous: number): number[] {
  const newest = messages.length - 1;
  const marks = [edits.length > 0 ? condensedEnd({ edits, origins }) : -1, Math.min(previous - 1, newest), newest];
  return [...new Set(marks)]
    .filter((index) => index >= 0)
    .sort((a, b) => a - b)
    .slice(-MESSAGE_CACHE_MARKS);
}

/** Index of the last message of the view that an edit changed. */
function condensedEnd({ edits, origins }: Pick<Shown, 'edits' | 'origins'>): number {
  const last = edits.reduce(
    (most, edit) => Math.max(most, edit.kind === 'summary' ? edit.end - 1 : edit.place.message),
    -1,
  );
  // Of a summary the message before the first behind its range is the summary itself.
  const behind = origins.findIndex((origin) => origin > last);
  return behind < 0 ? origins.length - 1 : behind - 1;
}
