import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openTestWindow, stubHome } from '../../test/support/testWindow';
import { getLedgerFolder } from './background';
import { createRecallServers } from './recallServer';

it('the server with the recall tool is offered once something was condensed for another agent, and covers all stores', () => {
  const { home, services } = openTestWindow();
  stubHome(home);
  expect(createRecallServers(services)).toEqual([]);
  mkdirSync(getLedgerFolder(services), { recursive: true });
  const [server] = createRecallServers(services);
  expect(server?.command).toBe(process.execPath);
  const [program, command, ...stores] = server?.args ?? [];
  expect([program, command]).toEqual([join(home, 'dist', 'cli.cjs'), 'mcp']);
  expect(stores.filter((word) => word === '--store')).toHaveLength(3);
  expect(stores).toContain(getLedgerFolder(services));
});
