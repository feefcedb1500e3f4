/** The MCP server with recall that VS Code gets from the extension. */
import assert from 'node:assert/strict';
import { hasCommand, notification, pick, quickInput, runCommand, screenshot, until, dismiss } from '../workbench/index';
import type { Scenario } from '../bed';

export const isOfferedToAgentsOnceSomethingWasCondensed: Scenario = async (bed) => {
  const bench = await bed.open({ folder: bed.folder({ 'README.md': '# notes\n' }) });
  await runCommand(bench, 'Context Condenser: Condense the Sample Conversation');
  await notification(bench, 'Context condensed using');
  assert.ok(await hasCommand(bench, 'MCP: List Servers'));
  await runCommand(bench, 'MCP: List Servers');
  await quickInput(bench, ({ items }) => items.some(({ label }) => label.includes('Context Condenser')));
  await screenshot(bench, 'mcp-servers');
  await pick(bench, /Context Condenser/);
  await pick(bench, /Start Server/);
  // What its output says is VS Code's own account of what it got from the server.
  const said = await until('the server to have told its tools', () => {
    const text = bench.server.outputText('*ontext*ondenser*');
    return /Discovered \d+ tools/.exec(text)?.[0];
  });
  assert.equal(said, 'Discovered 2 tools');
  await dismiss(bench);
};
