import { expect, it, onTestFinished, vi } from 'vitest';
import { keepPlaceOnResize } from './keepPlace';

it('a narrower page keeps in view what was at the top of it', () => {
  const main = document.createElement('main');
  main.innerHTML = '<p>Passes</p>';
  document.body.replaceChildren(main);
  const text = main.firstElementChild!;
  const root = document.documentElement;
  const setTop = (top: number): void => {
    vi.spyOn(text, 'getBoundingClientRect').mockImplementation(() => new DOMRect(0, top - root.scrollTop, 100, 20));
  };
  const { innerWidth } = window;
  document.elementFromPoint = () => text;
  onTestFinished(keepPlaceOnResize(main));
  onTestFinished(() => {
    vi.restoreAllMocks();
    Object.assign(window, { innerWidth });
    Reflect.deleteProperty(document, 'elementFromPoint');
  });
  setTop(1_000);
  root.scrollTop = 980;
  window.dispatchEvent(new Event('scroll'));
  setTop(1_500);
  Object.assign(window, { innerWidth: innerWidth / 2 });
  // The browser may scroll by itself first.
  root.scrollTop = 1_100;
  window.dispatchEvent(new Event('scroll'));
  window.dispatchEvent(new Event('resize'));
  expect(root.scrollTop).toBe(1_480);
});
