// Created once, since `toLocaleString` creates one per call, and on demand, since it takes several
// milliseconds at startup.
let numberFormat: Intl.NumberFormat | undefined;

/** "1 session", "2,000 sessions". Independent of VS Code, since the panel uses it too. */
export const formatPlural = (count: number, noun: string): string =>
  `${(numberFormat ??= new Intl.NumberFormat('en-US')).format(count)} ${noun}${count === 1 ? '' : 's'}`;
