// Does in a window at once what a scenario is not about, and what takes VS Code a second by its palette: changes the user's settings and
// runs VS Code's own commands. It also tells what the extension host's thread does meanwhile. It is told so by HTTP, and says where in a
// file of CONTEXT_CONDENSER_E2E_HELPER, a folder; without one it does nothing. The other side is workbench/helper.ts.
const { writeFileSync } = require('node:fs');
const { createServer } = require('node:http');
const { Session } = require('node:inspector/promises');
const { basename, join } = require('node:path');
const vscode = require('vscode');

/** A sample in so many microseconds: what takes the thread 50 ms is seen 100 times. */
const SAMPLED_US = 500;
let inspector;
let clock;
/**
 * When the thread's loop came round to its timers, in V8's microseconds, and the processor time that the thread had used by then, in
 * microseconds: between two of them it does one thing after the other.
 */
let turns;

function noteTurn() {
  const { user, system } = process.threadCpuUsage();
  turns.push([Number(process.hrtime.bigint() / 1000n), user + system]);
}

/** @returns where a profile ends, V8's own and the turns of the thread's loop, as JSON. */
async function profile(step) {
  if (step === 'begin') {
    inspector = new Session();
    inspector.connect();
    await inspector.post('Profiler.enable');
    await inspector.post('Profiler.setSamplingInterval', { interval: SAMPLED_US });
    await inspector.post('Profiler.start');
    turns = [];
    noteTurn();
    clock = setInterval(noteTurn, 1);
    return undefined;
  }
  clearInterval(clock);
  noteTurn();
  const { profile } = await inspector.post('Profiler.stop');
  inspector.disconnect();
  return JSON.stringify({ profile, turns });
}

async function obey({ settings = {}, commands = [], profiler }) {
  for (const [name, value] of Object.entries(settings))
    await vscode.workspace.getConfiguration().update(name, value ?? undefined, vscode.ConfigurationTarget.Global);
  for (const [command, ...args] of commands) await vscode.commands.executeCommand(command, ...args);
  return profiler && profile(profiler);
}

async function answer(request, response) {
  try {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    response.end(await obey(JSON.parse(Buffer.concat(chunks).toString('utf8'))));
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
