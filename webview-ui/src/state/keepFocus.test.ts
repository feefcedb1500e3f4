import { afterEach, describe, expect, it } from 'vitest';
import { keepFocus } from './keepFocus';

let end = (): void => undefined;

/** The page's markup, with the focus on the element that is marked so. */
function page(markup: string): void {
  document.body.innerHTML = markup;
  end = keepFocus(document.body);
  document.querySelector<HTMLElement>('.here')?.focus();
}

afterEach(() => {
  end();
});

const remove = (...selectors: readonly string[]): Promise<void> => {
  for (const selector of selectors) document.querySelector(selector)?.remove();
  return observed();
};
/** Observers of the page are told in a microtask of their own. */
const observed = (): Promise<void> => Promise.resolve();
const focused = (): string => document.activeElement?.id ?? '';
const LIST = `<h2><button id="top">Top</button></h2>
  <ol><li id="1"><button id="1a">a</button><button id="1b" class="here">b</button></li
  ><li id="2"><button id="2a">a</button></li></ol><p id="p"><button id="add">Add</button></p>`;

describe('where the focused element goes', () => {
  it('the next entry has the focus', async () => {
    page(LIST);
    await remove('[id="1"]');
    expect(focused()).toBe('2a');
  });

  it('the entry before has it where the last one went', async () => {
    page(LIST.replace(' class="here"', '').replace('id="2a"', 'id="2a" class="here"'));
    await remove('[id="2"]');
    expect(focused()).toBe('1b');
  });

  it('what follows the list has it where that is empty', async () => {
    page(LIST);
    await remove('[id="1"]', '[id="2"]');
    expect(focused()).toBe('add');
  });

  it('what was put into its place has it', async () => {
    page(LIST);
    document.querySelector('[id="1b"]')?.replaceWith(Object.assign(document.createElement('input'), { id: 'name' }));
    await observed();
    expect(focused()).toBe('name');
  });

  it('what stands around counts where that goes, too', async () => {
    page(LIST);
    await remove('[id="1b"]', '[id="1"]', 'ol');
    expect(focused()).toBe('add');
    await remove('#p');
    expect(focused()).toBe('top');
  });

  it('nothing that is hidden', async () => {
    page(LIST.replace('<li id="2">', '<li id="2" hidden>'));
    await remove('[id="1"]');
    expect(focused()).toBe('add');
  });

  it('nothing where nothing is left', async () => {
    page('<p><button id="only" class="here">Only</button></p>');
    await remove('#only');
    expect(document.activeElement).toBe(document.body);
  });
});

describe('the focus is let alone', () => {
  it('where something else has it already', async () => {
    page(LIST);
    document.getElementById('1')?.remove();
    document.getElementById('top')?.focus();
    await observed();
    expect(focused()).toBe('top');
  });

  it('where something else is removed', async () => {
    page(LIST);
    await remove('[id="2"]', '#p');
    expect(focused()).toBe('1b');
  });

  it('where it was put nowhere by a press on the page', async () => {
    page(LIST);
    document.body.dispatchEvent(new Event('pointerdown', { bubbles: true }));
    (document.activeElement as HTMLElement).blur();
    await remove('[id="1"]');
    expect(document.activeElement).toBe(document.body);
  });

  it('while it is outside of the page, and put next to the place when it comes back', async () => {
    page(LIST);
    window.dispatchEvent(new Event('blur'));
    await remove('[id="1"]');
    expect(document.activeElement).toBe(document.body);
    window.dispatchEvent(new Event('focus'));
    expect(focused()).toBe('2a');
  });

  it('while it is outside of the page, which then gives it to what had it', async () => {
    page(LIST);
    window.dispatchEvent(new Event('blur'));
    (document.activeElement as HTMLElement).blur();
    await remove('[id="2"]');
    expect(document.activeElement).toBe(document.body);
    window.dispatchEvent(new Event('focus'));
    expect(focused()).toBe('1b');
  });

  it('once it ended', async () => {
    page(LIST);
    end();
    await remove('[id="1"]');
    expect(document.activeElement).toBe(document.body);
  });
});
