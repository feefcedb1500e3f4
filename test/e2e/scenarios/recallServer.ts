/** The MCP server with recall that VS Code gets from the extension. */
import { notification, outputPanel, pick, quickInput, runCommand, screenshot } from '../workbench/index';
import type { Scenario } from '../bed';

export const isOfferedToAgentsOnceSomethingWasCondensed: Scenario = async (bed) => {
  const bench = await bed.open({ folder: bed.folder({ 'README.md': '# notes\n' }) });
  await runCommand(bench, 'Context Condenser: Condense the Sample Conversation');
  await notification(bench, 'Context condensed using');
  await runCommand(bench, 'MCP: List Servers');
  await quickInput(bench, ({ items }) => items.some(({ label }) => label.includes('Context Condenser')));
  await screenshot(bench, 'mcp-servers');
  await pick(bench, /Context Condenser/);
  await pick(bench, /Start Server/);
  // VS Code's own account of what it got from the server.
  await outputPanel(bench, (lines) => lines.some((line) => line.includes('Discovered 2 tools')));
  await screenshot(bench, 'mcp-server-started');
};
