import { expect, it } from 'vitest';
import { DEFAULT_TOOLS } from '../core/messages/tools';
import { ownToolsOf } from './ownTools';

const tools = { Acme_Show: { kind: 'read', path: ['what'] } };
const own = { own: { acme_show: { kind: 'read', path: ['what'] } } };
const prelude = (rows: unknown) => ({ losslessPrelude: { operations: { tools: rows } } });

it('the rows for unknown tools are those of what runs, else those of Lossless', () => {
  expect(ownToolsOf({ provider: 'lossless', config: { tools } })).toEqual(own);
  expect(ownToolsOf({ provider: 'truncation', configs: { lossless: { tools } } })).toEqual(own);
  expect(ownToolsOf({ provider: 'smart', config: prelude(tools) })).toEqual(own);
  expect(ownToolsOf({ provider: 'smart', config: 'quality', configs: { lossless: { tools } } })).toEqual(own);
});

it('none, or wrong ones, are the tools of the agents', () => {
  expect(ownToolsOf({ provider: 'lossless' })).toBe(DEFAULT_TOOLS);
  expect(ownToolsOf({ provider: 'native', configs: { lossless: { tools: 'none' } } })).toBe(DEFAULT_TOOLS);
});

it('the same rows are the same table', () => {
  const first = ownToolsOf({ provider: 'lossless', config: { tools } });
  expect(ownToolsOf({ provider: 'lossless', config: structuredClone({ tools }) })).toBe(first);
});
