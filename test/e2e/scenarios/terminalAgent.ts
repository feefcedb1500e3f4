/** Tests command-line agents in VS Code's terminal, with their gateway. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { MARKER_START } from '../../../src/core/messages/markers';
import { startAnthropicServer } from '../../servers/anthropicServer';
import { reply } from '../../servers/behaviour';
import type { Scenario, SharedScenarios, SharedScenario } from '../bed';
import {
  chooseAction,
  listAddresses,
  listAgentsToOpen,
  switchVendor,
  openConversationDetails,
  waitForDetails,
  gatewayWindow,
  HALF,
  openWithStandIn,
  pinFirst,
  press,
  pressUntilEnded,
  STEPS,
  waitForGateway,
} from '../agentTerminal';
import { countCondensations } from '../longTask';
import { isAlive, checkGone, listRunningGateways, listGatewayProcesses } from '../gateways';
import { leaveStatus, STATUS_ITEM, statusTooltip } from '../liveStatus';
import {
  closeParts,
  diffEditor,
  dismiss,
  notification,
  openContainer,
  pick,
  screenshot,
  setTheme,
  treeRows,
  until,
  useSettings,
  type Workbench,
} from '../workbench/index';

const VIEW = 'Context Condenser';
const TASK = 'Put notes in order';

const status = ({ page }: Workbench, text: RegExp): Promise<unknown> =>
  page.locator(STATUS_ITEM).filter({ hasText: text }).waitFor();

/** With this threshold, half of the fake agent's task is long enough to be condensed. */
const SETTINGS = { 'contextCondenser.provider': 'smart', 'contextCondenser.thresholdTokens': 15_000 };

const isCondensedSeenAndUndoneWhileItRuns: SharedScenario = async (bench, bed) => {
  const goesOn = reply('Go on.');
  const vendor = await startAnthropicServer({ script: () => goesOn });
  try {
    const { allow, said } = switchVendor(bench, vendor);
    await useSettings(bench, SETTINGS);
    assert.deepEqual(listRunningGateways(bench), [], 'nothing listens before');
    await listAgentsToOpen(bench, /Claude Code/);
    await screenshot(bench, 'open-agent-dark');
    await pick(bench, /Claude Code/);

    // The agent pauses in the middle of its task.
    await until('half of the task', () => said().length === HALF);
    const gateway = await waitForGateway(bench);
    const began = listGatewayProcesses(bench);
    const agentPid = Number(String(vendor.requests[0]?.headers['x-claude-code-session-id']).replace('stand-in-', ''));
    assert.ok(isAlive(agentPid));
    await status(bench, /\d+K \/ 200K/);
    await openContainer(bench, VIEW);
    const condensed = (texts: readonly string[]): boolean => texts.some((text) => /Put notes in.*−\d+%/.test(text));
    const rows = await treeRows(bench, condensed);
    assert.ok(rows.some((text) => text.startsWith('Claude Code')));
    await closeParts(bench, 'notifications');
    await screenshot(bench, 'terminal-agent-dark');
    await setTheme(bench, 'light');
    await screenshot(bench, 'terminal-agent-light');

    await openConversationDetails(bench, TASK);
    await screenshot(bench, 'terminal-agent-details-light');
    await pick(bench, /Show Diff/);
    const diff = await diffEditor(bench, ({ modified }) => modified.join('\n').includes(MARKER_START));
    assert.ok(!diff.original.join('\n').includes(MARKER_START));
    await screenshot(bench, 'terminal-agent-diff-light');
    await chooseAction(bench, TASK, /Undo the Last Condensation/);
    await notification(bench, /[Uu]ndone/);
    await closeParts(bench, 'notifications');
    await chooseAction(bench, TASK, /Redo/);
    await waitForDetails(bench, TASK, 'the condensation to be back', ({ label }) =>
      label.includes('Undo the Last Condensation'),
    );
    await closeParts(bench, 'notifications');
    await pinFirst(bench, TASK);

    // The agent cancels a pending request, and the connection to the vendor closes, too.
    vendor.play({ kind: 'never' });
    allow(HALF + 1);
    const hanging = await vendor.request(HALF);
    await press(bench, 'Control+c');
    await hanging.aborted;
    await until('the agent to know', () => said().at(-1) === `${HALF} cancelled`);
    vendor.play(() => goesOn);

    // The window is reloaded while requests run.
    allow(HALF + 15);
    await bench.reload();
    await until('three quarters of the task', () => said().length === HALF + 15);
    assert.ok(isAlive(gateway.pid));
    await treeRows(bench, condensed);
    await status(bench, /\d+K \/ 200K/);
    await chooseAction(bench, TASK, /Show Diff/);
    await diffEditor(bench, ({ modified }) => modified.join('\n').includes(MARKER_START));

    allow(Infinity);
    await until('the whole task', () => said().length === STEPS + 1);
    assert.deepEqual(
      said().filter((line) => !line.endsWith(' 200 whole')),
      [`${HALF} cancelled`],
    );
    const kept = countCondensations(bench);
    assert.ok(kept > 0);
    // The terminal waits for Enter, and then everything ends.
    await pressUntilEnded(bench, gateway, ['Enter']);
    await checkGone(bench, began);
    assert.ok(!isAlive(agentPid));
    await treeRows(bench, (texts) => texts.every((text) => !text.includes('Put notes in')));
    assert.equal(countCondensations(bench), kept, 'its ledger stays');
    const bodies = vendor.requests.map(({ body }) => JSON.stringify(body).length);
    bed.report(
      `${STEPS} calls, none refused, largest request ${Math.max(...bodies).toLocaleString('en-US')} characters`,
    );
  } finally {
    await vendor.close();
  }
};

/**
 * The agent has no recall. Lossless finds nothing to remove at the threshold, and no other provider
 * runs after Lossless.
 */
const isPausedResumedAndTakenFurther: SharedScenario = async (bench, bed) => {
  const vendor = await startAnthropicServer({ script: () => reply('Go on.') });
  try {
    const { allow, said } = switchVendor(bench, vendor);
    await useSettings(bench, { 'contextCondenser.thresholdTokens': 15_000 });
    const before = countCondensations(bench);
    await listAgentsToOpen(bench, /Claude Code/);
    await pick(bench, /Claude Code/);
    await until('half of the task', () => said().length === HALF);
    const gateway = await waitForGateway(bench);
    const began = listGatewayProcesses(bench);
    const tooltip = await statusTooltip(bench, /Not condensed: /);
    await screenshot(bench, 'terminal-agent-stuck-tooltip-dark');
    await leaveStatus(bench);
    const stuck = await openConversationDetails(bench, TASK);
    await screenshot(bench, 'terminal-agent-stuck-dark');
    assert.ok(stuck.some(({ label }) => label === 'Use Smart (File-Aware)'));
    await pick(bench, /Pause Condensing/);

    const icon = (name: string): Promise<unknown> => bench.page.locator(`${STATUS_ITEM} .codicon-${name}`).waitFor();
    await icon('debug-pause');
    allow(HALF + 5);
    await until('requests while it is paused', () => said().length === HALF + 5);
    const paused = await openConversationDetails(bench, TASK);
    await screenshot(bench, 'terminal-agent-paused-dark');
    assert.match(paused[0]?.detail ?? '', /^Paused: condensed only if a request would not fit/);
    await pick(bench, /Resume Condensing/);
    await icon('archive');
    assert.equal(countCondensations(bench), before, 'nothing was condensed so far');

    allow(HALF + 6);
    await until('a request after that', () => said().length === HALF + 6);
    await chooseAction(bench, TASK, /Use Smart \(File-Aware\)/);
    await until('the condensation', () => countCondensations(bench) === before + 1);
    allow(HALF + 10);
    await until('requests behind it', () => said().length === HALF + 10);
    const sizes = vendor.requests.map(({ body }) => JSON.stringify(body).length);
    const [last, next] = [sizes[HALF + 5] ?? 0, sizes[HALF + 6] ?? 0];
    assert.ok(next < last * 0.8, `${last} characters, then ${next}`);
    await waitForDetails(bench, TASK, 'what ran', ({ description }) => description.startsWith('Smart (File-Aware) · '));
    await openConversationDetails(bench, TASK);
    await screenshot(bench, 'terminal-agent-further-dark');
    await dismiss(bench);
    bed.report(`${tooltip}\nby hand: ${last.toLocaleString('en-US')} characters, then ${next.toLocaleString('en-US')}`);

    allow(Infinity);
    await until('the whole task', () => said().length === STEPS);
    assert.ok(said().every((line) => line.endsWith(' 200 whole')));
    await pressUntilEnded(bench, gateway, ['Enter']);
    await checkGone(bench, began);
  } finally {
    await vendor.close();
  }
};

export const terminalAgent: SharedScenarios = {
  open: gatewayWindow,
  scenarios: { isCondensedSeenAndUndoneWhileItRuns, isPausedResumedAndTakenFurther },
  seconds: 180,
};

/** Lists the processes of extension hosts with this home folder. */
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
    await useSettings(bench, SETTINGS);
    await listAgentsToOpen(bench, /Claude Code/);
    await pick(bench, /Claude Code/);
    await until('half of the task', () => said().length === HALF);
    const gateway = await waitForGateway(bench);
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
    // Later condensations happen without a window, and show up when it is loaded again.
    allow(HALF + 5);
    await until('the answers behind it', () => said().length === HALF + 5);
    assert.deepEqual(
      said().filter((line) => !line.endsWith(' 200 whole')),
      [],
    );
    await screenshot(bench, 'terminal-agent-host-killed');
    await bench.reload();
    await openContainer(bench, VIEW);
    await treeRows(bench, (texts) => texts.some((text) => /Put notes in.*−\d+%/.test(text)));
    allow(Infinity);
    await until('the whole task', () => said().length === STEPS);
    await pressUntilEnded(bench, gateway, ['Enter']);
    assert.deepEqual(listRunningGateways(bench), []);
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
    await useSettings(bench, SETTINGS);
    const before = readdirSync(home);
    await listAgentsToOpen(bench, /Claude Code/);
    await pick(bench, /Claude Code/);
    await until('half of the task', () => said().length === HALF);
    await listAddresses(bench);
    await dismiss(bench);
    await until('both gateways', () => listRunningGateways(bench).length === 2);
    vendor.play({ kind: 'never' });
    allow(HALF + 1);
    const hanging = await vendor.request(HALF);
    const began = listGatewayProcesses(bench);
    const processes = began.flatMap((one) => one.processes);
    bed.report(`${processes.length} processes of 2 gateways`);
    assert.ok(processes.length >= 3, 'two gateways and the agent');
    // The window and VS Code with all its child processes are killed during a request.
    await bench.close();
    await bench.server.end();
    await hanging.aborted;
    await checkGone(bench, began);
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
