/**
 * Measures the overhead of sixty summaries of single contents, six at a time. The server answers
 * after 200 ms.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { createAnthropicHandler } from '../../src/api/anthropic';
import { createSummarizer } from '../../src/api/summarizer';
import { createSmartProvider } from '../../src/core/condense/providers/smart';
import { SUITE_RUNS as CALLS, suiteRuns, SUMMARIZE_RESULTS } from '../fixtures/suiteRuns';
import { startAnthropicServer } from '../servers/anthropicServer';
import { reply } from '../servers/behaviour';
import { freshCounter, median } from './measure';
import { millis, table } from './table';

const PARALLEL = SUMMARIZE_RESULTS.parallelCalls;
const ANSWER_MS = 200;
const RUNS = 5;
const MODEL = 'claude-sonnet-4-20250514';

export interface CallsMeasurement {
  /** Wall time in milliseconds, median. */
  readonly timeMs: number;
  /** CPU time in milliseconds, including the server. */
  readonly cpuMs: number;
  /** Milliseconds that were spent waiting for the server. */
  readonly waitingMs: number;
}

export async function benchCalls(): Promise<CallsMeasurement> {
  const messages = suiteRuns();
  const server = await startAnthropicServer({
    script: async () => {
      await delay(ANSWER_MS);
      return reply('All tests of the suite pass, and nothing else was found in it.');
    },
  });
  const times: number[] = [];
  const cpuTimes: number[] = [];
  try {
    for (let run = 0; run <= RUNS; run++) {
      const counter = freshCounter();
      const handler = createAnthropicHandler({
        baseUrl: server.url,
        apiKey: 'sk-test-key',
        counter,
        model: { id: MODEL, contextWindow: 200_000 },
      });
      const summarizer = createSummarizer({ profile: 'Bench', handler });
      const provider = createSmartProvider({ select: () => ({ summarizer, chosen: 'condensing-profile' }) });
      const checked = provider.validateConfig(SUMMARIZE_RESULTS);
      if (!checked.valid) throw new Error(JSON.stringify(checked.problems));
      counter.countMessages(messages);
      const [started, cpuStarted] = [performance.now(), process.cpuUsage()];
      const { calls = [] } = await provider.condense({ messages, edits: [], counter }, checked.config, {});
      if (calls.length !== CALLS) throw new Error(`${calls.length} calls were made, not ${CALLS}`);
      // The first run is not measured, because it loads the vendor's SDK.
      if (run === 0) continue;
      times.push(performance.now() - started);
      const { user: own, system } = process.cpuUsage(cpuStarted);
      cpuTimes.push((own + system) / 1_000);
    }
  } finally {
    await server.close();
  }
  return { timeMs: median(times), cpuMs: median(cpuTimes), waitingMs: (CALLS / PARALLEL) * ANSWER_MS };
}

export const callsTable = ({ timeMs, cpuMs, waitingMs }: CallsMeasurement): string =>
  table(
    ['calls', 'at once', 'waiting', 'time', 'processor'],
    [[CALLS, PARALLEL, millis(waitingMs), millis(timeMs), millis(cpuMs)]],
  );
