// Does in a window at once what a scenario is not about, and what takes VS Code a second by its palette: changes the user's settings and
// runs VS Code's own commands. It is told so by HTTP, and says where in a file of CONTEXT_CONDENSER_E2E_HELPER, a folder; without one it
// does nothing. The other side is workbench/helper.ts.
const { writeFileSync } = require('node:fs');
const { createServer } = require('node:http');
const { basename, join } = require('node:path');
const vscode = require('vscode');

async function obey({ settings = {}, commands = [] }) {
  for (const [name, value] of Object.entries(settings))
    await vscode.workspace.getConfiguration().update(name, value ?? undefined, vscode.ConfigurationTarget.Global);
  for (const [command, ...args] of commands) await vscode.commands.executeCommand(command, ...args);
}

async function answer(request, response) {
  try {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    await obey(JSON.parse(Buffer.concat(chunks).toString('utf8')));
    response.end();
  } catch (error) {
    response.writeHead(500).end(String(error));
  }
}

exports.activate = ({ subscriptions }) => {
  const folder = process.env.CONTEXT_CONDENSER_E2E_HELPER;
  if (folder === undefined) return;
  const server = createServer(answer);
  subscriptions.push({ dispose: () => server.close() });
  server.listen(0, '127.0.0.1', () => {
    const window = basename(vscode.workspace.workspaceFolders?.[0]?.uri.fsPath ?? 'empty');
    writeFileSync(join(folder, window), String(server.address().port));
  });
};
