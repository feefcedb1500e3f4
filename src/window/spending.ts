import { join } from 'node:path';
import { Spending } from '../storage/spending';
import type { Services } from './services';

/** The cost of this user's paid calls, over all windows. */
export const spendingOf = ({ context }: Services): Spending =>
  new Spending(join(context.globalStorageUri.fsPath, 'spending.jsonl'));
