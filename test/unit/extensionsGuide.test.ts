/** The guide's examples for other extensions compile against the types that the package ships, and do what it says. */
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { exchange, lines, user } from '../../src/core/testing';
import type { ContextCondenserApi, Message } from '../../src/extensionApi/api';
import { condenserApi } from '../../src/extensionApi/condenserApi';
import { temporaryFolder } from '../support/temporaryFolder';
import { openTestWindow } from '../support/testWindow';
import { fake } from '../support/vscode';

const root = join(import.meta.dirname, '..', '..');
const page = readFileSync(join(root, 'docs', 'guide', 'extensions.md'), 'utf8');
const examples = [...page.matchAll(/```ts\n([^]*?)```/g)].map(([, text = '']) => text);

/** The compiler's errors, by file. */
function problemsOf(files: readonly string[]): { file: string; text: string }[] {
  const program = ts.createProgram(files, {
    strict: true,
    noEmit: true,
    exactOptionalPropertyTypes: true,
    target: ts.ScriptTarget.ES2023,
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    types: [],
    paths: { vscode: [join(root, 'node_modules', '@types', 'vscode', 'index.d.ts')] },
    lib: ['lib.es2023.d.ts', 'lib.dom.d.ts'],
  });
  return ts.getPreEmitDiagnostics(program).map(({ file, messageText }) => ({
    file: basename(file?.fileName ?? ''),
    text: ts.flattenDiagnosticMessageText(messageText, '\n'),
  }));
}

/** The exports of the example with this text. */
async function loaded<Exports>(text: string): Promise<Exports> {
  const example = examples.find((one) => one.includes(text)) ?? '';
  const options = { target: ts.ScriptTarget.ES2023, module: ts.ModuleKind.ESNext };
  const file = join(temporaryFolder(), 'example.mjs');
  writeFileSync(file, ts.transpileModule(example, { compilerOptions: options }).outputText);
  // Its types were checked above.
  return (await import(file)) as Exports;
}

interface GuideConversation {
  readonly messages: Message[];
  view(): Promise<readonly Message[]>;
  original(reference: string): string | undefined;
}

/** A task and so many reads of files of 600 lines. */
const reads = (count: number): Message[] => [
  user('Find out why the tests fail.'),
  ...Array.from({ length: count }, (_, index) =>
    exchange(`t${index}`, 'Read', { file_path: `/w/f${index}.ts` }, lines(`f${index}`, 600)),
  ).flat(),
];

describe('the guide for other extensions', () => {
  it('shows code that compiles', () => {
    const folder = temporaryFolder();
    copyFileSync(join(root, 'src', 'extensionApi', 'api.ts'), join(folder, 'condenserApi.d.ts'));
    expect(examples.length).toBeGreaterThanOrEqual(3);
    const wrong = "import type { Edit } from './condenserApi'; export const edit: Edit = { kind: 1 };";
    const files = [...examples, wrong].map((text, index) => {
      const file = join(folder, index < examples.length ? `example${index}.ts` : 'wrong.ts');
      writeFileSync(file, text);
      return file;
    });
    const problems = problemsOf([...files, join(folder, 'condenserApi.d.ts')]);
    expect(problems.filter(({ file }) => file !== 'wrong.ts')).toEqual([]);
    expect(problems.filter(({ file }) => file === 'wrong.ts')).not.toEqual([]);
  });

  it('shows a conversation that is condensed when its window fills, and gives originals back', async () => {
    const api = condenserApi(openTestWindow().services);
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
    const [, reference = ''] = /⟦condensed: [^⟧]* · ref (\w+)⟧/.exec(JSON.stringify(view)) ?? [];
    expect(conversation.original(reference)).toBeDefined();
    expect(await conversation.view()).toEqual(view);
  });

  it('shows a provider that can be registered, and does what it says', async () => {
    const api = condenserApi(openTestWindow().services);
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
});
