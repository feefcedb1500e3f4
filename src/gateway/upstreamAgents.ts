import * as http from 'node:http';
import * as https from 'node:https';
import type { Duplex } from 'node:stream';

/** Milliseconds that an idle connection is kept. */
const KEEP_ALIVE_MS = 30_000;

export type UpstreamHttpAgents = Readonly<Record<'http:' | 'https:', http.Agent>>;

export const createUpstreamAgents = (): UpstreamHttpAgents => ({
  'http:': closeSocketsOnUnsolicitedData(new http.Agent({ keepAlive: true, timeout: KEEP_ALIVE_MS })),
  'https:': closeSocketsOnUnsolicitedData(new https.Agent({ keepAlive: true, timeout: KEEP_ALIVE_MS })),
});

/**
 * Closes idle connections that receive data, which Node would treat as the next request's answer.
 */
function closeSocketsOnUnsolicitedData<T extends http.Agent>(agent: T): T {
  const listeners = new WeakMap<Duplex, () => void>();
  // Node's types omit the boolean return value.
  const keepSocketAlive = agent.keepSocketAlive.bind(agent) as (socket: Duplex) => boolean;
  const reuseSocket = agent.reuseSocket.bind(agent);
  agent.keepSocketAlive = (socket) => {
    const isKept = keepSocketAlive(socket);
    if (isKept && !listeners.has(socket)) {
      const destroySocket = (): void => void socket.destroy();
      listeners.set(socket, destroySocket);
      socket.on('data', destroySocket);
    }
    return isKept;
  };
  agent.reuseSocket = (socket, request) => {
    const destroySocket = listeners.get(socket);
    listeners.delete(socket);
    if (destroySocket) socket.off('data', destroySocket);
    reuseSocket(socket, request);
  };
  return agent;
}
