/** Makes an agent compact through its protocol, if its command line has no command for it. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Writable } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import { isObject, objects, text } from '../servers/json';

/** A running agent, as a client of its protocol sees it. */
export interface ProtocolPeer {
  readonly stdin: Writable;
  /** Its output so far. */
  readonly output: () => string;
  readonly home: string;
  /** Model and provider, as in the agent's settings. */
  readonly model: string;
  readonly seller: string;
}

export interface Compactor {
  /** The agent's arguments; `scripted` and `local` stand for model and provider. */
  readonly args: readonly string[];
  /** Resolves when the last session is compacted. */
  compact(peer: ProtocolPeer): Promise<void>;
}

const MAX_ATTEMPTS = 120;
const ATTEMPT_INTERVAL_MS = 500;

/** Waits until the agent prints something. @throws Error if it isn't printed within a minute */
async function waitForOutput(output: () => string, wanted: RegExp): Promise<RegExpExecArray> {
  for (let attempts = 0; attempts < MAX_ATTEMPTS; attempts++) {
    const found = wanted.exec(output());
    if (found) return found;
    await setTimeout(ATTEMPT_INTERVAL_MS);
  }
  throw new Error(`nothing written like ${wanted.source}`);
}

/** Uses `serve` of OpenCode and Kilo (see `/doc` of the running server, session.summarize). */
export const SERVE_COMPACTOR: Compactor = {
  args: ['serve', '--port', '0'],
  async compact({ output, model, seller }) {
    const [address] = await waitForOutput(output, /http:\/\/127\.0\.0\.1:\d+/);
    const sessions = objects(await (await fetch(`${address}/session`)).json());
    const rootSessions = sessions.filter(({ parentID }) => parentID === undefined);
    const getUpdateTime = ({ time }: (typeof rootSessions)[number]): number =>
      isObject(time) ? Number(time['updated']) : 0;
    const newestSession = rootSessions.toSorted((one, other) => getUpdateTime(other) - getUpdateTime(one))[0];
    const answer = await fetch(`${address}/session/${text(newestSession?.['id'])}/summarize`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ providerID: seller, modelID: model }),
    });
    if (!answer.ok) throw new Error(`summarize: ${answer.status} ${await answer.text()}`);
    await answer.text();
  },
};

/** Uses Pi's RPC mode (see its `docs/rpc.md`, `compact`). */
export const PI_RPC_COMPACTOR: Compactor = {
  args: ['--provider', 'local', '--model', 'scripted', '-c', '--mode', 'rpc'],
  async compact({ stdin, output }) {
    stdin.write(`${JSON.stringify({ id: 'compact', type: 'compact' })}\n`);
    await waitForOutput(output, /"id":"compact".*\n/);
  },
};

/** Uses Codex's app-server (see `codex app-server generate-ts`, ThreadCompactStartParams). */
export const CODEX_APP_SERVER_COMPACTOR: Compactor = {
  args: ['app-server'],
  async compact({ stdin, output, home }) {
    const send = (message: object): void => void stdin.write(`${JSON.stringify(message)}\n`);
    const files = readdirSync(join(home, '.codex', 'sessions'), { recursive: true }) as string[];
    const rollouts = files.filter((file) => file.endsWith('.jsonl')).sort();
    const threadId = /[0-9a-f]{8}-[0-9a-f-]{27}(?=\.jsonl$)/.exec(rollouts.at(-1) ?? '')?.[0] ?? '';
    const clientInfo = { name: 'kit', title: null, version: '1' };
    send({ id: 1, method: 'initialize', params: { clientInfo, capabilities: null } });
    await waitForOutput(output, /"id":1\b/);
    send({ method: 'initialized' });
    send({ id: 2, method: 'thread/resume', params: { threadId } });
    await waitForOutput(output, /"id":2\b/);
    send({ id: 3, method: 'thread/compact/start', params: { threadId } });
    await waitForOutput(output, /"method":"turn\/completed"/);
  },
};
