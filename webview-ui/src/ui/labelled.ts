import { useLayoutEffect, useRef, type RefObject } from 'react';

/** Labels for screen readers. */
export interface FieldLabels {
  readonly label: string;
  /** The help text, or the problem. */
  readonly help?: string | undefined;
  readonly invalid?: boolean | undefined;
}

/** The toolkit's elements contain a field. */
interface ElementWithControl extends HTMLElement {
  readonly control?: HTMLElement;
}

/**
 * Labels the element and the field inside, which can't refer to IDs of the page. The element resets
 * its name whenever it is connected, so it is labelled with each rendering.
 */
export function useLabeledControl({ label, help = '', invalid = false }: FieldLabels): RefObject<HTMLElement | null> {
  const ref = useRef<ElementWithControl>(null);
  useLayoutEffect(() => {
    for (const target of [ref.current, ref.current?.control]) {
      target?.setAttribute('aria-label', label);
      target?.setAttribute('aria-description', help);
      target?.setAttribute('aria-invalid', String(invalid));
    }
  });
  return ref;
}
