/** Chats that weigh more than a vendor takes, in the real VS Code: a result larger than its window, more images than its bytes (issue 21). */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { noisePng } from '../../generators/noisePng';
import { freshCounter } from '../../../src/core/testingCounter';
import { findMarkers } from '../../../src/core/messages/markers';
import { startAnthropicServer } from '../../servers/anthropicServer';
import { callsTool, reply } from '../../servers/behaviour';
import { isObject, objects, type Json } from '../../servers/json';
import { RECALL_TOOL } from '../../servers/longTask';
import type { RecordedRequest } from '../../servers/modelServer';
import { blocksOf, callId, resultOf, scriptedAgent } from '../../servers/scriptedAgent';
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

const LOOK_PROMPT = 'Look at all screenshots of the hall, one after the other.';
const LOOKED = 'I have seen all of them.';
const SEEN = 'It is the same hall.';
const AGAIN_PROMPT = 'Look at the first of them once more.';
const SHOTS = 42;
const AT_ONCE = 3;
/** Gemini's limit; other vendors' are larger. */
const MAX_BYTES = 20_971_520;

const shotName = (index: number): string => `hall-${String(index + 1).padStart(2, '0')}.png`;
const images = (request: RecordedRequest): Json[] =>
  objects(request.body['messages'])
    .flatMap(blocksOf)
    .flatMap((block) => [block, ...objects(block['content'])])
    .filter(({ type }) => type === 'image');
const dataOf = ({ source }: Json): unknown => (isObject(source) ? source['data'] : undefined);

/** The base64 of the images in the result of a call. */
const imagesIn = (request: RecordedRequest, id: string): unknown[] =>
  objects(request.body['messages'])
    .flatMap(blocksOf)
    .filter((block) => block['tool_use_id'] === id)
    .flatMap(({ content }) => objects(content))
    .map(dataOf);

const moreImagesThanTheVendorTakes: Scenario = async (bed) => {
  const folder = bed.folder();
  const shots = Array.from({ length: SHOTS }, (_, index) => noisePng(1280, 720, 607_000, index));
  for (const [index, shot] of shots.entries()) writeFileSync(join(folder, shotName(index)), shot);
  const view = (index: number) => ({ name: 'view_image', input: { filePath: join(folder, shotName(index)) } });
  const firstShot = callId(0, 0);
  const recalled = callId(1, 0);
  const looks = Array.from({ length: SHOTS / AT_ONCE }, (_, step) =>
    callsTool(...Array.from({ length: AT_ONCE }, (_call, at) => view(step * AT_ONCE + at))),
  );
  const server = await startAnthropicServer({
    apiKey: KEY,
    maxContextTokens: WINDOW,
    strict: { maxBytes: MAX_BYTES },
    script: scriptedAgent([
      { prompt: LOOK_PROMPT, steps: [...looks, reply(LOOKED)] },
      {
        prompt: AGAIN_PROMPT,
        steps: [
          (request) => {
            const references = findMarkers(resultOf(request, firstShot) ?? '').map(({ reference }) => reference);
            return callsTool({ name: RECALL_TOOL, input: { references } });
          },
          (request) => reply(imagesIn(request, recalled).includes(shots[0]?.toString('base64')) ? SEEN : 'It is gone.'),
        ],
      },
    ]),
  });
  try {
    const bench = await openCondensedModel(bed, server, { folder, profile: { contextWindow: WINDOW } });
    await openChat(bench, PROFILE_NAME);
    await ask(bench, LOOK_PROMPT);
    await answerText(bench, (said) => said.includes(LOOKED), 900_000);
    await ask(bench, AGAIN_PROMPT);
    const answer = await answerText(bench, (said) => said.includes(SEEN) || said.includes('gone'), 300_000);
    await screenshot(bench, 'agent-many-images-dark');
    const all = taskRequests(server.requests);
    const answered = all.filter(({ status }) => status === 200);
    const refused = all.filter(({ status }) => status !== 200);
    const tokens = ({ usage = {} }: RecordedRequest): number =>
      ['input_tokens', 'cache_read_input_tokens', 'cache_creation_input_tokens'].reduce(
        (sum, field) => sum + Number(usage[field]),
        0,
      );
    const megabytes = ({ bytes }: RecordedRequest): string => (bytes / 1e6).toFixed(1);
    bed.report(
      `${SHOTS} screenshots of ${(shots.reduce((sum, { length }) => sum + (length * 4) / 3, 0) / 1e6).toFixed(0)} MB as base64; requests of ${answered.map((request) => `${megabytes(request)} MB with ${images(request).length} images, ${tokens(request)} tokens`).join('; ')}; refused: ${refused.map((request) => `${request.status} for ${megabytes(request)} MB`).join(', ')}`,
    );
    assert.ok(answered.length >= looks.length + 3, 'each step was answered');
    assert.deepEqual(
      refused.map(({ status }) => status),
      [413],
      'the limit is learned from one refusal',
    );
    for (const request of answered) assert.ok(tokens(request) < 100_000);
    // Of what was looked at last nothing is left out.
    const last = answered.findLast((request) => resultOf(request, callId(0, looks.length - 1)) !== undefined);
    assert.ok(last);
    const shown = new Set(images(last).map(dataOf));
    for (const shot of shots.slice(-AT_ONCE)) assert.ok(shown.has(shot.toString('base64')));
    const [marker] = findMarkers(resultOf(last, firstShot) ?? '');
    assert.match(marker?.what ?? '', /^image 1280×720, \d+ KB, from view_image .*hall-01\.png$/);
    assert.ok(answer.includes(SEEN), 'recall gives the image back');
  } finally {
    await server.close();
  }
};

export const goesOnWithMoreImagesThanTheVendorTakes: Scenario = Object.assign(moreImagesThanTheVendorTakes, {
  seconds: 120,
  lane: 'long' as const,
});
