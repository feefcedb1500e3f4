import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** Forwards connections from a stable address to changing servers. */
export interface Relay {
  readonly url: string;
  /** Switches to another server and closes all open connections. */
  leadTo(url: string): void;
  close(): Promise<void>;
}

/** Listens on 127.0.0.1, and closes connections that are made before a server is set. */
export async function startRelay(): Promise<Relay> {
  let target: URL | undefined;
  const openSockets = new Set<Socket>();
  const hangUp = (): void => {
    for (const socket of openSockets) socket.destroy();
  };
  const server = createServer((from) => {
    if (!target) {
      from.destroy();
      return;
    }
    const upstreamSocket = connect(Number(target.port), target.hostname);
    for (const [socket, other] of [
      [from, upstreamSocket],
      [upstreamSocket, from],
    ] as const) {
      openSockets.add(socket);
      socket.on('error', () => other.destroy());
      socket.on('close', () => {
        openSockets.delete(socket);
        other.destroy();
      });
      socket.pipe(other);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  server.unref();
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    leadTo(url) {
      hangUp();
      target = new URL(url);
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => {
          resolve();
        });
        hangUp();
      }),
  };
}
