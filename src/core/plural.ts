/** Made once: `toLocaleString` would make one at each call, which an index of thousands of sessions feels. */
const NUMBERS = new Intl.NumberFormat('en-US');

/** "1 session", "2,000 sessions". Without anything of the host's: the panel uses it, too. */
export const plural = (count: number, noun: string): string =>
  `${NUMBERS.format(count)} ${noun}${count === 1 ? '' : 's'}`;
