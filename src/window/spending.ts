import { join } from 'node:path';
import { Spending } from '../storage/spending';
import type { Services } from './services';

/** What this user's paid calls cost, in all windows. */
export const spendingOf = ({ context }: Services): Spending =>
  new Spending(join(context.globalStorageUri.fsPath, 'spending.jsonl'));
