/** Set up before each file of tests: they share the page of a worker, since components and elements hold on to that in which they were loaded. */

// The toolkit asks for it when it is loaded, and jsdom has none.
window.matchMedia = (media) => ({ matches: false, media }) as MediaQueryList;
Element.prototype.scrollIntoView = () => undefined;

document.body.replaceChildren();
