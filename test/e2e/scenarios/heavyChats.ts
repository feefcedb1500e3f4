/** Chats that weigh more than a vendor takes, in the real VS Code: a result larger than its window (issue 21). */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { freshCounter } from '../../../src/core/testingCounter';
import { findMarkers } from '../../../src/core/messages/markers';
import { startAnthropicServer } from '../../servers/anthropicServer';
import { callsTool, reply } from '../../servers/behaviour';
import { RECALL_TOOL } from '../../servers/longTask';
import { callId, resultOf, scriptedAgent } from '../../servers/scriptedAgent';
import { taskRequests } from '../../servers/taskFigures';
import type { Scenario } from '../bed';
import { KEY, openCondensedModel, PROFILE_NAME } from '../condensedModel';
import { answerText, ask, openChat, screenshot } from '../workbench/index';

const READ_PROMPT = 'Read the settings and then the journal, and tell me when the pump stood still.';
const SETTINGS = Array.from({ length: 150 }, (_, at) => `setting.${at} = ${at * 31}`).join('\n');
const FAILURE = 'entry 731: the pump of hall 7 stood still at 04:17, seal number 88213';
const WINDOW = 200_000;
const LINES = 1_900;

/** More tokens than the window has, in no more lines than VS Code's tool reads at once. */
const journal = (): string =>
  Array.from({ length: LINES }, (_, entry) =>
    entry === 731
      ? FAILURE
      : `entry ${entry}: ${Array.from({ length: 60 }, (_value, at) => `gauge ${at} ${(entry * 7919 + at * 104_729) % 9973}`).join(', ')}`,
  ).join('\n');

const oneResultOverTheWindow: Scenario = async (bed) => {
  const folder = bed.folder({ 'settings.txt': SETTINGS, 'journal.txt': journal() });
  const counter = freshCounter();
  const read = (name: string, endLine: number) =>
    callsTool({ name: 'read_file', input: { filePath: join(folder, name), startLine: 1, endLine } });
  const inJournal = callId(0, 1);
  const answered = callId(0, 2);
  const server = await startAnthropicServer({
    apiKey: KEY,
    maxContextTokens: WINDOW,
    countTokens: (said) => counter.text(said),
    script: scriptedAgent([
      {
        prompt: READ_PROMPT,
        steps: [
          read('settings.txt', 150),
          read('journal.txt', LINES),
          (request) => {
            const references = findMarkers(resultOf(request, inJournal) ?? '').map(({ reference }) => reference);
            return callsTool({ name: RECALL_TOOL, input: { references, words: 'pump stood still' } });
          },
          (request) =>
            reply(/entry 731: .*?88213/.exec(resultOf(request, answered) ?? '')?.[0] ?? 'I could not find it.'),
        ],
      },
    ]),
  });
  try {
    const bench = await openCondensedModel(bed, server, { folder, profile: { contextWindow: WINDOW } });
    await openChat(bench, PROFILE_NAME);
    await ask(bench, READ_PROMPT);
    await answerText(bench, (said) => said.includes(FAILURE) || said.includes('could not'), 120_000);
    await screenshot(bench, 'agent-large-result-dark');
    const all = taskRequests(server.requests);
    const first = all.find((request) => resultOf(request, inJournal) !== undefined);
    assert.ok(first);
    const result = resultOf(first, inJournal) ?? '';
    const markers = findMarkers(result);
    // VS Code's tool gives as much of the file as it likes.
    const lines = markers.reduce((sum, { what }) => sum + Number(/^(\d+) lines/.exec(what)?.[1] ?? 0), 0);
    const tokens = Math.round((lines / LINES) * counter.text(journal()) + counter.text(result));
    bed.report(
      `a result of about ${tokens} tokens was sent with ${counter.text(result)}; statuses ${all.map(({ status }) => status).join(', ')}; ${markers.map(({ what }) => what).join(' | ')}`,
    );
    assert.ok(tokens > 300_000);
    assert.deepEqual([...new Set(all.map(({ status }) => status))], [200], 'nothing is refused');
    assert.match(markers[0]?.what ?? '', /too large for the window/);
    assert.ok(resultOf(first, callId(0, 0))?.includes(SETTINGS), 'what came before stays whole');
    assert.ok(!result.includes('seal number'));
    assert.ok((await answerText(bench)).includes(FAILURE), 'a search with recall finds it');
  } finally {
    await server.close();
  }
};

export const takesAResultThatIsLargerThanTheWindow: Scenario = Object.assign(oneResultOverTheWindow, {
  seconds: 60,
  lane: 'long' as const,
});
