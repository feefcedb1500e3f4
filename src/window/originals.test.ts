import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import type * as vscode from 'vscode';
import { openTestWindow } from '../../test/support/testWindow';
import { writeTranscript } from '../../test/support/transcript';
import { fake, Position, textDocument, type Uri } from '../../test/support/vscode';
import { condenseNow } from '../commands';
import { toStoredConversation } from '../commands/conversations/background';
import { findMarkers } from '../core/messages/markers';
import { runInBackground, getLiveLedgerFolder, getLedgerFolder } from './background';
import { getOriginalDocuments } from './originals';
import type { Services } from './services';

let services: Services;
let before: string;
let after: string;

beforeEach(async () => {
  const window = openTestWindow();
  ({ services } = window);
  fake.answers = ['Show Diff', undefined];
  const path = writeTranscript(window.home);
  await condenseNow(services, path);
  const [, , right] = fake.executed.find(([command]) => command === 'vscode.diff') as [string, Uri, Uri];
  const task = { kind: 'text', ...toStoredConversation(services, path) } as const;
  before = (await runInBackground(services, task, new AbortController().signal)).text;
  after = await fake.provider!.provideTextDocumentContent(right);
});

const documentOf = (text: string) => textDocument(text) as unknown as vscode.TextDocument;
const last = () => fake.shown.at(-1)?.message;

it('each marker in a condensed conversation links to its original', async () => {
  const originals = getOriginalDocuments(services);
  const markers = findMarkers(after);
  const links = originals.provideDocumentLinks(documentOf(after));
  expect(markers.length).toBeGreaterThan(0);
  expect(links).toHaveLength(markers.length);
  for (const [index, { target, tooltip }] of links.entries()) {
    expect(tooltip).toBe('Open Original');
    expect(target?.path).toBe(`/${markers[index]!.reference}.txt`);
    const original = await originals.provideTextDocumentContent(target!);
    expect(original.length).toBeGreaterThan(0);
    expect(before).toContain(original);
  }
});

it("a marker's hover shows only the first lines", async () => {
  const originals = getOriginalDocuments(services);
  const [{ range } = { range: undefined }] = originals.provideDocumentLinks(documentOf(after));
  const { line, character } = range!.start;
  const at = (column: number) =>
    originals.provideHover(documentOf(after), new Position(line, column) as unknown as vscode.Position);
  const words = (await at(character + 3))?.contents as unknown as { value: string; isTrusted: unknown };
  const shown = words.value.split('````')[1]!.replace('\n…', '').trim();
  expect(before).toContain(shown);
  expect(shown.split('\n').length).toBeLessThanOrEqual(12);
  expect(words.value).toContain('[Open Original](command:contextCondenser.openOriginal?');
  expect(words.isTrusted).toEqual({ enabledCommands: ['contextCondenser.openOriginal'] });
  expect(
    await originals.provideHover(documentOf('text'), new Position(0, 1) as unknown as vscode.Position),
  ).toBeUndefined();
});

it('the list of originals shows removed content, accepts a typed reference, and reports an unknown one', async () => {
  const originals = getOriginalDocuments(services);
  fake.picks = ['Message'];
  await originals.chooseOriginal(services.last!.conversation, getLedgerFolder(services));
  const references = new Set(findMarkers(after).map(({ reference }) => reference));
  expect(fake.offered.at(-1)?.length).toBeGreaterThanOrEqual(references.size);
  expect(fake.executed.at(-1)?.[0]).toBe('showTextDocument');
  fake.inputs = ['0badc0de'];
  await originals.openOriginal();
  const opened = fake.executed.at(-1)?.[1] as Uri;
  expect(await originals.provideTextDocumentContent(opened as unknown as vscode.Uri)).toContain(
    'is no longer available',
  );
  fake.inputs = ['no reference'];
  await originals.openOriginal();
  expect(fake.problems.at(-1)).toContain('6 to 64 hexadecimal digits');
  await originals.chooseOriginal(undefined, getLiveLedgerFolder(services));
  expect(last()).toBe('Nothing in this conversation is condensed.');
  await originals.chooseOriginal('nobody', join(getLedgerFolder(services), 'none'));
  expect(last()).toBe('Nothing in this conversation is condensed.');
});
