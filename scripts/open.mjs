// Opens VS Code with the extension and the sample: the user's `code` if installed, otherwise
// code-server.
import { spawn, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureCodeServer, environment, getNode24Path, packExtension, root, vsix } from './vscode.mjs';

function runOrThrow(command, args, what, options = {}) {
  const { status, error } = spawnSync(command, args, { cwd: root, stdio: ['ignore', 2, 2], ...options });
  if (error || status !== 0)
    throw new Error(`${what} failed${error ? `: ${error.message}` : ` (exit code ${status})`}.`);
}

/** Creates a separate workspace with the sample, so that the project stays unchanged. */
function createWorkspace() {
  const folder = mkdtempSync(join(tmpdir(), 'context-condenser-workspace-'));
  cpSync(join(root, 'sample', 'conversation.jsonl'), join(folder, 'conversation.jsonl'));
  return folder;
}

function findFreePort() {
  return new Promise((resolve, reject) => {
    const probe = createServer()
      .on('error', reject)
      .listen(0, '127.0.0.1', () => {
        const { port } = probe.address();
        probe.close(() => resolve(port));
      });
  });
}

export async function openVsCode() {
  packExtension();
  const folder = createWorkspace();
  const code = process.platform === 'win32' ? 'code.cmd' : 'code';
  if (spawnSync(code, ['--version'], { stdio: 'ignore', shell: process.platform === 'win32' }).status === 0) {
    runOrThrow(code, ['--install-extension', vsix, '--force'], 'Installing the extension', {
      shell: process.platform === 'win32',
    });
    runOrThrow(code, [folder], 'Opening VS Code', { shell: process.platform === 'win32' });
    console.log('\nVS Code is open. Press F1 and run "Context Condenser: Condense the Sample Conversation".');
    return;
  }
  await openCodeServer(folder);
}

async function openCodeServer(folder) {
  console.log('\nThere is no `code` on the PATH: code-server (VS Code in the browser) is used.');
  const entry = await ensureCodeServer();
  const data = join(root, '.vscode-test', 'start');
  const extensions = join(data, 'extensions');
  mkdirSync(extensions, { recursive: true });
  const folders = ['--user-data-dir', data, '--extensions-dir', extensions];
  runOrThrow(getNode24Path(), [entry, ...folders, '--install-extension', vsix, '--force'], 'Installing the extension', {
    env: environment(),
  });
  const port = await findFreePort();
  const server = spawn(
    getNode24Path(),
    [
      entry,
      ...folders,
      '--auth',
      'none',
      '--bind-addr',
      `127.0.0.1:${port}`,
      '--disable-telemetry',
      '--disable-update-check',
      '--disable-workspace-trust',
    ],
    { stdio: ['ignore', 'ignore', 'inherit'], env: environment() },
  );
  process.once('SIGINT', () => server.kill());
  console.log(`\nOpen http://127.0.0.1:${port}/?folder=${encodeURI(folder)}`);
  console.log('Press F1 there and run "Context Condenser: Condense the Sample Conversation". Ctrl+C here ends it.');
  await new Promise((resolve) => server.on('close', resolve));
}
