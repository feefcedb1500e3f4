import { expect, it } from 'vitest';
import { DEFAULT_TOOLS } from '../core/messages/tools';
import { readOwnTools } from './ownTools';

const tools = { Acme_Show: { kind: 'read', path: ['what'] } };
const own = { own: { acme_show: { kind: 'read', path: ['what'] } } };
const prelude = (rows: unknown) => ({ losslessPrelude: { operations: { tools: rows } } });

it('condensing uses the tool definitions of the running provider, or those of Lossless if it has none', () => {
  expect(readOwnTools({ provider: 'lossless', config: { tools } })).toEqual(own);
  expect(readOwnTools({ provider: 'truncation', configs: { lossless: { tools } } })).toEqual(own);
  expect(readOwnTools({ provider: 'smart', config: prelude(tools) })).toEqual(own);
  expect(readOwnTools({ provider: 'smart', config: 'quality', configs: { lossless: { tools } } })).toEqual(own);
});

it("condensing uses the agents' tools if definitions are missing or invalid", () => {
  expect(readOwnTools({ provider: 'lossless' })).toBe(DEFAULT_TOOLS);
  expect(readOwnTools({ provider: 'native', configs: { lossless: { tools: 'none' } } })).toBe(DEFAULT_TOOLS);
});

it('equal tool definitions give the same table object', () => {
  const first = readOwnTools({ provider: 'lossless', config: { tools } });
  expect(readOwnTools({ provider: 'lossless', config: structuredClone({ tools }) })).toBe(first);
});
