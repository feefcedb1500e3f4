/**
 * Checks that the guide's examples for other extensions compile with the shipped types and do what
 * the guide says.
 */
import { copyFileSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { transformSync } from 'esbuild';
import { describe, expect, inject, it } from 'vitest';
import { makeToolExchange, makeLines, user } from '../../src/core/testing';
import type { ContextCondenserApi, Message, Outcome, Provider } from '../../src/extensionApi/api';
import { createCondenserApi } from '../../src/commands/condenserApi';
import { temporaryFolder } from '../support/temporaryFolder';
import { openTestWindow } from '../support/testWindow';
import { typeProblems } from '../support/typeProblems';
import { fake } from '../support/vscode';
import { findMarkers } from '../../src/core/messages/markers';

const root = join(import.meta.dirname, '..', '..');
const page = readFileSync(join(root, 'docs', 'guide', 'extensions.md'), 'utf8');
/** The example to which the page links. */
const recap = readFileSync(join(root, 'test', 'e2e', 'sample-extension', 'recap.ts'), 'utf8');
const examples = [
  ...[...page.matchAll(/```ts\n([^]*?)```/g)].map(([, text = '']) => text),
  recap.replace('../../../src/extensionApi/api', './condenserApi'),
];

/** Returns the exports of the example that contains this text. */
async function loaded<Exports>(text: string): Promise<Exports> {
  const example = examples.find((one) => one.includes(text)) ?? '';
  const file = join(temporaryFolder(), 'example.mjs');
  writeFileSync(file, transformSync(example, { loader: 'ts', format: 'esm', target: 'es2023' }).code);
  // The cast is safe, because the examples' types are checked, too.
  return (await import(file)) as Exports;
}

interface GuideConversation {
  readonly messages: Message[];
  view(): Promise<readonly Message[]>;
  original(reference: string): string | undefined;
}

/** Creates a task with this many reads of files of 600 lines. */
const reads = (count: number): Message[] => [
  user('Find out why the tests fail.'),
  ...Array.from({ length: count }, (_, index) =>
    makeToolExchange(`t${index}`, 'Read', { file_path: `/w/f${index}.ts` }, makeLines(`f${index}`, 600)),
  ).flat(),
];

describe('the guide for other extensions', () => {
  it('shows code that compiles', () => {
    const folder = temporaryFolder();
    copyFileSync(join(root, 'src', 'extensionApi', 'api.ts'), join(folder, 'condenserApi.ts'));
    expect(examples.length).toBeGreaterThanOrEqual(3);
    const wrong = "import type { Edit } from './condenserApi'; export const edit: Edit = { kind: 1 };";
    const files = [...examples, wrong].map((text, index) => {
      const file = join(folder, index < examples.length ? `example${index}.ts` : 'wrong.ts');
      writeFileSync(file, text);
      return file;
    });
    const problems = typeProblems(folder, [...files, join(folder, 'condenserApi.ts')], { noEmit: true });
    expect(problems.filter((line) => !line.startsWith('wrong.ts'))).toEqual([]);
    expect(problems.filter((line) => line.startsWith('wrong.ts('))).not.toEqual([]);
  });

  it('shows a conversation that is condensed when its window fills, and restores originals', async () => {
    const api = createCondenserApi(openTestWindow().services);
    fake.settings['contextCondenser.provider'] = 'truncation';
    const { Conversation } = await loaded<{
      Conversation: new (id: string, api: ContextCondenserApi) => GuideConversation;
    }>('class Conversation');
    const conversation = new Conversation('chat-1', api);
    conversation.messages.push(...reads(5));
    expect(await conversation.view()).toEqual(conversation.messages);
    conversation.messages.push(...reads(60).slice(11));
    const view = await conversation.view();
    expect(JSON.stringify(view).length).toBeLessThan(JSON.stringify(conversation.messages).length);
    const reference = findMarkers(JSON.stringify(view))[0]?.reference ?? '';
    expect(conversation.original(reference)).toBeDefined();
    expect(await conversation.view()).toEqual(view);
  });

  it('shows a provider that can be registered and works', async () => {
    const api = createCondenserApi(openTestWindow().services);
    const subscriptions: { dispose(): unknown }[] = [];
    const { activate } = await loaded<{ activate: (context: unknown, api: ContextCondenserApi) => void }>(
      'shortResults',
    );
    activate({ subscriptions }, api);
    expect(subscriptions).toHaveLength(1);
    const asked = { provider: 'my-extension.short-results', config: { characters: 100 } };
    const outcome = await api.condense({ id: 'c', messages: reads(10) }, asked);
    expect(outcome).toMatchObject({ kind: 'condensed', provider: asked.provider });
    expect(outcome.kind === 'condensed' && outcome.view.slice(-10)).toEqual(reads(10).slice(-10));
  });

  it('shows how to convert other messages, and sends what the APIs accept', async () => {
    const api = createCondenserApi(openTestWindow().services);
    fake.settings['contextCondenser.provider'] = 'truncation';
    const { openAiMessages, chatMessages } = await loaded<{
      openAiMessages: (api: ContextCondenserApi, messages: readonly object[]) => Promise<readonly object[]>;
      chatMessages: (api: ContextCondenserApi, messages: readonly unknown[]) => Promise<readonly object[]>;
    }>('openAiMessages');
    const original = api.toOpenAI(reads(20));
    const condensed = await openAiMessages(api, original);
    expect(condensed).toHaveLength(original.length);
    expect(JSON.stringify(condensed).length).toBeLessThan(JSON.stringify(original).length * 0.7);
    expect(api.toOpenAI(api.fromOpenAI(original))).toEqual(original);
    const chat = api.toVSCode(reads(20));
    const shorter = await chatMessages(api, chat);
    expect(JSON.stringify(shorter).length).toBeLessThan(JSON.stringify(chat).length * 0.7);
    expect(api.fromVSCode(chat).messages).toEqual(api.fromVSCode(api.toVSCode(reads(20))).messages);
    expect(api.fromVSCode(chat).messages).toEqual(
      reads(20).map(({ role, content }) => ({
        role,
        content: typeof content === 'string' ? [{ type: 'text', text: content }] : content,
      })),
    );
  });

  it('shows a provider that calls a model, and a bench that runs it outside VS Code', async () => {
    const exported = await loaded<{
      recap: (ask: (prompt: string) => Promise<string>) => Provider;
    }>('export const recap');
    const { tried } = await loaded<{
      tried: (folder: string, provider: Provider, messages: readonly Message[]) => Promise<Outcome>;
    }>('export function tried');
    const folder = temporaryFolder();
    symlinkSync(inject('bundles'), join(folder, 'dist'));
    const asked: string[] = [];
    const provider = exported.recap((prompt) => Promise.resolve((asked.push(prompt), 'The files hold numbers.')));
    const outcome = await tried(folder, provider, reads(10));
    if (outcome.kind !== 'condensed') throw new Error(JSON.stringify(outcome));
    expect(asked).toHaveLength(1);
    expect(outcome.cost).toBeGreaterThan(0);
    expect(outcome.view.map((message) => Object.keys(message).toSorted())).toEqual(
      outcome.view.map(() => ['content', 'role']),
    );
    expect(JSON.stringify(outcome.view[1])).toContain('not a new request');
    expect(outcome.view.slice(2)).toEqual(reads(10).slice(-(outcome.view.length - 2)));
  });
});
