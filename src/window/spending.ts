import { join } from 'node:path';
import { Spending } from '../storage/spending';
import type { Services } from './services';

/** File in which all windows count the user's paid calls. */
export const getSpendingFile = ({ context }: Pick<Services, 'context'>): string =>
  join(context.globalStorageUri.fsPath, 'spending.jsonl');

/** The cost of the user's paid calls, over all windows. */
export const getSpending = (services: Services): Spending => new Spending(getSpendingFile(services));
