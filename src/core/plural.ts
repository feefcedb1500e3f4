// Made once, for `toLocaleString` makes one at each call; and when it is first needed, for that takes several milliseconds of a start.
let numbers: Intl.NumberFormat | undefined;

/** "1 session", "2,000 sessions". Without anything of the host's: the panel uses it, too. */
export const plural = (count: number, noun: string): string =>
  `${(numbers ??= new Intl.NumberFormat('en-US')).format(count)} ${noun}${count === 1 ? '' : 's'}`;
