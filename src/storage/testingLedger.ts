import { join } from 'node:path';
import { openLedger } from './ledgerStore';

export const ID = 'a conversation';

export const NONE = new Map();

export const open = (root: string) => openLedger(root, { id: ID });

export const readFiles = async (root: string) => {
  const { folder } = await open(root);
  return {
    folder,
    entries: join(folder, 'ledger.jsonl'),
    originals: join(folder, 'originals.jsonl'),
    about: join(folder, 'about.json'),
  };
};
