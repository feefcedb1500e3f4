import { join } from 'node:path';
import { openLedger } from './ledgerStore';

export const TEST_CONVERSATION_ID = 'a conversation';

export const NO_ORIGINALS = new Map();

export const openTestLedger = (root: string) => openLedger(root, { id: TEST_CONVERSATION_ID });

export const readLedgerFiles = async (root: string) => {
  const { folder } = await openTestLedger(root);
  return {
    folder,
    entries: join(folder, 'ledger.jsonl'),
    originals: join(folder, 'originals.jsonl'),
    about: join(folder, 'about.json'),
  };
};
