import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { MessageToHost } from '../../../src/panel/protocol';
import { HostConnection, type PanelEvent } from './connection';
import { PanelStore } from './store';

const state = (revision: number): object => ({
  revision,
  settings: {},
  profiles: [],
  editorModels: [],
  presets: [],
  historyRevision: 0,
  isRemote: false,
});
const welcome = (revision = 0): object => ({
  type: 'welcome',
  texts: {},
  language: 'en',
  schemas: {},
  providers: [],
  state: state(revision),
});

let posted: MessageToHost[];
let events: PanelEvent[];
let connection: HostConnection;

beforeEach(() => {
  vi.useFakeTimers();
  posted = [];
  events = [];
  connection = new HostConnection(
    { postMessage: (message) => posted.push(message as MessageToHost) },
    (event) => events.push(event),
    () => 'no answer',
  );
});

afterEach(() => {
  vi.useRealTimers();
});

describe("a request from the panel's page to the extension host", () => {
  const ask = () => connection.sendRequest('testProfile', { id: 'x' });

  it('receives only its own answer', async () => {
    const [first, second] = [ask(), ask()];
    connection.receiveMessage({ type: 'reply', id: 2, result: { ok: true, message: 'second' } });
    connection.receiveMessage({ type: 'reply', id: 1, result: { ok: true, message: 'first' } });
    expect(await first).toMatchObject({ message: 'first' });
    expect(await second).toMatchObject({ message: 'second' });
  });

  it('fails with the error message of the extension host', async () => {
    const asked = ask();
    connection.receiveMessage({ type: 'failed', id: 1, message: 'The disk is full.' });
    await expect(asked).rejects.toThrow('The disk is full.');
  });

  it('fails and is cancelled if no answer comes in time, and a late answer is dropped', async () => {
    const asked = expect(ask()).rejects.toThrow('no answer');
    await vi.advanceTimersByTimeAsync(30_000);
    await asked;
    expect(posted.at(-1)).toEqual({ type: 'cancel', id: 1 });
    connection.receiveMessage({ type: 'reply', id: 1, result: { ok: true, message: 'late' } });
    expect(vi.getTimerCount()).toBe(0);
  });

  it('waits without a time limit if a person must answer', async () => {
    const asked = connection.sendRequest('setKey', { id: 'x' }, { timeoutMs: Infinity });
    await vi.advanceTimersByTimeAsync(10_000_000);
    connection.receiveMessage({ type: 'reply', id: 1, result: { isSet: true } });
    expect(await asked).toEqual({ isSet: true });
  });

  it('is aborted with its reason and cancelled in the host', async () => {
    const abort = new AbortController();
    const asked = connection.sendRequest('history', {}, { signal: abort.signal });
    const reason = new Error('closed');
    abort.abort(reason);
    await expect(asked).rejects.toBe(reason);
    expect(posted.at(-1)).toEqual({ type: 'cancel', id: 1 });
    await expect(connection.sendRequest('history', {}, { signal: abort.signal })).rejects.toBe(reason);
    expect(posted).toHaveLength(2);
  });

  it('fails if the answer has another shape, which is logged', async () => {
    const asked = ask();
    connection.receiveMessage({ type: 'reply', id: 1, result: { ok: 'yes' } });
    await expect(asked).rejects.toThrow('no answer');
    expect(posted.at(-1)).toMatchObject({ type: 'log' });
  });
});

describe('states that the extension host sends to the panel', () => {
  it('are ignored if they are older than the current one', () => {
    const store = new PanelStore();
    const reported = vi.fn();
    store.subscribe(reported);
    const take = (message: object): void => {
      connection.receiveMessage(message);
      for (const event of events.splice(0)) store.applyEvent(event);
    };
    take({ type: 'state', state: state(9) });
    expect(store.get()).toBeUndefined();
    take(welcome(3));
    take({ type: 'state', state: state(5) });
    take({ type: 'state', state: state(4) });
    expect(store.get()?.state.revision).toBe(5);
    expect(reported).toHaveBeenCalledTimes(2);
    take({ type: 'reveal', section: 'smart' });
    take({ type: 'reveal', section: 'smart' });
    expect(store.get()?.wanted).toEqual({ section: 'smart', number: 2 });
  });
});

it('10,000 malformed messages to the panel change nothing, and each is logged', () => {
  const store = new PanelStore();
  connection.receiveMessage(welcome());
  for (const event of events.splice(0)) store.applyEvent(event);
  const before = store.get();
  const junk = fc.oneof(fc.constantFrom<unknown>(undefined, null, 0, '', [], {}, true), fc.anything({ maxDepth: 2 }));
  const keys = fc.constantFrom('type', 'revision', 'settings', 'profiles', 'editorModels', 'schemas', 'texts');
  const spoilt = fc.tuple(keys, junk).map(([key, wrong]) => {
    // Replaces a value that happens to be valid.
    const value = typeof wrong === 'object' || (typeof wrong === 'number' && wrong >= 0) ? -1 : wrong;
    return key === 'revision' || key === 'settings' || key === 'profiles' || key === 'editorModels'
      ? { type: 'state', state: { ...state(7), [key]: value } }
      : { ...welcome(7), [key]: value };
  });
  const extra = junk.map((wrong) => ({ type: 'state', state: state(7), surplus: wrong }));
  const unnumbered = junk
    .filter((value) => !(Number.isInteger(value) && Number(value) >= 0))
    .map((revision) => ({ type: 'previewChanged', revision }));
  let count = 0;
  fc.assert(
    fc.property(fc.oneof(junk, spoilt, extra, unnumbered), (message) => {
      count++;
      connection.receiveMessage(message);
    }),
  );
  for (const event of events.splice(0)) store.applyEvent(event);
  expect(store.get()).toBe(before);
  expect(posted.filter(({ type }) => type === 'log')).toHaveLength(count);
});
