/** Agents of the command line in VS Code's terminal, behind their gateway. */
import assert from 'node:assert/strict';
import { chmodSync, copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../../scripts/vscode.mjs';
import { MARKER_START } from '../../../src/core/messages/markers';
import { startAnthropicServer } from '../../servers/anthropicServer';
import { reply } from '../../servers/behaviour';
import type { Scenario } from '../bed';
import {
  clearNotifications,
  diffEditor,
  notification,
  openContainer,
  pick,
  quickInput,
  runCommand,
  screenshot,
  setTheme,
  treeRows,
  until,
  type Workbench,
} from '../workbench/index';

const OPEN = 'Context Condenser: Open an Agent, Condensed…';
const VIEW = 'Context Condenser';
const STEPS = 60;

/** The announcements of gateways that run. */
function running({ server }: Workbench): { readonly pid: number; readonly address: string }[] {
  const folder = join(server.data, 'User', 'globalStorage', 'context-condenser.context-condenser', 'running');
  const names = existsSync(folder) ? readdirSync(folder) : [];
  return names
    .filter((name) => name.endsWith('.json'))
    .map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as { pid: number; address: string });
}

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

const status = ({ page }: Workbench, text: RegExp): Promise<unknown> =>
  page.locator('.statusbar-item[id$="contextCondenser.live"]').filter({ hasText: text }).waitFor({ timeout: 60_000 });

export const isCondensedSeenAndUndoneWhileItRuns: Scenario = async (bed) => {
  const vendor = await startAnthropicServer({ script: () => reply('Go on.') });
  try {
    const folder = bed.folder({ 'notes.md': '# notes\n' });
    const own = bed.folder();
    const bin = join(own, 'bin');
    mkdirSync(bin);
    copyFileSync(join(root, 'test', 'e2e', 'stand-in-agent', 'claude.cjs'), join(bin, 'claude'));
    chmodSync(join(bin, 'claude'), 0o755);
    const [go, log] = [join(own, 'go'), join(own, 'log')];
    const steps = (): number => (existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n').length : 0);
    // VS Code takes the path of commands from the login shell.
    writeFileSync(join(own, '.profile'), `export PATH='${bin}':"$PATH"\n`);
    const bench = await bed.open({
      folder,
      home: own,
      env: {
        ANTHROPIC_BASE_URL: vendor.url,
        ANTHROPIC_API_KEY: 'sk-test-stand-in',
        STAND_IN_GO: go,
        STAND_IN_LOG: log,
        STAND_IN_STEPS: String(STEPS),
      },
      settings: { 'contextCondenser.thresholdTokens': 15_000 },
    });
    assert.deepEqual(running(bench), [], 'nothing listens before');
    await runCommand(bench, OPEN);
    const shown = await quickInput(bench, ({ items }) => items.length > 0);
    assert.ok(shown.items.some(({ label }) => label.includes('Claude Code')));
    await screenshot(bench, 'open-agent-dark');
    await pick(bench, /Claude Code/);

    // It stands still in the middle of its task.
    await until('half of the task', () => steps() === STEPS / 2, 120_000);
    const [gateway] = running(bench);
    assert.ok(gateway && isAlive(gateway.pid));
    await status(bench, /\d+K \/ 200K/);
    await openContainer(bench, VIEW);
    const rows = await treeRows(bench, (texts) => texts.some((text) => /Put the notes in order.*-\d+%/.test(text)));
    assert.ok(rows.some((text) => text.startsWith('Claude Code')));
    await screenshot(bench, 'terminal-agent-dark');
    await setTheme(bench, 'light');
    await screenshot(bench, 'terminal-agent-light');

    const act = async (action: RegExp): Promise<void> => {
      await runCommand(bench, 'Context Condenser: Show Condensed Chat Conversations');
      await pick(bench, action);
    };
    await act(/Show Diff/);
    const diff = await diffEditor(bench, ({ modified }) => modified.join('\n').includes(MARKER_START));
    assert.ok(!diff.original.join('\n').includes(MARKER_START));
    await screenshot(bench, 'terminal-agent-diff-light');
    await clearNotifications(bench);
    await act(/Undo the Last Condensation/);
    await notification(bench, /[Uu]ndone/);
    await act(/Redo/);
    await clearNotifications(bench);

    // Another window sees it, too.
    const other = await bed.openOn(bench.server, { folder: bed.folder() });
    await openContainer(other, VIEW);
    await treeRows(other, (texts) => texts.some((text) => /Put the notes in order/.test(text)));
    await other.close();

    writeFileSync(go, '');
    await until('the whole task', () => steps() === STEPS, 120_000);
    const said = readFileSync(log, 'utf8').trim().split('\n');
    assert.deepEqual(
      said.filter((line) => !line.endsWith(' 200 whole')),
      [],
    );
    // The terminal waits for Enter, and then all is gone.
    await bench.page.locator('.terminal-wrapper textarea').first().focus();
    await until('the gateway to end', async () => {
      await bench.page.keyboard.press('Enter');
      return !isAlive(gateway.pid);
    });
    assert.deepEqual(running(bench), []);
    await assert.rejects(fetch(gateway.address, { method: 'POST', body: '{"do":"list"}' }));
    await treeRows(bench, (texts) => texts.every((text) => !text.includes('Put the notes in order')));
    const bodies = vendor.requests.map(({ body }) => JSON.stringify(body).length);
    bed.report(
      `${STEPS} calls, none refused, largest request ${Math.max(...bodies).toLocaleString('en-US')} characters`,
    );
  } finally {
    await vendor.close();
  }
};
