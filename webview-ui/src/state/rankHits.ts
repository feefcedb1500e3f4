/** Orders what a search found, and highlights the words in it, without rendering it again. */
import { listAnsweringPlaces } from '../searchTopics';
import { matchesQuery, SEARCHABLE_ELEMENTS_SELECTOR } from './search';

const TITLE_SELECTOR = '.row-name, .item-name, vscode-checkbox, .disclosure, vscode-button, .link-button';
/** Name of the highlight in `layout.css`. */
const HIGHLIGHT_NAME = 'search';

/**
 * Shows the best places first by CSS's `order`: those that answer the query, then matches in a
 * title, in what is shown, and in other words.
 * @returns removes the order
 */
export function orderHits(main: HTMLElement, query: string): () => void {
  const answers = listAnsweringPlaces(query);
  const orders = new Map<HTMLElement, number>();
  for (const place of main.querySelectorAll<HTMLElement>(SEARCHABLE_ELEMENTS_SELECTOR)) {
    const order = 1 + rankPlace(place, query, answers);
    for (let element: HTMLElement | null = place; element && element !== main; element = element.parentElement) {
      if (!isOrdered(element.parentElement)) continue;
      orders.set(element, Math.min(order, orders.get(element) ?? order));
    }
  }
  for (const [element, order] of orders) element.style.order = String(order);
  return () => {
    for (const element of orders.keys()) element.style.order = '';
  };
}

/** Content is not moved away from its heading. */
const isOrdered = (parent: HTMLElement | null): boolean =>
  parent?.matches('.main, .page-group, .section-content') === true &&
  ![...parent.children].some((child) => child.matches('.group-title'));

function rankPlace(place: HTMLElement, query: string, answers: readonly string[]): number {
  const { setting, place: id } = place.dataset;
  const answer = answers.indexOf(setting ?? `#${id ?? ''}`);
  if (answer >= 0) return answer;
  const title = (
    (id === undefined ? undefined : document.getElementById(`${id}-title`)) ?? place.querySelector(TITLE_SELECTOR)
  )?.textContent
    .trim()
    .toLowerCase();
  if (title === query) return 100;
  if (title?.startsWith(query) === true) return 101;
  if (title?.includes(query) === true) return 102;
  return matchesQuery(query, [place.textContent]) ? 103 : 104;
}

/** @returns removes the highlight */
export function highlightWords(main: HTMLElement, query: string): (() => void) | undefined {
  if (!('Highlight' in globalThis)) return undefined;
  const words = query.split(/\s+/).filter((word) => word.length > 1);
  const ranges = [...main.querySelectorAll(SEARCHABLE_ELEMENTS_SELECTOR)].flatMap((place) => findWords(place, words));
  CSS.highlights.set(HIGHLIGHT_NAME, new Highlight(...ranges));
  return () => {
    CSS.highlights.delete(HIGHLIGHT_NAME);
  };
}

function findWords(place: Element, words: readonly string[]): Range[] {
  const ranges: Range[] = [];
  const texts = document.createTreeWalker(place, NodeFilter.SHOW_TEXT);
  for (let node = texts.nextNode(); node; node = texts.nextNode()) {
    // The note quotes the words.
    if (node.parentElement?.matches('.row-note') === true) continue;
    const text = node.textContent?.toLowerCase() ?? '';
    for (const word of words) {
      for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + word.length)) {
        const range = new Range();
        range.setStart(node, at);
        range.setEnd(node, at + word.length);
        ranges.push(range);
      }
    }
  }
  return ranges;
}
