/** Tests the proxy over real ports, and over a real thread if one must be busy or die. */
import { MessageChannel, Worker } from 'node:worker_threads';
import fc from 'fast-check';
import { afterEach, expect, it } from 'vitest';
import { ConversationReadError } from '../conversations/readError';
import { RpcConnection, attachTransferList } from './rpc';

const ports: { close(): void }[] = [];
afterEach(() => {
  for (const port of ports.splice(0)) port.close();
});

const exposed = {
  echo: (value: unknown): Promise<unknown> => Promise.resolve(value),
  group: { add: (a: number, b: number): Promise<number> => Promise.resolve(a + b) },
  fail: (error: () => Promise<unknown>): Promise<never> => error().then((thrown) => Promise.reject(thrown as Error)),
  refuse: (): Promise<never> =>
    Promise.reject(
      new ConversationReadError(
        { problem: 'truncated', source: '/a.jsonl', line: 3, found: 'half a line', expected: 'a line' },
        { cause: Object.assign(new Error('deep'), { code: 'EIO' }) },
      ),
    ),
  break: (): Promise<never> => Promise.reject(Object.assign(new Error('odd'), { call: () => undefined })),
  // oxlint-disable-next-line typescript/prefer-promise-reject-errors -- as code that is not ours may do
  throw: (): Promise<never> => Promise.reject('only words'),
  count: async (to: number, onStep: (step: number) => void, signal: AbortSignal): Promise<number> => {
    for (let step = 1; step <= to; step++) {
      onStep(step);
      await new Promise((resolve) => setImmediate(resolve));
      signal.throwIfAborted();
    }
    return to;
  },
  uncloneable: (): Promise<unknown> => Promise.resolve(() => undefined),
  bytes: (): Promise<ArrayBuffer> => {
    const made = new ArrayBuffer(8);
    return Promise.resolve(attachTransferList(made, [made]));
  },
};

function pair(): { readonly near: RpcConnection<typeof exposed>; readonly far: RpcConnection<object> } {
  const { port1, port2 } = new MessageChannel();
  ports.push(port1, port2);
  const far = new RpcConnection<object>(port2, () => exposed);
  return { far, near: new RpcConnection<typeof exposed>(port1, () => ({}), { ConversationReadError }) };
}

it('RPC arguments and results arrive as equal copies', () =>
  fc.assert(
    fc.asyncProperty(fc.anything({ withBigInt: true, withDate: true, withMap: true }), async (value) => {
      const { near } = pair();
      expect(await near.remote.echo(value)).toEqual(structuredClone(value));
    }),
  ));

it('an RPC method in a group is called by its path', async () => {
  expect(await pair().near.remote.group.add(2, 3)).toBe(5);
});

it('calling an unknown RPC method is an error that names it', async () => {
  const remote = pair().near.remote as unknown as { readonly group: { gone(): Promise<void> } };
  await expect(remote.group.gone()).rejects.toThrow('no method "group.gone"');
});

it('an RPC error keeps its class, fields, message and cause', async () => {
  const error: unknown = await pair()
    .near.remote.refuse()
    .catch((caught: unknown) => caught);
  expect(error).toBeInstanceOf(ConversationReadError);
  expect(error).toMatchObject({
    name: 'ConversationReadError',
    problem: 'truncated',
    line: 3,
    cause: { message: 'deep', code: 'EIO' },
  });
});

it('an RPC error with a field that can’t be cloned keeps its message, and a thrown string stays a string', async () => {
  const { near } = pair();
  await expect(near.remote.break()).rejects.toThrow('odd');
  await expect(near.remote.throw()).rejects.toBe('only words');
});

it('an RPC result or argument that can’t be cloned fails only its call', async () => {
  const { near } = pair();
  await expect(near.remote.uncloneable()).rejects.toMatchObject({ name: 'DataCloneError' });
  await expect(near.remote.echo({ nested: () => undefined })).rejects.toMatchObject({ name: 'DataCloneError' });
  expect(await near.remote.echo(1)).toBe(1);
  expect(near.pendingCallCount).toBe(0);
});

it('a function passed over RPC can be called back until the call is answered, and its error is returned', async () => {
  const { near } = pair();
  const steps: number[] = [];
  await near.remote.count(3, (step) => steps.push(step), new AbortController().signal);
  expect(steps).toEqual([1, 2, 3]);
  await expect(near.remote.fail(() => Promise.reject(new RangeError('mine')))).rejects.toThrow('mine');
});

it('a buffer marked for transfer is moved, not copied', async () => {
  const { near } = pair();
  const sent = new ArrayBuffer(16);
  expect(await near.remote.echo(attachTransferList(sent, [sent]))).toEqual(new ArrayBuffer(16));
  expect(sent.byteLength).toBe(0);
  expect(await near.remote.bytes()).toEqual(new ArrayBuffer(8));
});

it('aborting an RPC call rejects it at once with the reason and aborts the other side', async () => {
  const { near } = pair();
  const abort = new AbortController();
  const reason = new Error('enough');
  let last = 0;
  const counting = near.remote.count(
    1e9,
    (step) => {
      last = step;
      if (step === 3) abort.abort(reason);
    },
    abort.signal,
  );
  await expect(counting).rejects.toBe(reason);
  expect(last).toBe(3);
  await expect(near.remote.count(1, () => undefined, abort.signal)).rejects.toBe(reason);
  expect(near.pendingCallCount).toBe(0);
});

it('pending and later RPC calls fail if the other side is gone', async () => {
  const { near } = pair();
  const waiting = near.remote.count(1e9, () => undefined, new AbortController().signal);
  const gone = new Error('it died');
  near.close(gone);
  await expect(waiting).rejects.toBe(gone);
  await expect(near.remote.echo(1)).rejects.toBe(gone);
});

it('a busy thread that processes no messages notices an abort by a shared flag', async () => {
  // Mimics `decodeArgument` for a signal in a thread that spins until its flag is set.
  const worker = new Worker(
    `const { parentPort } = require('node:worker_threads');
     parentPort.on('message', (message) => {
       if (message.type !== 'call') return;
       const { flag } = message.args.find((arg) => 'signal' in arg);
       parentPort.postMessage({ type: 'call', id: 1, target: 'started', args: [] });
       while (Atomics.load(flag, 0) === 0);
       parentPort.postMessage({ type: 'call', id: 2, target: 'heard', args: [] });
     });`,
    { eval: true },
  );
  try {
    const abort = new AbortController();
    const heard = Promise.withResolvers<boolean>();
    const { remote } = new RpcConnection<{ spin(signal: AbortSignal): Promise<unknown> }>(worker, () => ({
      started: () => {
        abort.abort(new Error('stop'));
        return Promise.resolve();
      },
      heard: () => {
        heard.resolve(true);
        return Promise.resolve();
      },
    }));
    await expect(remote.spin(abort.signal)).rejects.toThrow('stop');
    await heard.promise;
  } finally {
    await worker.terminate();
  }
});

it('a forwarded signal can throw its abort before the abort message has arrived', async () => {
  const { port1, port2 } = new MessageChannel();
  ports.push(port1, port2);
  const abort = new AbortController();
  const heard = Promise.withResolvers<unknown>();
  const far = {
    look: async (signal: AbortSignal): Promise<void> => {
      signal.throwIfAborted();
      // Both ends are in this thread, so no message can arrive in between.
      abort.abort();
      try {
        signal.throwIfAborted();
        heard.resolve('nothing');
      } catch (error) {
        heard.resolve(error);
      }
      return Promise.resolve();
    },
  };
  new RpcConnection<object>(port2, () => far);
  const near = new RpcConnection<typeof far>(port1, () => ({}));
  await expect(near.remote.look(abort.signal)).rejects.toMatchObject({ name: 'AbortError' });
  await expect(heard.promise).resolves.toMatchObject({ name: 'AbortError' });
});

it('a forwarded signal reads as aborted before the abort message has arrived', async () => {
  const { port1, port2 } = new MessageChannel();
  ports.push(port1, port2);
  const abort = new AbortController();
  const seen: boolean[] = [];
  const far = {
    look: (signal: AbortSignal): Promise<void> => {
      seen.push(signal.aborted);
      // Both ends are in this thread, so no message can arrive in between.
      abort.abort();
      seen.push(AbortSignal.any([signal]).aborted, signal.aborted);
      return Promise.resolve();
    },
  };
  new RpcConnection<object>(port2, () => far);
  const near = new RpcConnection<typeof far>(port1, () => ({}));
  await expect(near.remote.look(abort.signal)).rejects.toMatchObject({ name: 'AbortError' });
  await expect.poll(() => seen).toEqual([false, expect.any(Boolean), true]);
});
