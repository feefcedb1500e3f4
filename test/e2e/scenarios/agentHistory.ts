/** Tests a conversation of VS Code's agent that branches after it was condensed. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { startAnthropicServer } from '../../servers/anthropicServer';
import { callsTool, reply, type Reply } from '../../servers/behaviour';
import { list, objects, text, type Json } from '../../servers/json';
import { RECALL_TOOL } from '../../servers/longTask';
import type { ModelServer, RecordedRequest } from '../../servers/modelServer';
import { scriptedAgent, type AgentTurn } from '../../servers/scriptedAgent';
import { taskRequests } from '../../servers/taskFigures';
import type { SharedScenarios, SharedScenario } from '../bed';
import { chatWindow, KEY, newChat, PROFILE_NAME } from '../condensedModel';
import { countCondensations } from '../longTask';
import { answerText, ask, editRequest, forkAt, openChat, screenshot } from '../workbench/index';
import type { Workbench } from '../workbench/index';
import { findMarkers, MARKER_START } from '../../../src/core/messages/markers';

const WINDOW = 60_000;
/** The value is so small that calibration by earlier conversations doesn't matter. */
const MAX_OUTPUT = 8_000;
const FIRST = ['alpha', 'beta', 'gamma', 'delta', 'epsilon', 'zeta'];
const PROMPTS = {
  first: 'Read the first six files',
  replaced: 'Read eta now',
  edited: 'Read theta in its place',
  recall: 'What did the oldest file say?',
};

/** Creates a file with some thousand tokens of unique lines. */
const fileText = (name: string): string =>
  Array.from({ length: 300 }, (_, line) => `export const ${name}_${line} = '${name} number ${line} of many';`).join(
    '\n',
  );

function readFiles(folder: string, names: readonly string[]): Reply[] {
  return names.map((name) => {
    const filePath = join(folder, `${name}.ts`);
    return callsTool({ name: 'read_file', input: { filePath, startLine: 1, endLine: 400 } });
  });
}

/** Returns a request's conversation without cache breakpoints. */
const getMessages = ({ body }: RecordedRequest): string[] =>
  objects(body['messages']).map((message) =>
    JSON.stringify(message, (key, value: unknown) => (key === 'cache_control' ? undefined : value)),
  );

const has = (request: RecordedRequest, words: string): boolean =>
  getMessages(request).some((each) => each.includes(words));

/** Returns the reference in the first marker. */
const oldestReference = (request: RecordedRequest): string =>
  findMarkers(getMessages(request).join('\n'))[0]?.reference ?? 'none';

const turns = (folder: string): AgentTurn[] => [
  { prompt: PROMPTS.first, steps: [...readFiles(folder, FIRST), reply('All six are read.')] },
  { prompt: PROMPTS.replaced, steps: [...readFiles(folder, ['eta']), reply('Eta is read.')] },
  { prompt: PROMPTS.edited, steps: [...readFiles(folder, ['theta']), reply('Theta is read.')] },
  {
    prompt: PROMPTS.recall,
    steps: [
      (request) => callsTool({ name: RECALL_TOOL, input: { references: [oldestReference(request)], maxTokens: 500 } }),
      reply('It is recalled.'),
    ],
  },
];

/** Runs two turns, of which the first is condensed. Checks use the last request of each turn. */
async function inTwoTurns(bench: Workbench, goOn: (server: ModelServer) => Promise<void>): Promise<void> {
  const names = [...FIRST, 'eta', 'theta'];
  const files = Object.fromEntries(names.map((name) => [`${name}.ts`, fileText(name)]));
  const script = scriptedAgent(turns(bench.folder ?? ''));
  const server = await startAnthropicServer({ apiKey: KEY, script, maxContextTokens: WINDOW });
  try {
    const settings = { 'contextCondenser.provider': 'truncation' };
    await newChat(bench, server, { files, profile: { contextWindow: WINDOW, maxOutputTokens: MAX_OUTPUT }, settings });
    const condensations = countCondensations(bench);
    await ask(bench, PROMPTS.first);
    await answerText(bench, (said) => said.includes('All six are read.'));
    assert.ok(countCondensations(bench) > condensations, 'the first turn is long enough to be condensed');
    await ask(bench, PROMPTS.replaced);
    await answerText(bench, (said) => said.includes('Eta is read.'));
    await goOn(server);
    const refused = server.requests.filter(({ status }) => status !== 200);
    assert.deepEqual(
      refused.map(({ index, status, refusal = '' }) => `${index}: ${status ?? 'no answer'} ${refusal}`),
      [],
    );
  } finally {
    await server.close();
  }
}

const lastTask = ({ requests }: ModelServer): RecordedRequest => {
  const last = taskRequests(requests).at(-1);
  assert.ok(last);
  return last;
};

/** Returns the messages before the one with this text. */
function listMessagesBefore(request: RecordedRequest, words: string): string[] {
  const messages = getMessages(request);
  const at = messages.findIndex((message) => message.includes(words));
  assert.ok(at > 0, `no message with "${words}"`);
  return messages.slice(0, at);
}

const resultText = (result: Json | undefined): string =>
  text(result?.['content']) || text(objects(result?.['content'])[0]?.['text']);

/** Checks that content that was condensed before the branch can be recalled exactly. */
async function checkRecall(bench: Workbench, server: ModelServer): Promise<void> {
  await ask(bench, PROMPTS.recall);
  await answerText(bench, (said) => said.includes('It is recalled.'));
  const results = objects(lastTask(server).body['messages']).flatMap(({ content }) => objects(list(content)));
  const recalled = resultText(results.findLast(({ type }) => type === 'tool_result'));
  const lines = recalled.match(/export const alpha_\d+ = [^;]*;/g) ?? [];
  assert.ok(lines.length > 5, recalled);
  const original = new Set(fileText('alpha').split('\n'));
  assert.deepEqual(
    lines.filter((line) => !original.has(line)),
    [],
  );
}

const goesOnAfterAnEarlierRequestWasEdited: SharedScenario = (bench) =>
  inTwoTurns(bench, async (server) => {
    const replaced = lastTask(server);
    const condensations = countCondensations(bench);
    await editRequest(bench, PROMPTS.replaced, PROMPTS.edited);
    await answerText(bench, (said) => said.includes('Theta is read.'));
    await screenshot(bench, 'agent-edited-request-dark');
    const edited = lastTask(server);
    assert.ok(!has(edited, PROMPTS.replaced) && !has(edited, 'const eta_7 '), 'what was edited away is gone');
    assert.ok(has(edited, 'const theta_7 '), 'the new turn has its own result');
    // The common part is identical byte for byte: its edits are kept, and the vendor's cache is
    // used.
    assert.deepEqual(listMessagesBefore(edited, PROMPTS.edited), listMessagesBefore(replaced, PROMPTS.replaced));
    assert.match(listMessagesBefore(edited, PROMPTS.edited).join('\n'), new RegExp(MARKER_START));
    assert.equal(countCondensations(bench), condensations, 'nothing had to be condensed again');
    await checkRecall(bench, server);
  });

const goesOnInABranch: SharedScenario = (bench) =>
  inTwoTurns(bench, async (server) => {
    await forkAt(bench, PROMPTS.replaced);
    await openChat(bench, PROFILE_NAME);
    await ask(bench, PROMPTS.edited);
    await answerText(bench, (said) => said.includes('Theta is read.'));
    await screenshot(bench, 'agent-branch-dark');
    const branch = lastTask(server);
    assert.ok(has(branch, PROMPTS.first) && has(branch, 'const theta_7 '), 'the branch begins as the conversation did');
    await checkRecall(bench, server);
  });

export const agentHistory: SharedScenarios = {
  open: chatWindow,
  scenarios: { goesOnAfterAnEarlierRequestWasEdited, goesOnInABranch },
  seconds: 60,
};
