import {
  panelMethods,
  PROTOCOL_VERSION,
  messageToWebviewSchema,
  type PanelMethod,
  type MethodParams,
  type MethodResult,
  type MessageToHost,
  type MessageToWebview,
} from '../../../src/panel/protocol';

/** VS Code's interface for a webview. */
export interface VsCodeApi {
  postMessage(message: unknown): void;
  getState(): unknown;
  setState(state: unknown): void;
}

export type PanelEvent = Exclude<MessageToWebview, { type: 'reply' | 'failed' | 'progress' }>;

export interface RequestOptions {
  /** Milliseconds to wait for the answer; Infinity if the user must answer first. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
  readonly onProgress?: (done: number, of: number) => void;
}

/** The request timed out or failed on the host. */
class RequestError extends Error {
  override readonly name = 'RequestError';
}

const DEFAULT_TIMEOUT_MS = 30_000;

interface PendingRequest {
  readonly method: PanelMethod;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
  readonly onProgress: RequestOptions['onProgress'];
}

export class HostConnection {
  private readonly pendingRequests = new Map<number, PendingRequest>();
  private nextId = 1;

  /** @param formatTimeout error text for a request that timed out */
  constructor(
    private readonly host: Pick<VsCodeApi, 'postMessage'>,
    private readonly onEvent: (event: PanelEvent) => void,
    private readonly formatTimeout: () => string,
  ) {}

  sendReady(): void {
    this.postMessage({ type: 'ready', version: PROTOCOL_VERSION });
  }

  /** The host keeps this state when the page is gone. */
  sendViewState(kept: Readonly<Record<string, unknown>>): void {
    this.postMessage({ type: 'keep', kept });
  }

  sendLog(message: string): void {
    this.postMessage({ type: 'log', message: message.slice(0, 10_000) });
  }

  /** Logs and drops an invalid message. */
  receiveMessage(raw: unknown): void {
    const parsedMessage = messageToWebviewSchema.safeParse(raw);
    if (!parsedMessage.success) {
      this.sendLog('The host sent an invalid message; it was dropped.');
      return;
    }
    const message = parsedMessage.data;
    if (message.type === 'progress') {
      this.pendingRequests.get(message.id)?.onProgress?.(message.done, message.of);
      return;
    }
    if (message.type !== 'reply' && message.type !== 'failed') {
      this.onEvent(message);
      return;
    }
    const pending = this.pendingRequests.get(message.id);
    // The request timed out or was canceled.
    if (!pending) return;
    if (message.type === 'failed') {
      pending.reject(new RequestError(message.message));
      return;
    }
    const result = panelMethods[pending.method].result.safeParse(message.result);
    if (result.success) pending.resolve(result.data);
    else {
      this.sendLog(`The answer to ${pending.method} is invalid; it was dropped.`);
      pending.reject(new RequestError(this.formatTimeout()));
    }
  }

  /** @throws RequestError if the host failed or didn't answer in time; the signal's reason if aborted */
  async sendRequest<M extends PanelMethod>(
    method: M,
    params: MethodParams<M>,
    options: RequestOptions = {},
  ): Promise<MethodResult<M>> {
    const { timeoutMs = DEFAULT_TIMEOUT_MS, signal, onProgress } = options;
    signal?.throwIfAborted();
    const id = this.nextId++;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let onAbort: (() => void) | undefined;
    try {
      return await new Promise<MethodResult<M>>((resolve, reject) => {
        // `receiveMessage` has checked the result against this method's schema.
        this.pendingRequests.set(id, { method, resolve: resolve as (result: unknown) => void, reject, onProgress });
        if (Number.isFinite(timeoutMs)) {
          timer = setTimeout(() => {
            reject(new RequestError(this.formatTimeout()));
            this.postMessage({ type: 'cancel', id });
          }, timeoutMs);
        }
        onAbort = () => {
          reject(signal?.reason instanceof Error ? signal.reason : new RequestError(String(signal?.reason)));
          this.postMessage({ type: 'cancel', id });
        };
        signal?.addEventListener('abort', onAbort);
        this.postMessage({ type: 'request', id, method, params });
      });
    } finally {
      clearTimeout(timer);
      if (onAbort) signal?.removeEventListener('abort', onAbort);
      this.pendingRequests.delete(id);
    }
  }

  private postMessage(message: MessageToHost): void {
    this.host.postMessage(message);
  }
}
