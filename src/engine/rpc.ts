/**
 * Each side exposes an object of async methods and calls the other's through a proxy. Arguments and
 * results are cloned. An argument that is an `AbortSignal` or a function works until the call is
 * answered. Errors keep their fields, and their class if it is listed in `errors`.
 */
import type { Transferable } from 'node:worker_threads';

/** The common part of `Worker`, `parentPort` and `MessagePort`. */
export interface MessagePortLike {
  postMessage(message: unknown, transfer?: readonly Transferable[]): void;
  on(event: 'message', listener: (message: RpcMessage) => void): unknown;
}

/** Objects whose methods all return promises, or with groups of such methods. */
export type RemotelyCallable<T> = {
  readonly [K in keyof T]: T[K] extends (...args: never[]) => Promise<unknown>
    ? T[K]
    : T[K] extends (...args: never[]) => unknown
      ? never
      : RemotelyCallable<T[K]>;
};

/** Errors are rebuilt from own fields, so these classes must not have `#private` ones. */
export type ErrorClasses = Readonly<Record<string, { readonly prototype: Error }>>;

type CallableMethod = (...args: readonly unknown[]) => unknown;

type EncodedArgument =
  | { readonly value: unknown }
  | { readonly callback: number }
  | { readonly signal: number; readonly flag: Int32Array };

type EncodedError =
  | {
      readonly name: string;
      readonly message: string;
      readonly stack: string | undefined;
      readonly fields: object;
      readonly cause?: EncodedError;
    }
  | { readonly thrown: unknown };

export type RpcMessage =
  /** `target` is the path of a method or the ID of a callback. */
  | {
      readonly type: 'call';
      readonly id: number;
      readonly target: string | number;
      readonly args: readonly EncodedArgument[];
    }
  | { readonly type: 'answer'; readonly id: number; readonly value: unknown }
  | { readonly type: 'failed'; readonly id: number; readonly error: EncodedError }
  | { readonly type: 'abort'; readonly signal: number };

const transferLists = new WeakMap<object, readonly Transferable[]>();

/**
 * Marks buffers or ports in a value to be moved to the other thread instead of copied.
 * @returns the value
 */
export function attachTransferList<T extends object>(value: T, list: readonly Transferable[]): T {
  transferLists.set(value, list);
  return value;
}

const collectTransferLists = (values: readonly unknown[]): readonly Transferable[] =>
  values.flatMap((value) => (typeof value === 'object' && value !== null ? (transferLists.get(value) ?? []) : []));

/** @typeParam Remote type of the object that the other end exposes */
export class RpcConnection<Remote extends RemotelyCallable<Remote>> {
  readonly remote: Remote;
  private readonly local: object;
  private readonly calls = new Map<number, PromiseWithResolvers<unknown>>();
  private readonly callbacks = new Map<number, CallableMethod>();
  /** Controllers of local signals, by the ID of the other side's signal that they follow. */
  private readonly controllersBySignal = new Map<number, AbortController>();
  private lastId = 0;
  private closeError: Error | undefined;

  /** @param expose creates the object that the other end may call */
  constructor(
    private readonly port: MessagePortLike,
    expose: (remote: Remote) => object,
    private readonly errors: ErrorClasses = {},
  ) {
    // The proxy accepts every path. Its type restricts paths to what the other side exposes.
    this.remote = this.createProxy('') as Remote;
    this.local = expose(this.remote);
    port.on('message', (message) => {
      this.receiveMessage(message);
    });
  }

  get pendingCallCount(): number {
    return this.calls.size;
  }

  /** Rejects all pending and future calls with this error. */
  close(error: Error): void {
    this.closeError = error;
    for (const { reject } of this.calls.values()) reject(error);
    for (const controller of this.controllersBySignal.values()) controller.abort(error);
  }

  private createProxy(path: string): object {
    const proxyByKey = new Map<string, object>();
    return new Proxy((): void => undefined, {
      get: (_target, key) => {
        // A proxy must not look like a promise: async functions check whether a returned value has
        // `then`.
        if (typeof key !== 'string' || key === 'then') return undefined;
        const childProxy = proxyByKey.get(key) ?? this.createProxy(path === '' ? key : `${path}.${key}`);
        proxyByKey.set(key, childProxy);
        return childProxy;
      },
      apply: (_target, _this, args: readonly unknown[]) => this.callRemote(path, args),
    });
  }

  private async callRemote(target: string | number, args: readonly unknown[]): Promise<unknown> {
    const signals = args.filter((arg) => arg instanceof AbortSignal);
    for (const signal of signals) signal.throwIfAborted();
    if (this.closeError) throw this.closeError;
    const id = ++this.lastId;
    const pendingCall = Promise.withResolvers<unknown>();
    const cleanups: (() => void)[] = [];
    this.calls.set(id, pendingCall);
    try {
      const encodedArguments = args.map((arg) => this.encodeArgument(arg, pendingCall.reject, cleanups));
      this.postMessage({ type: 'call', id, target, args: encodedArguments }, collectTransferLists(args));
      return await pendingCall.promise;
    } finally {
      this.calls.delete(id);
      for (const cleanup of cleanups) cleanup();
    }
  }

  private encodeArgument(arg: unknown, reject: (reason: unknown) => void, cleanups: (() => void)[]): EncodedArgument {
    const id = ++this.lastId;
    if (typeof arg === 'function') {
      this.callbacks.set(id, arg as CallableMethod);
      cleanups.push(() => this.callbacks.delete(id));
      return { callback: id };
    }
    if (!(arg instanceof AbortSignal)) return { value: arg };
    const flag = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
    const abort = (): void => {
      Atomics.store(flag, 0, 1);
      this.postMessage({ type: 'abort', signal: id });
      // The caller does not wait for the other side to cancel.
      reject(arg.reason);
    };
    arg.addEventListener('abort', abort);
    cleanups.push(() => {
      arg.removeEventListener('abort', abort);
    });
    return { signal: id, flag };
  }

  private receiveMessage(message: RpcMessage): void {
    switch (message.type) {
      case 'call':
        void this.answerCall(message);
        return;
      case 'answer':
        this.calls.get(message.id)?.resolve(message.value);
        return;
      case 'failed':
        this.calls.get(message.id)?.reject(this.decodeError(message.error));
        return;
      case 'abort':
        this.controllersBySignal.get(message.signal)?.abort();
    }
  }

  private async answerCall({ id, target, args }: Extract<RpcMessage, { type: 'call' }>): Promise<void> {
    const signals = args.flatMap((arg) => ('signal' in arg ? [arg.signal] : []));
    try {
      const value = await this.runMethod(
        target,
        args.map((arg) => this.decodeArgument(arg)),
      );
      this.postMessage({ type: 'answer', id, value }, collectTransferLists([value]));
    } catch (error) {
      this.answerWithError(id, error);
    } finally {
      for (const signal of signals) this.controllersBySignal.delete(signal);
    }
  }

  private runMethod(target: string | number, args: readonly unknown[]): unknown {
    if (typeof target === 'number') return this.callbacks.get(target)?.(...args);
    let owner: unknown = undefined;
    let member: unknown = this.local;
    for (const key of target.split('.')) {
      owner = member;
      member = Reflect.get(Object(member) as object, key);
    }
    if (typeof member !== 'function') throw new Error(`The other thread has no method "${target}".`);
    return Reflect.apply(member, owner, args) as unknown;
  }

  private decodeArgument(arg: EncodedArgument): unknown {
    if ('value' in arg) return arg.value;
    if ('signal' in arg) return this.createLinkedSignal(arg.signal, arg.flag);
    return (...args: readonly unknown[]): Promise<unknown> => {
      const answer = this.callRemote(arg.callback, args);
      // Progress callbacks don't await the answer, so its error (the call has ended) is ignored.
      answer.catch(() => undefined);
      return answer;
    };
  }

  /**
   * Creates a signal that follows the other side's. Also polls a shared flag, so that synchronous
   * code notices the abort.
   */
  private createLinkedSignal(id: number, flag: Int32Array): AbortSignal {
    const controller = new AbortController();
    const { signal } = controller;
    const abortIfFlagged = (): void => {
      if (Atomics.load(flag, 0) === 1) controller.abort();
    };
    Object.defineProperties(signal, {
      aborted: {
        get: () => {
          abortIfFlagged();
          return Reflect.get(AbortSignal.prototype, 'aborted', signal);
        },
      },
      // Overridden too, because the built-in method does not use the `aborted` defined above.
      throwIfAborted: {
        value: () => {
          abortIfFlagged();
          AbortSignal.prototype.throwIfAborted.call(signal);
        },
      },
    });
    this.controllersBySignal.set(id, controller);
    return signal;
  }

  private answerWithError(id: number, error: unknown): void {
    try {
      this.postMessage({ type: 'failed', id, error: encodeError(error) });
    } catch {
      // One of the error's fields can't be cloned.
      const { name, message, stack } = error instanceof Error ? error : new Error(String(error));
      this.postMessage({ type: 'failed', id, error: { name, message, stack, fields: {} } });
    }
  }

  private decodeError(encoded: EncodedError): unknown {
    if ('thrown' in encoded) return encoded.thrown;
    const { name, message, stack, fields, cause } = encoded;
    const error = new Error(message, cause && { cause: this.decodeError(cause) });
    const errorClass = this.errors[name];
    if (errorClass) Object.setPrototypeOf(error, errorClass.prototype);
    return Object.assign(Object.defineProperty(error, 'name', { value: name, configurable: true, writable: true }), {
      ...fields,
      stack,
    });
  }

  private postMessage(message: RpcMessage, transferred: readonly Transferable[] = []): void {
    if (!this.closeError) this.port.postMessage(message, transferred);
  }
}

function encodeError(error: unknown): EncodedError {
  if (!(error instanceof Error)) return { thrown: error };
  const { name, message, stack, cause } = error;
  // Takes own enumerable fields; message, stack and cause are not enumerable.
  const fields = Object.fromEntries(Object.entries(error));
  return { name, message, stack, fields, ...(cause !== undefined && { cause: encodeError(cause) }) };
}
