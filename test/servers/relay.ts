import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** One address for one server after the other: whoever was told it once reaches the one to which it leads now. */
export interface Relay {
  readonly url: string;
  /** Leads to another server from now on; connections to the one before end. */
  leadTo(url: string): void;
  close(): Promise<void>;
}

/** On 127.0.0.1. What comes before it leads anywhere is hung up on. */
export async function startRelay(): Promise<Relay> {
  let target: URL | undefined;
  const open = new Set<Socket>();
  const hangUp = (): void => {
    for (const socket of open) socket.destroy();
  };
  const server = createServer((from) => {
    if (!target) {
      from.destroy();
      return;
    }
    const to = connect(Number(target.port), target.hostname);
    for (const [socket, other] of [
      [from, to],
      [to, from],
    ] as const) {
      open.add(socket);
      socket.on('error', () => other.destroy());
      socket.on('close', () => {
        open.delete(socket);
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
