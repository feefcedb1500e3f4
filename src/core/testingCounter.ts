import { createO200kCounter } from './tokens/o200k/counter';
import { table } from './tokens/o200k/testing';
import { MessageCounter } from './tokens/messageCounter';

const exact = createO200kCounter(table);

/** For tests: exact counts, nothing remembered yet. */
export const freshCounter = (): MessageCounter => new MessageCounter(exact);
