/**
 * Runs before each test file. Test files share a worker's page, because components and elements
 * keep the page in which they were loaded.
 */

// The toolkit needs `matchMedia` when it is loaded, and jsdom has none.
window.matchMedia = (media) => ({ matches: false, media }) as MediaQueryList;
Element.prototype.scrollIntoView = () => undefined;
window.ResizeObserver = class {
  observe(): void {}
  unobserve(): void {}
  disconnect(): void {}
};

document.body.replaceChildren();
