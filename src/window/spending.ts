import { join } from 'node:path';
import { Spending } from '../storage/spending';
import type { Services } from './services';

export const getSpendingFile = ({ context }: Pick<Services, 'context'>): string =>
  join(context.globalStorageUri.fsPath, 'spending.jsonl');

export const openSpending = (services: Services): Spending => new Spending(getSpendingFile(services));
