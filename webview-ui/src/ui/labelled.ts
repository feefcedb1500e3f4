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
 * A ref that puts the labels where assistive technology reads them: on the field inside of the toolkit's element, where an
 * id of the page outside means nothing, and on the element itself. That one gives itself a generic name whenever it is
 * connected, also where a list in a new order moves it: it is labelled with each rendering.
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
