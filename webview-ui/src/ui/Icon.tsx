import type { ReactNode } from 'react';

/** Strokes on a grid of 16 by 16. */
const ICON_PATHS = {
  add: 'M8 3v10M3 8h10',
  'arrow-down': 'M8 3v10M4 9l4 4 4-4',
  'arrow-up': 'M8 13V3M4 7l4-4 4 4',
  check: 'M3 8.5 6.5 12 13 4.5',
  'chevron-down': 'M4 6l4 4 4-4',
  'chevron-right': 'M6 4l4 4-4 4',
  close: 'M4 4l8 8M12 4l-8 8',
  copy: 'M6 6h7v7H6zM10 6V3H3v7h3',
  edit: 'M3 13l.8-3.2L10.5 3 13 5.5 6.2 12.2zM9 4.5 11.5 7',
  error: 'M8 2.5a5.5 5.5 0 1 0 0 11 5.5 5.5 0 0 0 0-11zM6 6l4 4M10 6l-4 4',
  gripper: 'M6 3.5v.01M10 3.5v.01M6 8v.01M10 8v.01M6 12.5v.01M10 12.5v.01',
  key: 'M10.5 3a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 0-5zM8.7 7.3 3 13M4.5 11.5 6 13',
  reset: 'M3.5 5.5A5.3 5.3 0 1 1 3 9.5M3.5 2.5v3h3',
  search: 'M7 3a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM10 10l3.5 3.5',
  trash: 'M3 4.5h10M6 4.5V3h4v1.5M4.5 4.5l.5 8.5h6l.5-8.5',
  warning: 'M8 2.8 14 13H2zM8 6.5v3M8 11.3v.01',
} as const;
export type IconName = keyof typeof ICON_PATHS;

/** Hidden from screen readers, because adjacent text or the button's label states the meaning. */
export function Icon({ name }: { readonly name: IconName }): ReactNode {
  return (
    <svg className="icon" viewBox="0 0 16 16" aria-hidden="true" focusable="false">
      <path d={ICON_PATHS[name]} />
    </svg>
  );
}
