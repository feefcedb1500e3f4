import { loadRanks } from '../../scripts/ranks.mjs';
import { createO200kCounter } from './tokens/o200k/counter';
import { MessageCounter } from './tokens/messageCounter';

const exactCounter = createO200kCounter(loadRanks());

export const createCounter = (): MessageCounter => new MessageCounter(exactCounter);
