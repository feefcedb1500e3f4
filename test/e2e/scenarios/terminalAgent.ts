/** Agents of the command line in VS Code's terminal, behind their gateway. */
import assert from 'node:assert/strict';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { root } from '../../../scripts/vscode.mjs';
import { MARKER_START } from '../../../src/core/messages/markers';
import { startAnthropicServer } from '../../servers/anthropicServer';
import { reply } from '../../servers/behaviour';
import type { Bed, Scenario } from '../bed';
import {
  act,
  addressesToGive,
  agentsToOpen,
  details,
  detailsShow,
  pinFirst,
  press,
  pressUntilEnded,
  theGateway,
} from '../agentTerminal';
import { isAlive, nothingIsLeftOf, running, thatRun } from '../gateways';
import {
  clearNotifications,
  diffEditor,
  dismiss,
  notification,
  openContainer,
  pick,
  screenshot,
  setTheme,
  treeRows,
  until,
  type Workbench,
} from '../workbench/index';

const VIEW = 'Context Condenser';
const TASK = 'Put the notes in order';
const STEPS = 60;
const HALF = STEPS / 2;

const status = ({ page }: Workbench, text: RegExp): Promise<unknown> =>
  page.locator('.statusbar-item[id$="contextCondenser.live"]').filter({ hasText: text }).waitFor();

/** A window whose machine has a stand-in for Claude Code, which works on its task as far as it is allowed. */
async function openWithStandIn(bed: Bed, address: string) {
  const folder = bed.folder({ 'notes.md': '# notes\n' });
  const own = bed.folder();
  const bin = join(own, 'bin');
  mkdirSync(bin);
  copyFileSync(join(root, 'test', 'e2e', 'stand-in-agent', 'claude.cjs'), join(bin, 'claude'));
  chmodSync(join(bin, 'claude'), 0o755);
  const [go, log] = [join(own, 'go'), join(own, 'log')];
  const allow = (requests: number): void => {
    writeFileSync(go, String(requests));
  };
  const said = (): string[] => (existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n') : []);
  allow(HALF);
  // VS Code takes the path of commands from the login shell.
  writeFileSync(join(own, '.profile'), `export PATH='${bin}':"$PATH"\n`);
  const bench = await bed.open({
    folder,
    home: own,
    env: {
      ANTHROPIC_BASE_URL: address,
      ANTHROPIC_API_KEY: 'sk-test-stand-in',
      STAND_IN_GO: go,
      STAND_IN_LOG: log,
      STAND_IN_STEPS: String(STEPS),
    },
    settings: { 'contextCondenser.provider': 'smart', 'contextCondenser.thresholdTokens': 15_000 },
  });
  return { bench, allow, said, home: own };
}

export const isCondensedSeenAndUndoneWhileItRuns: Scenario = async (bed) => {
  const goesOn = reply('Go on.');
  const vendor = await startAnthropicServer({ script: () => goesOn });
  try {
    const { bench, allow, said } = await openWithStandIn(bed, vendor.url);
    assert.deepEqual(running(bench), [], 'nothing listens before');
    await agentsToOpen(bench, /Claude Code/);
    await screenshot(bench, 'open-agent-dark');
    await pick(bench, /Claude Code/);

    // It stands still in the middle of its task.
    await until('half of the task', () => said().length === HALF);
    const gateway = await theGateway(bench);
    const began = thatRun(bench);
    const agentPid = Number(String(vendor.requests[0]?.headers['x-claude-code-session-id']).replace('stand-in-', ''));
    assert.ok(isAlive(agentPid));
    await status(bench, /\d+K \/ 200K/);
    await openContainer(bench, VIEW);
    const condensed = (texts: readonly string[]): boolean =>
      texts.some((text) => /Put the notes in order.*-\d+%/.test(text));
    const rows = await treeRows(bench, condensed);
    assert.ok(rows.some((text) => text.startsWith('Claude Code')));
    await clearNotifications(bench);
    await screenshot(bench, 'terminal-agent-dark');
    await setTheme(bench, 'light');
    await screenshot(bench, 'terminal-agent-light');

    await details(bench, TASK);
    await screenshot(bench, 'terminal-agent-details-light');
    await pick(bench, /Show Diff/);
    const diff = await diffEditor(bench, ({ modified }) => modified.join('\n').includes(MARKER_START));
    assert.ok(!diff.original.join('\n').includes(MARKER_START));
    await screenshot(bench, 'terminal-agent-diff-light');
    await act(bench, TASK, /Undo the Last Condensation/);
    await notification(bench, /[Uu]ndone/);
    await clearNotifications(bench);
    await act(bench, TASK, /Redo/);
    await detailsShow(bench, TASK, 'the condensation to be back', ({ label }) =>
      label.includes('Undo the Last Condensation'),
    );
    await clearNotifications(bench);
    await pinFirst(bench, TASK);

    // Another window sees it, too.
    const other = await bed.openOn(bench.server, { folder: bed.folder(), beside: bench });
    await openContainer(other, VIEW);
    await treeRows(other, condensed);
    await other.close();

    // A request that is under way is broken off by its agent, and so at the vendor.
    vendor.play({ kind: 'never' });
    allow(HALF + 1);
    const hanging = await vendor.request(HALF);
    await press(bench, 'Control+c');
    await hanging.aborted;
    await until('the agent to know', () => said().at(-1) === `${HALF} cancelled`);
    vendor.play(() => goesOn);

    // The window is loaded anew while requests go to and fro.
    allow(HALF + 15);
    await bench.reload();
    await until('three quarters of the task', () => said().length === HALF + 15);
    assert.ok(isAlive(gateway.pid));
    await treeRows(bench, condensed);
    await status(bench, /\d+K \/ 200K/);
    await act(bench, TASK, /Show Diff/);
    await diffEditor(bench, ({ modified }) => modified.join('\n').includes(MARKER_START));

    allow(Infinity);
    await until('the whole task', () => said().length === STEPS + 1);
    assert.deepEqual(
      said().filter((line) => !line.endsWith(' 200 whole')),
      [`${HALF} cancelled`],
    );
    // The terminal waits for Enter, and then all is gone.
    await pressUntilEnded(bench, gateway, ['Enter']);
    await nothingIsLeftOf(bench, began);
    assert.ok(!isAlive(agentPid));
    await treeRows(bench, (texts) => texts.every((text) => !text.includes(TASK)));
    assert.equal(globSync('User/workspaceStorage/*/*/live', { cwd: bench.server.data }).length, 1, 'its ledger stays');
    const bodies = vendor.requests.map(({ body }) => JSON.stringify(body).length);
    bed.report(
      `${STEPS} calls, none refused, largest request ${Math.max(...bodies).toLocaleString('en-US')} characters`,
    );
  } finally {
    await vendor.close();
  }
};

/** The processes of extension hosts that have this home folder. */
const extensionHosts = (home: string): number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return (
          readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('--type=extensionHost') &&
          readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').includes(`HOME=${home}`)
        );
      } catch {
        return false;
      }
    })
    .map(Number);

const killedInMidRequest: Scenario = async (bed) => {
  if (!existsSync('/proc/self/environ')) {
    bed.report('skipped: the extension host is found by /proc');
    return;
  }
  const goesOn = reply('Go on.');
  const vendor = await startAnthropicServer({ script: () => goesOn });
  try {
    const { bench, allow, said, home } = await openWithStandIn(bed, vendor.url);
    await agentsToOpen(bench, /Claude Code/);
    await pick(bench, /Claude Code/);
    await until('half of the task', () => said().length === HALF);
    const gateway = await theGateway(bench);
    let answer = (): void => undefined;
    vendor.play(reply('Go on.', { firstByte: new Promise<void>((resolve) => (answer = resolve)) }));
    allow(HALF + 1);
    await vendor.request(HALF);
    const hosts = extensionHosts(home);
    assert.ok(hosts.length > 0);
    for (const pid of hosts) process.kill(pid, 'SIGKILL');
    await until('the extension host to be gone', () => hosts.every((pid) => !isAlive(pid)));
    answer();
    vendor.play(() => goesOn);
    await until('the answer', () => said().length === HALF + 1);
    // The next ones, too, with nobody there but the gateway; and a window that is loaded anew sees it all.
    allow(HALF + 5);
    await until('the answers behind it', () => said().length === HALF + 5);
    assert.deepEqual(
      said().filter((line) => !line.endsWith(' 200 whole')),
      [],
    );
    await screenshot(bench, 'terminal-agent-host-killed');
    await bench.reload();
    await openContainer(bench, VIEW);
    await treeRows(bench, (texts) => texts.some((text) => /Put the notes in order.*-\d+%/.test(text)));
    allow(Infinity);
    await until('the whole task', () => said().length === STEPS);
    await pressUntilEnded(bench, gateway, ['Enter']);
    assert.deepEqual(running(bench), []);
  } finally {
    await vendor.close();
  }
};

export const isAnsweredWhenTheExtensionHostIsKilledInMidRequest: Scenario = Object.assign(killedInMidRequest, {
  lane: 'long' as const,
});

const closedInMidRequest: Scenario = async (bed) => {
  const vendor = await startAnthropicServer({ script: () => reply('Go on.') });
  try {
    const { bench, allow, said, home } = await openWithStandIn(bed, vendor.url);
    const before = readdirSync(home);
    await agentsToOpen(bench, /Claude Code/);
    await pick(bench, /Claude Code/);
    await until('half of the task', () => said().length === HALF);
    await addressesToGive(bench);
    await dismiss(bench);
    await until('both gateways', () => running(bench).length === 2);
    vendor.play({ kind: 'never' });
    allow(HALF + 1);
    const hanging = await vendor.request(HALF);
    const began = thatRun(bench);
    const processes = began.flatMap((one) => one.processes);
    bed.report(`${processes.length} processes of 2 gateways`);
    assert.ok(processes.length >= 3, 'two gateways and the agent');
    // The window and VS Code, with all that it has started, in the middle of a request.
    await bench.close();
    await bench.server.end();
    await hanging.aborted;
    await nothingIsLeftOf(bench, began);
    assert.deepEqual(
      readdirSync(home).filter((name) => !before.includes(name)),
      ['log'],
    );
  } finally {
    await vendor.close();
  }
};

export const leavesNothingBehindWhenVsCodeIsClosedInMidRequest: Scenario = Object.assign(closedInMidRequest, {
  lane: 'long' as const,
});
