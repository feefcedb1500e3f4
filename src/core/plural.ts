/** "1 session", "2,000 sessions". Without anything of the host's: the panel uses it, too. */
export const plural = (count: number, noun: string): string =>
  `${count.toLocaleString('en-US')} ${noun}${count === 1 ? '' : 's'}`;
