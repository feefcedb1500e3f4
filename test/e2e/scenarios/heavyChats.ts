/**
 * Tests chats beyond vendors' limits: a result that is larger than the window, and images that have
 * more bytes than allowed.
 */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../../scripts/vscode.mjs';
import { noisePng } from '../../generators/noisePng';
import { createCounter } from '../../../src/core/testingCounter';
import { findMarkers } from '../../../src/core/messages/markers';
import { startAnthropicServer } from '../../servers/anthropicServer';
import { callsTool, reply } from '../../servers/behaviour';
import { isObject, objects } from '../../servers/json';
import { RECALL_TOOL } from '../../servers/longTask';
import type { RecordedRequest } from '../../servers/modelServer';
import { getBlocks, callId, findResult, scriptedAgent } from '../../servers/scriptedAgent';
import { taskRequests } from '../../servers/taskFigures';
import type { Scenario } from '../bed';
import { chatProfile, condensedOptions, KEY, openCondensedModel, PROFILE_NAME, setKey } from '../condensedModel';
import { answerText, ask, openChat, screenshot } from '../workbench/index';

const READ_PROMPT = 'Read the settings and then the journal, and tell me when the pump stood still.';
const SETTINGS = Array.from({ length: 150 }, (_, at) => `setting.${at} = ${at * 31}`).join('\n');
const FAILURE = 'entry 731: the pump of hall 7 stood still at 04:17, seal number 88213';
const WINDOW = 200_000;
const LINES = 1_900;

/**
 * Creates a text with more tokens than the window. It has few enough lines for one read by VS
 * Code's tool.
 */
const journal = (): string =>
  Array.from({ length: LINES }, (_, entry) =>
    entry === 731
      ? FAILURE
      : `entry ${entry}: ${Array.from({ length: 60 }, (_value, at) => `gauge ${at} ${(entry * 7919 + at * 104_729) % 9973}`).join(', ')}`,
  ).join('\n');

const oneResultOverTheWindow: Scenario = async (bed) => {
  const folder = bed.folder({ 'settings.txt': SETTINGS, 'journal.txt': journal() });
  const counter = createCounter();
  const read = (name: string, endLine: number) =>
    callsTool({ name: 'read_file', input: { filePath: join(folder, name), startLine: 1, endLine } });
  const inJournal = callId(0, 1);
  const answered = callId(0, 2);
  const server = await startAnthropicServer({
    apiKey: KEY,
    maxContextTokens: WINDOW,
    countTokens: (said) => counter.countText(said),
    script: scriptedAgent([
      {
        prompt: READ_PROMPT,
        steps: [
          read('settings.txt', 150),
          read('journal.txt', LINES),
          (request) => {
            const references = findMarkers(findResult(request, inJournal) ?? '').map(({ reference }) => reference);
            return callsTool({ name: RECALL_TOOL, input: { references, words: 'pump stood still' } });
          },
          (request) =>
            reply(/entry 731: .*?88213/.exec(findResult(request, answered) ?? '')?.[0] ?? 'I could not find it.'),
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
    const first = all.find((request) => findResult(request, inJournal) !== undefined);
    assert.ok(first);
    const result = findResult(first, inJournal) ?? '';
    const markers = findMarkers(result);
    // VS Code's tool also truncates results, so the size that we received is estimated from the
    // markers.
    const lines = markers.reduce((sum, { what }) => sum + Number(/^(\d+) lines/.exec(what)?.[1] ?? 0), 0);
    const tokens = Math.round((lines / LINES) * counter.countText(journal()) + counter.countText(result));
    bed.report(
      `a result of about ${tokens} tokens was sent with ${counter.countText(result)}; statuses ${all.map(({ status }) => status).join(', ')}; ${markers.map(({ what }) => what).join(' | ')}`,
    );
    assert.ok(tokens > 300_000);
    assert.deepEqual([...new Set(all.map(({ status }) => status))], [200], 'nothing is refused');
    assert.match(markers[0]?.what ?? '', /too large for the window/);
    assert.ok(findResult(first, callId(0, 0))?.includes(SETTINGS), 'what came before stays whole');
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

const LOOK_PROMPT = 'Take a photo of each of the 42 gauges.';
const LOOKED = 'All of them were taken.';
const AGAIN_PROMPT = 'Look at the first of them once more.';
const SEEN = 'It is the same gauge.';
const PHOTOS = 42;
const AT_ONCE = 3;
/** Gemini's limit for the size of a request; other vendors allow more. */
const MAX_BYTES = 20_971_520;

const photoName = (index: number): string => `gauge-${String(index + 1).padStart(2, '0')}.png`;

/**
 * Returns the images in a request's results, as base64.
 * @param id ID of the call. Default: all calls.
 */
const imagesIn = ({ body }: RecordedRequest, id?: string): unknown[] =>
  objects(body['messages'])
    .flatMap(getBlocks)
    .filter((block) => id === undefined || block['tool_use_id'] === id)
    .flatMap(({ content }) => objects(content))
    .flatMap(({ source }) => (isObject(source) ? [source['data']] : []));

const tokensOf = ({ usage = {} }: RecordedRequest): number =>
  ['input_tokens', 'cache_read_input_tokens', 'cache_creation_input_tokens'].reduce(
    (sum, field) => sum + Number(usage[field]),
    0,
  );

const formatFigures = (request: RecordedRequest): string =>
  `${request.status} for ${(request.bytes / 1e6).toFixed(1)} MB, ${imagesIn(request).length} images${request.usage ? `, ${tokensOf(request)} tokens` : ''}`;

const moreImagesThanTheVendorTakes: Scenario = async (bed) => {
  const photos = Array.from({ length: PHOTOS }, (_, index) => noisePng(1280, 720, 607_000, index));
  const folder = bed.folder();
  for (const [index, photo] of photos.entries()) writeFileSync(join(folder, photoName(index)), photo);
  const takes = Array.from({ length: PHOTOS / AT_ONCE }, (_, step) =>
    callsTool(
      ...Array.from({ length: AT_ONCE }, (_call, at) => ({
        name: 'take_photo',
        input: { name: photoName(step * AT_ONCE + at) },
      })),
    ),
  );
  const [first, newest, recalled] = [callId(0, 0), callId(0, takes.length - 1, AT_ONCE - 1), callId(1, 0)];
  const [firstPhoto, newestPhoto] = [photos[0], photos.at(-1)].map((photo) => photo?.toString('base64'));
  const server = await startAnthropicServer({
    apiKey: KEY,
    maxContextTokens: WINDOW,
    strict: { maxBytes: MAX_BYTES },
    script: scriptedAgent([
      { prompt: LOOK_PROMPT, steps: [...takes, reply(LOOKED)] },
      {
        prompt: AGAIN_PROMPT,
        steps: [
          (request) => {
            const references = findMarkers(findResult(request, first) ?? '').map(({ reference }) => reference);
            return callsTool({ name: RECALL_TOOL, input: { references } });
          },
          (request) => reply(imagesIn(request, recalled).includes(firstPhoto) ? SEEN : 'It is gone.'),
        ],
      },
    ]),
  });
  try {
    const bench = await bed.open({
      ...condensedOptions(chatProfile(server, { contextWindow: WINDOW })),
      env: { PHOTOS: folder },
      developmentExtensions: [join(root, 'test', 'e2e', 'photo-agent')],
    });
    await setKey(bench);
    await openChat(bench, PROFILE_NAME);
    await ask(bench, `@photographer ${LOOK_PROMPT}`);
    await answerText(bench, (said) => said.includes(LOOKED), 600_000);
    await ask(bench, `@photographer ${AGAIN_PROMPT}`);
    const answer = await answerText(bench, (said) => said.includes(SEEN) || said.includes('gone'), 300_000);
    await screenshot(bench, 'agent-many-images-dark');
    const all = taskRequests(server.requests);
    bed.report(all.map(formatFigures).join('\n'));
    const answered = all.filter(({ status }) => status === 200);
    assert.equal(answered.length, takes.length + 3, 'each step was answered');
    const refused = all.filter((request) => !answered.includes(request));
    assert.deepEqual(
      refused.map(({ status, bytes }) => [status, bytes > MAX_BYTES]),
      [[413, true]],
      'the limit is learned from one refusal',
    );
    for (const request of answered) assert.ok(tokensOf(request) < 100_000);
    const [last] = answered.slice(takes.length);
    assert.ok(last);
    assert.deepEqual(imagesIn(last, newest), [newestPhoto], 'what was taken last stays');
    const [marker] = findMarkers(findResult(last, first) ?? '');
    assert.match(marker?.what ?? '', /^image 1280×720, \d+ KB, from take_photo gauge-01\.png$/);
    assert.ok(answer.includes(SEEN), 'recall gives an image back');
  } finally {
    await server.close();
  }
};

export const goesOnWithMoreImagesThanTheVendorTakes: Scenario = Object.assign(moreImagesThanTheVendorTakes, {
  seconds: 120,
  lane: 'long' as const,
});
