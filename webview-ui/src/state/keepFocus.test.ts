import { afterEach, describe, expect, it } from 'vitest';
import { moveFocusWhenRemoved } from './keepFocus';

let end = (): void => undefined;

/** Creates the page, and focuses the element with the class `here`. */
function page(markup: string): void {
  document.body.innerHTML = markup;
  end = moveFocusWhenRemoved(document.body);
  document.querySelector<HTMLElement>('.here')?.focus();
}

afterEach(() => {
  end();
});

const remove = (...selectors: readonly string[]): Promise<void> => {
  for (const selector of selectors) document.querySelector(selector)?.remove();
  return observed();
};
/** Mutation observers of the page are called in a separate microtask. */
const observed = (): Promise<void> => Promise.resolve();
const focused = (): string => document.activeElement?.id ?? '';
const LIST = `<h2><button id="top">Top</button></h2>
  <ol><li id="1"><button id="1a">a</button><button id="1b" class="here">b</button></li
  ><li id="2"><button id="2a">a</button></li></ol><p id="p"><button id="add">Add</button></p>`;

describe('after the focused element of the panel is removed, focus moves to', () => {
  it('the next entry', async () => {
    page(LIST);
    await remove('[id="1"]');
    expect(focused()).toBe('2a');
  });

  it('the previous entry if the last one was removed', async () => {
    page(LIST.replace(' class="here"', '').replace('id="2a"', 'id="2a" class="here"'));
    await remove('[id="2"]');
    expect(focused()).toBe('1b');
  });

  it('the element after the list if the list is empty', async () => {
    page(LIST);
    await remove('[id="1"]', '[id="2"]');
    expect(focused()).toBe('add');
  });

  it('the element that replaced it', async () => {
    page(LIST);
    document.querySelector('[id="1b"]')?.replaceWith(Object.assign(document.createElement('input'), { id: 'name' }));
    await observed();
    expect(focused()).toBe('name');
  });

  it('an enclosing element if the list itself was removed, too', async () => {
    page(LIST);
    await remove('[id="1b"]', '[id="1"]', 'ol');
    expect(focused()).toBe('add');
    await remove('#p');
    expect(focused()).toBe('top');
  });

  it('no element that is hidden', async () => {
    page(LIST.replace('<li id="2">', '<li id="2" hidden>'));
    await remove('[id="1"]');
    expect(focused()).toBe('add');
  });

  it('no element if none is left', async () => {
    page('<p><button id="only" class="here">Only</button></p>');
    await remove('#only');
    expect(document.activeElement).toBe(document.body);
  });
});

describe('keyboard focus in the panel does not move', () => {
  it('if another element already has it', async () => {
    page(LIST);
    document.getElementById('1')?.remove();
    document.getElementById('top')?.focus();
    await observed();
    expect(focused()).toBe('top');
  });

  it('if an unfocused element is removed', async () => {
    page(LIST);
    await remove('[id="2"]', '#p');
    expect(focused()).toBe('1b');
  });

  it('if a click on the page had cleared it', async () => {
    page(LIST);
    document.body.dispatchEvent(new Event('pointerdown', { bubbles: true }));
    (document.activeElement as HTMLElement).blur();
    await remove('[id="1"]');
    expect(document.activeElement).toBe(document.body);
  });

  it('while it is outside of the page, and is restored nearby when it returns', async () => {
    page(LIST);
    window.dispatchEvent(new Event('blur'));
    await remove('[id="1"]');
    expect(document.activeElement).toBe(document.body);
    window.dispatchEvent(new Event('focus'));
    expect(focused()).toBe('2a');
  });

  it('while it is outside of the page, and returns to the element that had it before', async () => {
    page(LIST);
    window.dispatchEvent(new Event('blur'));
    (document.activeElement as HTMLElement).blur();
    await remove('[id="2"]');
    expect(document.activeElement).toBe(document.body);
    window.dispatchEvent(new Event('focus'));
    expect(focused()).toBe('1b');
  });

  it('after the observer was stopped', async () => {
    page(LIST);
    end();
    await remove('[id="1"]');
    expect(document.activeElement).toBe(document.body);
  });
});
