import { createHook } from 'node:async_hooks';
import http from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import fs, { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { makeWatchesFail } from '../../test/support/noWatches';
import { temporaryFolder } from '../../test/support/temporaryFolder';
import { createCounter } from '../core/testingCounter';
import { createTestBed } from '../live/testing';
import { ParsedBody } from './bodies';
import { announceGateway, listAnnouncements } from './announcement';
import { LiveCondenser } from './liveCondenser';
import { createLiveRoute, type LiveQuestion } from './liveRoute';
import type { LiveId } from '../live/request';
import type { LimitNotice } from '../live/conversationSpending';
import type { LiveSummary } from '../live/types';
import { formatOwner, getThisProcess } from '../storage/owner';
import { FOLDER_MARKER_FILE_NAME } from '../storage/ownFolder';
import { RunningConversations } from './runningConversations';
import { startGateway } from './server';
import { findKnownRequest } from './wires';
import { makeRequestBody, PATH_BY_WIRE } from './wires/testing';
import type { RequestBody } from './wires/wire';

const asJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

const never = new AbortController().signal;

/**
 * Creates a gateway with an agent that has announced itself, and a window that watches the folder.
 */
async function startBed(root = temporaryFolder()) {
  const folder = join(root, 'running');
  const engine = createTestBed(join(root, 'store'), { settings: { provider: 'lossless' } });
  const { live } = engine;
  const pause = (isPaused: boolean): void => {
    engine.settings = { ...engine.settings, isPaused };
  };
  let notice = (): void => undefined;
  const told: LimitNotice[] = [{ words: 'before', about: 'day' }];
  const setLimits = vi.fn();
  const spending = { notices: told, onNotice: (listener: () => void) => (notice = listener), setLimits };
  const tell = (one: LimitNotice): void => {
    told.push(one);
    notice();
  };
  const gateway = await startGateway({
    routes: new Map(),
    ownRoutes: new Map([['live-x', createLiveRoute(live, { spending, pause })]]),
  });
  const takeBack = await announceGateway(folder, {
    pid: process.pid,
    address: gateway.url('live-x'),
    agent: 'Codex',
    folder: '/work/notes',
  });
  const onChange = vi.fn();
  const onCondensed = vi.fn();
  const onNotice = vi.fn();
  const window = new RunningConversations({ folder, onChange, onCondensed, onNotice });
  onTestFinished(async () => {
    window.dispose();
    live.dispose();
    await gateway.close();
  });
  await window.refresh();
  const condenser = new LiveCondenser({
    live,
    counter: createCounter(),
    addresses: new Map([['a', new URL('http://127.0.0.1:1')]]),
    window: 24_000,
  });
  const step = async (steps: number): Promise<void> => {
    const text = makeRequestBody('anthropic', steps);
    const recognized = findKnownRequest('POST', PATH_BY_WIRE.anthropic)!;
    const read = new ParsedBody(Buffer.from(text), JSON.parse(text) as RequestBody, recognized.wire.list);
    const call = { route: 'a', address: new URL('http://127.0.0.1:1'), recognized, headers: {}, read };
    await condenser.prepare(call, never);
  };
  const until = (holds: () => boolean): Promise<void> =>
    vi.waitFor(() => {
      expect(holds()).toBe(true);
    });
  return { folder, live, gateway, takeBack, window, step, until, onChange, onCondensed, tell, onNotice, setLimits };
}

it('a VS Code window shows conversations behind a gateway as they change, and can act on them', async () => {
  const { live, window, step, until, onCondensed } = await startBed();
  await step(2);
  await until(() => window.list().length === 1);
  const [conversation] = window.list();
  expect(conversation).toMatchObject({ agent: 'Codex', folder: '/work/notes', condensations: [] });
  const { id } = conversation!;
  expect(window.getCachedView(id)).toBeUndefined();
  expect((await window.view(id))?.messages).toEqual(asJson(live.view(id)?.messages));

  await step(40);
  await until(() => window.list()[0]?.condensations.length === 1);
  // The event is sent after the list, once the watched views are ready.
  await until(() => onCondensed.mock.calls.length > 0);
  expect(onCondensed).toHaveBeenCalledTimes(1);
  await until(() => (window.getCachedView(id)?.edits.length ?? 0) > 0);
  expect(window.getCachedView(id)?.edits).toEqual(asJson(live.view(id)?.edits));
  const edit = window.getCachedView(id)!.edits.find(({ operation }) => operation !== 'restore');
  expect((await window.toggleEdit(id, edit!.id)).kind).toBe('done');
  expect((await window.view(id))?.excluded).toContainEqual(edit);
  expect((await window.pin(id, 1)).kind).toBe('done');
  await until(() => window.list()[0]?.pinned.includes(1) === true);
  expect((await window.unpin(id, 1)).kind).toBe('done');
  expect((await window.undo(id)).kind).toBe('done');
  await until(() => window.list()[0]?.condensations[0]?.isUndone === true);
  expect((await window.redo(id)).kind).toBe('done');
  expect((await window.condenseNow(id, {})).kind).toBe(
    live.list()[0]!.condensations.length > 1 ? 'condensed' : 'unchanged',
  );
});

it('a condensed conversation that continues behind another gateway is not reported as just condensed', async () => {
  const root = temporaryFolder();
  const first = await startBed(root);
  await first.step(40);
  await first.until(() => first.onCondensed.mock.calls.length > 0);
  await first.live.waitUntilSettled();
  first.window.dispose();
  await first.gateway.close();

  const { window, step, until, onCondensed } = await startBed(root);
  await step(40);
  await until(() => window.list().length === 1);
  const [{ id, condensations }] = window.list() as [LiveSummary];
  expect(condensations).toHaveLength(1);
  // Lists arrive in order, so once the next one arrives, this one is complete.
  expect((await window.undo(id)).kind).toBe('done');
  await until(() => window.list()[0]?.condensations[0]?.isUndone === true);
  expect(onCondensed).not.toHaveBeenCalled();
});

it('a VS Code window reports each condensation once, even if its conversation left the list and returned', async () => {
  const folder = join(temporaryFolder(), 'running');
  const condensation = (id: string, at: number) => ({ id, at: new Date(at).toISOString() });
  const before = condensation('c1', Date.now() - 86_400_000);
  const since = condensation('c2', Date.now() + 60_000);
  const later = condensation('c3', Date.now() + 120_000);
  const list = (...condensations: object[]) => [{ id: 'live-1', lastUsed: 1, condensations }];
  const lists = [[], list(before), list(before, since), [], list(before, since), list(before, since, later)];
  const waits = new Promise<Response>(() => undefined);
  let state = 0;
  const fetched = vi.spyOn(globalThis, 'fetch').mockImplementation(() => {
    const conversations = lists[state];
    state++;
    return conversations ? Promise.resolve(Response.json({ state, conversations })) : waits;
  });
  onTestFinished(() => {
    fetched.mockRestore();
  });
  await announceGateway(folder, { pid: process.pid, address: 'http://127.0.0.1:9/live-x', folder: '/work/notes' });
  const onCondensed = vi.fn<(one: LiveSummary) => void>();
  const window = new RunningConversations({ folder, onChange: () => undefined, onCondensed });
  onTestFinished(() => {
    window.dispose();
  });
  await window.refresh();
  await vi.waitFor(() => {
    expect(state).toBeGreaterThan(lists.length);
  });
  expect(onCondensed.mock.calls.map(([{ condensations }]) => condensations.at(-1)?.id)).toEqual(['c2', 'c3']);
});

describe("a VS Code window whose watch on the gateways' folder fails", () => {
  /** Creates a window for the folder before any gateway runs. The test controls its timers. */
  async function openUnwatchedWindow(prepare: () => void) {
    const folder = join(temporaryFolder(), 'running');
    mkdirSync(folder);
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    onTestFinished(() => {
      vi.useRealTimers();
    });
    const fetched = vi.spyOn(globalThis, 'fetch').mockReturnValue(new Promise(() => undefined));
    onTestFinished(() => {
      fetched.mockRestore();
    });
    prepare();
    const onUnwatched = vi.fn<(why: string) => void>();
    const window = new RunningConversations({ folder, onChange: () => undefined, onUnwatched });
    onTestFinished(() => {
      window.dispose();
    });
    await window.refresh();
    /** Waits until the window finds the gateway by reading the folder, without a request to it. */
    const isSeen = async (): Promise<void> => {
      await announceGateway(folder, { pid: process.pid, address: 'http://127.0.0.1:9/live-x', folder: '/work/notes' });
      vi.advanceTimersByTime(2_000);
      await vi.waitFor(() => {
        expect(window.running).toHaveLength(1);
      });
    };
    return { window, isSeen, onUnwatched };
  }

  it('reads the folder every few seconds while the window is open, and reports that once', async () => {
    const { window, isSeen, onUnwatched } = await openUnwatchedWindow(makeWatchesFail);
    await window.refresh();
    await isSeen();
    expect(onUnwatched.mock.calls).toEqual([[expect.stringContaining('ENOSPC')]]);
    expect(vi.getTimerCount()).toBe(1);
    window.dispose();
    expect(vi.getTimerCount()).toBe(0);
  });

  it('reads the folder repeatedly until it can be watched again', async () => {
    const watch = vi.spyOn(fs, 'watch');
    syncBuiltinESMExports();
    onTestFinished(() => {
      watch.mockRestore();
      syncBuiltinESMExports();
    });
    const { window, isSeen, onUnwatched } = await openUnwatchedWindow(() => undefined);
    expect(vi.getTimerCount()).toBe(0);
    const [made] = watch.mock.results;
    (made?.value as fs.FSWatcher).emit('error', new Error('EPERM: operation not permitted, watch'));
    expect(onUnwatched.mock.calls).toEqual([['EPERM: operation not permitted, watch']]);
    await isSeen();
    expect(watch).toHaveBeenCalledTimes(1);
    await window.refresh();
    expect(watch).toHaveBeenCalledTimes(2);
    expect(vi.getTimerCount()).toBe(0);
  });
});

it("a VS Code window passes on a gateway's notices about costs and sends it changed limits", async () => {
  const { window, step, until, tell, onNotice, setLimits } = await startBed();
  await step(2);
  await until(() => window.list().length === 1);
  tell({ words: 'near', about: 'conversation' });
  await until(() => onNotice.mock.calls.length === 1);
  tell({ words: 'over', about: 'conversation' });
  await until(() => onNotice.mock.calls.length === 2);
  expect(onNotice.mock.calls.map(([{ words }]) => words as string)).toEqual(['near', 'over']);
  const limits = { perConversation: 2, perDay: 0, stops: true };
  await window.setLimits(limits);
  expect(setLimits.mock.calls).toEqual([[limits]]);
});

it('a VS Code window can pause and resume condensing behind a gateway', async () => {
  const { window, step, until } = await startBed();
  await step(2);
  await until(() => window.list().length === 1);
  const { id } = window.list()[0]!;
  await window.pause(id, true);
  await until(() => window.list()[0]?.isPaused === true);
  await window.pause(id, false);
  await until(() => window.list()[0]?.isPaused === undefined);
  await expect(window.pause('gone' as LiveId, true)).rejects.toThrow('The agent has ended.');
});

it('a VS Code window removes a gateway that ended or was killed, says so, and leaves no files behind', async () => {
  const { folder, gateway, takeBack, window, step, until } = await startBed();
  await step(2);
  await until(() => window.list().length === 1);
  const { id } = window.list()[0]!;
  await takeBack();
  await gateway.close();
  await until(() => window.list().length === 0);
  await expect(window.undo(id)).rejects.toThrow('has ended');
  expect(readdirSync(folder)).toEqual([FOLDER_MARKER_FILE_NAME]);

  // No running process can have this PID.
  const dead = 2 ** 22 + 1;
  const owner = formatOwner({ ...getThisProcess(), pid: dead });
  const elsewhere = formatOwner({ ...getThisProcess(), pid: dead, space: '0-0-1' });
  writeFileSync(
    join(folder, `${dead}.json`),
    JSON.stringify({ contextCondenser: 'gateway', pid: dead, owner, address: 'http://127.0.0.1:1/x/y', folder: '/' }),
  );
  // Another container's processes are not visible.
  writeFileSync(
    join(folder, `${dead}-01234567.json`),
    JSON.stringify({
      ...{ contextCondenser: 'gateway', pid: dead, owner: elsewhere },
      ...{ address: 'http://127.0.0.1:1/x/y', folder: '/' },
    }),
  );
  writeFileSync(join(folder, '1.json'), '{');
  expect(await listAnnouncements(folder)).toEqual([]);
  expect(readdirSync(folder).toSorted()).toEqual([FOLDER_MARKER_FILE_NAME, '1.json', `${dead}-01234567.json`]);
});

it("the file that announces a gateway is readable only by the user; agents' credentials can't control the gateway", async () => {
  const { folder, gateway } = await startBed();
  expect(statSync(folder).mode & 0o077).toBe(0);
  for (const name of readdirSync(folder)) expect(statSync(join(folder, name)).mode & 0o077).toBe(0);
  const ask = (address: string): Promise<Response> => fetch(address, { method: 'POST', body: '{"do":"list"}' });
  expect((await ask(gateway.url('live-x'))).status).toBe(200);
  expect((await ask(gateway.url('live-y'))).status).toBe(404);
  expect((await ask(gateway.ticketUrl('a').replace(/a$/, 'live-x'))).status).toBe(404);
  const wrong = await fetch(gateway.url('live-x'), { method: 'POST', body: '{"do":"erase"}' });
  expect(await wrong.json()).toHaveProperty('error');
});

it('a VS Code window asks nothing, watches nothing and creates no folder if no gateway was ever started', async () => {
  const folder = join(temporaryFolder(), 'running');
  const fetched = vi.spyOn(globalThis, 'fetch');
  onTestFinished(() => {
    fetched.mockRestore();
  });
  // Records only file watchers, since handles of earlier tests may change meanwhile.
  const watchers: string[] = [];
  const hook = createHook({
    init: (_id, type) => {
      if (type === 'FSEVENTWRAP' || type === 'STATWATCHER') watchers.push(type);
    },
  }).enable();
  const repeated = vi.spyOn(globalThis, 'setInterval');
  onTestFinished(() => {
    repeated.mockRestore();
    hook.disable();
  });
  const onChange = vi.fn();
  const window = new RunningConversations({ folder, onChange });
  await window.refresh();
  await window.setLimits({ perConversation: 1, perDay: 1, stops: true });
  expect(watchers).toEqual([]);
  expect(repeated).not.toHaveBeenCalled();
  expect(existsSync(folder)).toBe(false);
  expect(onChange).not.toHaveBeenCalled();
  expect(fetched).not.toHaveBeenCalled();
  window.dispose();
});

it('a VS Code window asks an unresponsive gateway address once, and one on another machine never', async () => {
  const folder = join(temporaryFolder(), 'running');
  const fetched = vi.spyOn(globalThis, 'fetch').mockRejectedValue(new Error('nobody there'));
  onTestFinished(() => {
    fetched.mockRestore();
  });
  const told = { agent: 'Codex', folder: '/work/notes' };
  await announceGateway(folder, { ...told, pid: process.pid, address: 'http://127.0.0.1:9/live-x' });
  await announceGateway(folder, { ...told, pid: process.ppid, address: 'http://example.com/live-x' });
  const window = new RunningConversations({ folder, onChange: () => undefined });
  onTestFinished(() => {
    window.dispose();
  });
  await window.refresh();
  await vi.waitFor(() => {
    expect(window.running).toEqual([]);
  });
  await window.refresh();
  expect(window.running).toEqual([]);
  expect(fetched.mock.calls.map(([address]) => address)).toEqual(['http://127.0.0.1:9/live-x']);
});

it('a VS Code window keeps a gateway in its list even if the gateway closes idle connections', async () => {
  const asked: LiveQuestion[] = [];
  const used = new Set<Socket>();
  const server = http.createServer((request, response) => {
    // Closes each connection that was used before, as if the window had been too busy to notice
    // that an idle one was closed.
    if (used.has(request.socket)) {
      request.socket.destroy();
      return;
    }
    used.add(request.socket);
    void text(request).then((body) => {
      asked.push(JSON.parse(body) as LiveQuestion);
      if (asked.length < 4) response.end(JSON.stringify({ state: asked.length, conversations: [] }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const folder = join(temporaryFolder(), 'running');
  const window = new RunningConversations({ folder, onChange: () => undefined });
  onTestFinished(() => {
    window.dispose();
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  await announceGateway(folder, {
    pid: process.pid,
    address: `http://127.0.0.1:${port}/live-x`,
    agent: 'Codex',
    folder: '/',
  });
  await window.refresh();
  await vi.waitFor(() => {
    expect(asked).toHaveLength(4);
  });
  expect(window.running).toHaveLength(1);
});
