/** Tests the MCP server for recall, which VS Code gets from the extension. */
import { notification, outputPanel, pick, quickInput, runCommand, screenshot } from '../workbench/index';
import type { SharedScenarios, SharedScenario } from '../bed';
import { plainWindow } from '../windows';

const isOfferedToAgentsOnceSomethingWasCondensed: SharedScenario = async (bench) => {
  await runCommand(bench, 'Context Condenser: Condense the Sample Conversation');
  await notification(bench, 'Condensed the sample');
  await runCommand(bench, 'MCP: List Servers');
  await quickInput(bench, ({ items }) => items.some(({ label }) => label.includes('Context Condenser')));
  await screenshot(bench, 'mcp-servers');
  await pick(bench, /Context Condenser/);
  await pick(bench, /Start Server/);
  // This is VS Code's own log of the server's output.
  await outputPanel(bench, (lines) => lines.some((line) => line.includes('Discovered 2 tools')));
  await screenshot(bench, 'mcp-server-started');
};

export const recallServer: SharedScenarios = {
  open: plainWindow,
  scenarios: { isOfferedToAgentsOnceSomethingWasCondensed },
};
