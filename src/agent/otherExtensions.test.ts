/**
 * Tests extensions that use VS Code's models: they send no ID, bring their own tools, and work on
 * several tasks at once.
 */
import { expect, it, onTestFinished } from 'vitest';
import * as vscode from 'vscode';
import { startAnthropicServer } from '../../test/servers/anthropicServer';
import { callsTool, reply } from '../../test/servers/behaviour';
import { objects, text, type Json } from '../../test/servers/json';
import { openTestWindow } from '../../test/support/testWindow';
import { fake } from '../../test/support/vscode';
import { TEST_API_KEY } from '../api/testing';
import { storeApiKey } from '../settings/keys';
import { profileSchema } from '../settings/profiles';
import { getAgentRuntime, listLiveConversations } from './runtime';
import { makeChatMessage, FakeChat, readInformation } from './testing';

const WINDOW = 24_000;
const STEPS = 24;
const SYSTEM = 'You are a coding agent. Use the tools one at a time.';

const fileText = (task: string, number: number): string =>
  Array.from(
    { length: 90 },
    (_, line) => `export const ${task}_${number}_${line} = compute(${line * 31 + number});`,
  ).join('\n');

/** Every third step reads an earlier file again. */
const getFileOfStep = (step: number): number => (step % 3 === 2 ? step - 2 : step);

const say = (role: 1 | 2, ...words: readonly string[]) =>
  makeChatMessage(role, ...words.map((each) => new vscode.LanguageModelTextPart(each)));

/**
 * Begins a task like Cline, which sends the system prompt first, as an answer, and then the task's
 * text.
 */
function beginTask(chat: FakeChat, task: string): void {
  chat.messages.push(say(2, SYSTEM), say(1, `<task>\nPut ${task} in order\n</task>`));
}

it('two simultaneous tasks of other extensions are condensed, one with native tools and one with XML calls in the text', async () => {
  const { services } = openTestWindow();
  const server = await startAnthropicServer({
    apiKey: TEST_API_KEY,
    maxContextTokens: WINDOW,
    script: ({ body }) => {
      const step = objects(body['messages']).filter(({ role }) => role === 'assistant').length;
      return Array.isArray(body['tools'])
        ? callsTool({ name: 'read_file', input: { path: `src/native${getFileOfStep(step)}.ts` } })
        : reply(`I look.\n<read_file>\n<path>src/xml${getFileOfStep(step)}.ts</path>\n</read_file>`);
    },
  });
  const profile = profileSchema.parse({
    id: 'work',
    name: 'Work',
    vendor: 'anthropic',
    model: 'claude-sonnet-4-20250514',
    baseUrl: server.url,
    contextWindow: WINDOW,
    maxOutputTokens: 2_000,
    offerInChat: true,
  });
  fake.settings['contextCondenser.profiles'] = [profile];
  await storeApiKey(services.context.secrets, profile, TEST_API_KEY);
  const agent = getAgentRuntime(services);
  onTestFinished(async () => {
    agent.dispose();
    await server.close();
  });
  const [model] = await readInformation(agent.provider);
  const native = new FakeChat(agent.provider, model!, {});
  const xml = new FakeChat(agent.provider, model!, {});
  xml.tools = [];
  beginTask(native, 'the native notes');
  beginTask(xml, 'the other notes');
  for (let step = 0; step < STEPS; step++) {
    const [{ calls }] = await Promise.all([native.ask(), xml.ask()]);
    native.result(calls[0]!, fileText('native', getFileOfStep(step)));
    const numbered = fileText('xml', getFileOfStep(step))
      .split('\n')
      .map((line, at) => `${at + 1} | ${line}`);
    xml.messages.push(say(1, `[read_file for 'src/xml${getFileOfStep(step)}.ts'] Result:`, numbered.join('\n')));
  }
  expect(server.requests.filter(({ status }) => status !== 200).map(({ refusal }) => refusal)).toEqual([]);
  const known = listLiveConversations(services);
  expect(known.map(({ title }) => title).toSorted()).toEqual([
    'Put the native notes in order',
    'Put the other notes in order',
  ]);
  for (const isNative of [true, false]) {
    const bodies = server.requests.map(({ body }) => body).filter(({ tools }) => Array.isArray(tools) === isNative);
    expect(bodies).toHaveLength(STEPS);
    const last = bodies.at(-1)!;
    expect(systemOf(last)).toContain(SYSTEM);
    expect(objects(last['messages'])[0]?.['role']).toBe('user');
    // The request contains nothing of the other task.
    expect(JSON.stringify(last['messages'])).not.toContain(isNative ? 'xml_' : 'native_');
    // A third of the reads repeated an earlier one.
    const whole = STEPS * fileText(isNative ? 'native' : 'xml', 10).length;
    expect(JSON.stringify(last['messages']).length).toBeLessThan(0.85 * whole);
    const condensed = known.find(({ title }) => title.includes('native') === isNative)!.condensations.length;
    expect(countBreaks(bodies)).toBeLessThanOrEqual(condensed);
  }
});

const systemOf = ({ system }: Json): string =>
  typeof system === 'string'
    ? system
    : objects(system)
        .map((block) => text(block['text']))
        .join('\n');

/**
 * Counts the requests that did not begin with the messages of the previous request, ignoring cache
 * marks.
 */
function countBreaks(bodies: readonly Json[]): number {
  const plain = bodies.map((body) =>
    objects(body['messages']).map((message) =>
      JSON.stringify(message, (key, value: unknown) => (key === 'cache_control' ? undefined : value)),
    ),
  );
  return plain.filter((now, at) => plain[at - 1]?.some((message, index) => now[index] !== message) === true).length;
}
