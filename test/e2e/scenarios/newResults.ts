/** Tests that new results are condensed before they are sent, and that the agent recalls them. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { createCounter } from '../../../src/core/testingCounter';
import { findMarkers } from '../../../src/core/messages/markers';
import { startAnthropicServer } from '../../servers/anthropicServer';
import { callsTool, reply } from '../../servers/behaviour';
import { PRICES, RECALL_TOOL } from '../../servers/longTask';
import type { RecordedRequest } from '../../servers/modelServer';
import { callId, findResult, scriptedAgent } from '../../servers/scriptedAgent';
import { taskFigures, taskRequests } from '../../servers/taskFigures';
import type { SharedScenarios, SharedScenario } from '../bed';
import { chatWindow, KEY, newChat } from '../condensedModel';
import { answerText, ask, screenshot } from '../workbench/index';

const READ_PROMPT = 'Read the rates, up to line 120, and then from line 41 on.';
const READ = 'I have read the rates.';
const QUESTION = 'What is rate 77, by the second reading?';
const NOTHING_LEFT_OUT = 'Nothing was left out of the second reading.';

const RATES = Array.from(
  { length: 160 },
  (_, at) => `export const RATE_${at + 1} = ${(at + 1) * 7919}; // row ${at + 1}`,
);
/** First line of the second read, which has lines 41 to 160; 80 of them are in the first read. */
const FROM = 41;

const computeHash = (text: string): string => createHash('sha256').update(text).digest('hex');

/** Returns the marker in the second read, if there is one. */
function leftOut(request: RecordedRequest) {
  const text = findResult(request, callId(0, 1)) ?? '';
  const [marker] = findMarkers(text);
  return marker && { ...marker, text };
}

/** Returns the recalled text without its first line, `[ref …]`. */
const recalled = (request: RecordedRequest): string =>
  (findResult(request, callId(1, 0)) ?? '').replace(/^\[ref [^\n]*\]\n/, '');

const isRecalledByTheAgent: SharedScenario = async (bench, bed) => {
  const { folder = '' } = bench;
  const read = (startLine: number, endLine: number) =>
    callsTool({ name: 'read_file', input: { filePath: join(folder, 'rates.ts'), startLine, endLine } });
  const counter = createCounter();
  const server = await startAnthropicServer({
    apiKey: KEY,
    countTokens: (text) => counter.countText(text),
    script: scriptedAgent([
      { prompt: READ_PROMPT, steps: [read(1, 120), read(FROM, RATES.length), reply(READ)] },
      {
        prompt: QUESTION,
        steps: [
          (request) => {
            const reference = leftOut(request)?.reference;
            return reference === undefined
              ? reply(NOTHING_LEFT_OUT)
              : callsTool({ name: RECALL_TOOL, input: { references: [reference] } });
          },
          (request) => reply(/^.*RATE_77 .*$/m.exec(recalled(request))?.[0] ?? 'I could not find it.'),
        ],
      },
    ]),
  });
  try {
    await newChat(bench, server, {
      files: { 'rates.ts': `${RATES.join('\n')}\n` },
      profile: { contextWindow: 200_000 },
    });
    await ask(bench, READ_PROMPT);
    await answerText(bench, (text) => text.includes(READ));
    await ask(bench, QUESTION);
    assert.match(await answerText(bench, (text) => !text.includes(READ)), /RATE_77 = 609763/);
    await screenshot(bench, 'agent-new-result-recalled-dark');

    const asked = taskRequests(server.requests).find((request) => findResult(request, callId(0, 1)) !== undefined);
    const answered = taskRequests(server.requests).at(-1);
    assert.ok(asked && answered);
    const cut = leftOut(asked);
    assert.ok(cut, 'the second reading came with a reference when it was first sent');
    assert.match(cut.what, /^80 lines, shown in the read_file above/);
    const restored = cut.text.slice(0, cut.start) + recalled(answered) + cut.text.slice(cut.end);
    const original = RATES.slice(FROM - 1).join('\n');
    const shown = restored.slice(
      restored.indexOf(RATES[FROM - 1] ?? ''),
      restored.lastIndexOf(RATES.at(-1) ?? '') + (RATES.at(-1) ?? '').length,
    );
    assert.equal(computeHash(shown), computeHash(original), 'what was recalled has the hash of the original');

    const figures = taskFigures(server.requests, (text) => server.tokensOf(text), PRICES);
    assert.deepEqual(figures.refused, []);
    assert.deepEqual(figures.breaks, [], 'what was sent is sent again byte for byte');
    bed.report(
      `${cut.what}: ${computeHash(shown).slice(0, 12)}, ${figures.requests} requests, prefix broken ${figures.breaks.length} times`,
    );
  } finally {
    await server.close();
  }
};

export const newResults: SharedScenarios = { open: chatWindow, scenarios: { isRecalledByTheAgent }, isSmoke: true };
