// Created once and on demand, since creating it takes several milliseconds.
let numberFormat: Intl.NumberFormat | undefined;

/** Independent of VS Code, since the panel uses it too. */
export const formatPlural = (count: number, noun: string): string =>
  `${(numberFormat ??= new Intl.NumberFormat('en-US')).format(count)} ${noun}${count === 1 ? '' : 's'}`;
