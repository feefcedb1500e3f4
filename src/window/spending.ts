import { join } from 'node:path';
import { Spending } from '../storage/spending';
import type { Services } from './services';

/** Where the cost of this user's paid calls is counted, over all windows. */
export const spendingFile = ({ context }: Pick<Services, 'context'>): string =>
  join(context.globalStorageUri.fsPath, 'spending.jsonl');

/** The cost of this user's paid calls, over all windows. */
export const spendingOf = (services: Services): Spending => new Spending(spendingFile(services));
