import { useLayoutEffect, useRef, type RefObject } from 'react';

/** How a control is called and explained to those who don't see the text around it. */
export interface FieldLabels {
  readonly label: string;
  /** The sentence of help, or what is wrong. */
  readonly help?: string | undefined;
  readonly invalid?: boolean | undefined;
}

/** The shape of the toolkit's elements with a field inside. */
interface WithControl extends HTMLElement {
  readonly control?: HTMLElement;
}

/**
 * A ref that sets labels where assistive technology reads them: on the field inside the toolkit's element, which can't
 * refer to IDs of the page, and on the element itself. The element resets its name whenever it is connected, even if
 * only the list's order changes, so it is labelled with each rendering.
 */
export function useLabels({ label, help = '', invalid = false }: FieldLabels): RefObject<HTMLElement | null> {
  const ref = useRef<WithControl>(null);
  useLayoutEffect(() => {
    for (const target of [ref.current, ref.current?.control]) {
      target?.setAttribute('aria-label', label);
      target?.setAttribute('aria-description', help);
      target?.setAttribute('aria-invalid', String(invalid));
    }
  });
  return ref;
}
