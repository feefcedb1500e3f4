/**
 * A window that pays four cents per call, with a limit of ten cents per day. It prints "asked"
 * after each call, and kills itself after a reservation, before or after the call.
 */
import { appendFileSync, writeSync } from 'node:fs';
import type { Summarizer } from '../../src/core/condense/summarizer';
import { createLimitedSummarizer } from '../../src/storage/limitedSummarizer';
import { Spending } from '../../src/storage/spending';

const [path = '', asked = '', task] = process.argv.slice(2);

function die(): never {
  process.kill(process.pid, 'SIGKILL');
  for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
}

/** A vendor that records what was paid. */
const vendor: Summarizer = {
  model: {
    profile: 'P',
    vendor: 'v',
    model: 'm',
    accounting: 'anthropic',
    tokenFactor: 1,
    prices: { input: { base: 0 }, output: { base: 40 } },
    billing: 'per-token',
    cacheLifetime: 'none',
  },
  summarize: () => {
    if (task === 'die before the call') die();
    appendFileSync(asked, '0.04\n');
    if (task === 'die after the call') die();
    return Promise.resolve({ kind: 'complete', text: 'x', usage: undefined, cost: 0.04, timeMs: 1 });
  },
};

writeSync(1, 'ready\n');
await new Promise((resolve) => process.stdin.once('data', resolve));
process.stdin.destroy();
const limitedSummarizer = createLimitedSummarizer(vendor, {
  spending: new Spending(path, { timing: { wait: 60_000, silence: 10_000, heartbeat: 500 } }),
  limits: () => ({ perConversation: 0, perDay: 0.1 }),
  count: (text) => text.length,
});
for (let call = 0; call < 5; call++) {
  const reply = await limitedSummarizer.summarize(
    { system: '', prompt: 'x', maxOutputTokens: 1_000 },
    { conversation: 'c' },
  );
  writeSync(1, `${reply.kind}\n`);
}
