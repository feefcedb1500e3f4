import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type Fields,
  assistant,
  makeToolUse,
  jsonl,
  result,
  makeTextBlock,
  user,
} from '../../test/fixtures/conversations/claudeCodeLines';
import { isLong } from '../../test/support/long';
import { readConversationFile } from '../conversations/readFile';
import type { ReadOptions } from '../conversations/types';
import { EngineDiedError, EngineThread } from './engineThread';
import { readConversation, readConversationOnce } from './readConversation';

let folder: string;
let workerPath: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'reader-worker-'));
  workerPath = join(folder, 'engine.cjs');
  await build({
    entryPoints: [join(import.meta.dirname, 'worker.ts')],
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'node22',
    outfile: workerPath,
    logLevel: 'error',
  });
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

const file = (name: string, content: string): string => {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
};
const worker = (name: string, code: string): string => file(name, code);
const read = (
  path: string,
  { bundle = workerPath, signal, ...options }: ReadOptions & { bundle?: string; signal?: AbortSignal } = {},
) => readConversationOnce(bundle, path, options, signal ?? new AbortController().signal);

const KILLS = isLong ? 100 : 20;

/** Creates a session of about this size with realistic result lengths. */
function largeSession(bytes: number): string {
  const words = 'const value = compute(input, { depth: 3 }); // "quoted" \\ and\ttabbed\n'.repeat(60);
  const chunks = [jsonl(user('u', null, 'a long task'))];
  let size = 0;
  let leaf = 'u';
  for (let n = 0; size < bytes; n += 1) {
    const records: Fields[] = [
      assistant(`a${n}`, leaf, `m${n}`, makeTextBlock(`step ${n}`)),
      assistant(`b${n}`, `a${n}`, `m${n}`, makeToolUse(`t${n}`)),
      user(`r${n}`, `b${n}`, [result(`t${n}`, words)], { toolUseResult: { stdout: words } }),
    ];
    leaf = `r${n}`;
    const chunk = jsonl(...records);
    size += chunk.length;
    chunks.push(chunk);
  }
  return chunks.join('');
}

describe('parsing a conversation in a worker', () => {
  it('gives the same result as parsing in this thread', async () => {
    const path = file(
      'body.json',
      '{"system":"x","__proto__":{"a":1},"messages":[{"role":"user","content":"hi","__proto__":{"b":1}}]}',
    );
    const conversation = await read(path);
    expect(JSON.stringify(conversation)).toBe(JSON.stringify(readConversationFile(path)));
    expect(Object.hasOwn(conversation.messages[0]!, '__proto__')).toBe(true);
  });

  it('passes on options and errors', async () => {
    const path = file('torn.jsonl', '{"type":"us');
    await expect(read(path)).rejects.toMatchObject({
      name: 'ConversationReadError',
      problem: 'truncated',
      line: 1,
      source: path,
    });
    const compacted = [
      { type: 'session_meta', payload: { id: 's' } },
      { type: 'response_item', payload: { type: 'message', role: 'user', content: 'one' } },
      {
        type: 'compacted',
        payload: { message: '', replacement_history: [{ type: 'message', role: 'user', content: 'two' }] },
      },
    ];
    const codex = file('codex.jsonl', jsonl(...compacted));
    const texts = async (history: 'active' | 'all') => JSON.stringify((await read(codex, { history })).messages);
    expect(await texts('active')).not.toBe(await texts('all'));
  });

  it('reads 20 MB while this thread keeps running', async () => {
    const path = file('large.jsonl', largeSession(20e6));
    let turns = 0;
    const ticks = setInterval(() => turns++, 1);
    const { messages } = await read(path);
    clearInterval(ticks);
    expect(messages.length).toBeGreaterThan(3000);
    // If this thread did the reading, its event loop would run only two turns.
    expect(turns).toBeGreaterThan(2);
  });

  it('survives deep nesting', async () => {
    const deep = '['.repeat(100_000) + ']'.repeat(100_000);
    await expect(read(file('deep.json', `[${deep}]`))).rejects.toMatchObject({
      problem: 'wrong-shape',
    });
  });
});

describe('cancelling a worker', () => {
  it("ends it at once with the signal's reason", async () => {
    const endless = worker('endless.cjs', 'for (;;) {}');
    const controller = new AbortController();
    const reason = new Error('enough');
    setTimeout(() => {
      controller.abort(reason);
    }, 100);
    // The call can reject only if the worker is not awaited.
    await expect(read('/x', { bundle: endless, signal: controller.signal })).rejects.toBe(reason);
  });

  it('beforehand starts no worker', async () => {
    await expect(read('/x', { bundle: '/missing', signal: AbortSignal.abort() })).rejects.toMatchObject({
      name: 'AbortError',
    });
  });
});

describe('a worker that fails', () => {
  it.each([
    ['throws', 'throw new Error("boom")', 'a reader that failed: boom'],
    ['ends without an answer', '', 'ended with code 0 before it answered'],
    ['is killed', 'process.exit(3)', 'ended with code 3 before it answered'],
  ])('because it %s causes a clear error', async (name, code, words) => {
    const path = worker(`${name}.cjs`, code);
    await expect(read('/x', { bundle: path })).rejects.toMatchObject({
      problem: 'worker',
      found: expect.stringContaining(words) as unknown,
    });
  });

  it('because its bundle is missing causes a clear error', async () => {
    await expect(read('/x', { bundle: join(folder, 'gone.cjs') })).rejects.toMatchObject({
      problem: 'worker',
    });
  });

  it('because it runs out of memory says so', async () => {
    const thread = {
      get engine(): never {
        throw new EngineDiedError('heap', true);
      },
    };
    await expect(readConversation(thread, '/x', {}, new AbortController().signal)).rejects.toThrow(
      'does not fit into memory',
    );
  });
});

describe('the engine’s thread', () => {
  it('restarts after a death, stops after two deaths within a minute, and continues when asked to', async () => {
    let now = 0;
    const deaths: boolean[] = [];
    const bundle = file(
      'dies.cjs',
      "require('node:worker_threads').parentPort.once('message', () => process.exit(3));",
    );
    const thread = new EngineThread({ bundle, now: () => now, onDeath: (_error, rests) => deaths.push(rests) });
    const ask = () => thread.engine.read('/x', {});
    await expect(ask()).rejects.toThrow('ended with code 3');
    now += 60_000;
    await expect(ask()).rejects.toThrow('ended with code 3');
    now += 59_999;
    await expect(ask()).rejects.toThrow('ended with code 3');
    expect(deaths).toEqual([false, false, true]);
    expect(ask).toThrow(EngineDiedError);
    expect(deaths).toHaveLength(3);
    thread.wakeThread();
    await expect(ask()).rejects.toThrow('ended with code 3');
    expect(deaths).toEqual([false, false, true, false]);
  });

  it('answers again after each of many kills in the middle of a task, and leaves no question pending', async () => {
    const path = file('again.jsonl', largeSession(200_000));
    const whole = JSON.stringify(readConversationFile(path));
    const thread = new EngineThread({ bundle: workerPath });
    const signal = new AbortController().signal;
    for (let kill = 0; kill < KILLS; kill++) {
      const asked = readConversation(thread, path, {}, signal);
      if (kill % 3 > 0) await new Promise((resolve) => setTimeout(resolve, Math.random() * 20));
      thread.endThread();
      await asked.then(
        (conversation) => {
          expect(JSON.stringify(conversation)).toBe(whole);
        },
        (error: unknown) => {
          expect(error).toMatchObject({ problem: 'worker' });
        },
      );
    }
    expect(JSON.stringify(await readConversation(thread, path, {}, signal))).toBe(whole);
    thread.endThread();
  });

  it('fails only the current question if it runs out of heap', async () => {
    const bundle = file(
      'full.cjs',
      "require('node:worker_threads').parentPort.once('message', () => { const all = []; for (;;) all.push(new Array(1e5).fill(all.length + 0.5)); });",
    );
    await expect(read('/x', { bundle })).rejects.toThrow('does not fit into memory');
  });
});
