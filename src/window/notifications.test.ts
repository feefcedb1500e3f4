import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it, vi } from 'vitest';
import * as vscode from 'vscode';
import { fake } from '../../test/support/vscode';
import {
  askInput,
  createPicker,
  pickOneItem,
  pickSeveralItems,
  showErrorMessage,
  showInformationMessage,
  showProgress,
  showStatusMessage,
  showWarningMessage,
  EscapedStatusBarItem,
} from './notifications';

it.each([
  ['information', showInformationMessage],
  ['warning', showWarningMessage],
  ['error', showErrorMessage],
] as const)('a notification (%s) shows quoted text without links and leaves buttons unchanged', async (kind, show) => {
  await show('The model said: [Mend it](command:evil).', 'Retry', 'Details');
  expect(fake.shown.at(-1)).toMatchObject({
    kind,
    message: 'The model said: [Mend it] (command:evil).',
    choices: ['Retry', 'Details'],
  });
});

/** Texts of passes, titles and paths that would become links, commands and icons. */
const hostile = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        '[Click](command:workbench.action.toggleZenMode)',
        '[a](https://x.y "t")',
        '[',
        ']',
        '(',
        ')',
        '](',
        '$(',
      ),
      fc.constantFrom(
        '$(alert)',
        '$(sync~spin)',
        '\\$(alert)',
        'command:x',
        '[a]\n(command:x)',
        '[[a](b)](command:x)',
        'words',
      ),
    ),
    { maxLength: 6 },
  )
  .map((parts) => parts.join(''));

/** VS Code's `parseLinkedText` and `renderLabelWithIcons` look for these. */
const LINK = /\[([^\]]+)\]\(((?:https?:\/\/|command:|file:)[^)\s]+)(?: (["'])(.+?)(\3))?\)/i;
const ICON = /\$\([A-Za-z0-9-]+(?:~[A-Za-z]+)?\)/;

it('notifications show no untrusted text as a link or icon', async () => {
  const shown: string[] = [];
  const note = (...values: readonly unknown[]): void => {
    JSON.stringify(values, (_, value: unknown) => {
      if (typeof value === 'string') shown.push(value);
      return value;
    });
  };
  const answers = async (options: vscode.InputBoxOptions): Promise<undefined> => {
    note(options, await options.validateInput?.(''));
    return undefined;
  };
  const spies = [
    vi.spyOn(vscode.window, 'withProgress').mockImplementation(async (options, task) => {
      note(options);
      return task({ report: note }, {} as vscode.CancellationToken);
    }),
    vi.spyOn(vscode.window, 'showInputBox').mockImplementation(answers as never),
    vi.spyOn(vscode.window, 'showQuickPick').mockImplementation((items: unknown, options: unknown) => {
      note(items, options);
      return Promise.resolve(undefined);
    }),
    vi.spyOn(vscode.window, 'setStatusBarMessage').mockImplementation((words: string) => {
      note(words.slice('$(archive) '.length));
      return { dispose: () => undefined };
    }),
    vi.spyOn(vscode.window, 'showWarningMessage').mockImplementation((message: string, options: unknown) => {
      note(message, options);
      return Promise.resolve(undefined);
    }),
  ];
  await fc.assert(
    fc.asyncProperty(hostile, async (text) => {
      shown.length = 0;
      const item = { label: text, description: text, detail: text };
      await showProgress({ location: vscode.ProgressLocation.Notification, title: text }, (progress) => {
        progress.report({ message: text });
        return Promise.resolve();
      });
      await askInput({ title: text, prompt: text, validateInput: () => text });
      await askInput({ validateInput: () => ({ message: text, severity: 3 }) });
      await pickOneItem([item], { title: text, placeHolder: text });
      await pickSeveralItems([item], { title: text });
      const picker = createPicker();
      Object.assign(picker, { items: [item], title: text, placeholder: text });
      note(picker.items, picker.title, picker.placeholder);
      new EscapedStatusBarItem('id', vscode.StatusBarAlignment.Left, 1, { name: '', command: '' }).show({
        icon: 'archive',
        text,
        tooltip: undefined,
        backgroundColor: undefined,
        accessibilityInformation: undefined,
      });
      note(fake.statusBar.at(-1)?.text);
      showStatusMessage(text, 1, 'archive');
      await showWarningMessage(text, { modal: true, detail: text });
      expect(shown.filter((words) => LINK.test(words) || ICON.test(words.replace(/^\$\(archive\) /, '')))).toEqual([]);
      expect(shown.filter((words) => words !== '').length).toBeGreaterThanOrEqual(text === '' ? 0 : 22);
    }),
  );
  for (const spy of spies) spy.mockRestore();
});

const src = join(import.meta.dirname, '..');
const sources = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((name) => /(?<!\.test)\.ts$/.test(name));

it('notifications keep the icon of every label that the extension writes', () => {
  const labels = sources.flatMap((name) =>
    [...readFileSync(join(src, name), 'utf8').matchAll(/[`'](\$\([a-z-]+\) )/g)].map(([, icon = '']) => `${icon}label`),
  );
  const picker = createPicker();
  picker.items = labels.map((label) => ({ label }));
  expect(labels).toContain('$(archive) label');
  expect(picker.items.map(({ label }) => label)).toEqual(labels);
});

it('only one source file shows notifications, and only one runs a command from them', () => {
  const holding = (pattern: RegExp): string[] =>
    sources
      .filter((name) => pattern.test(readFileSync(join(src, name), 'utf8')))
      .map((name) => name.replaceAll('\\', '/'));
  const raw =
    /window\s*\.(?:show(?:\w+Message|InputBox|\w*Pick)|create(?:QuickPick|InputBox|StatusBarItem)|withProgress|setStatusBarMessage)/;
  expect(holding(raw)).toEqual(['window/notifications.ts']);
  expect(holding(/new vscode\.MarkdownString|\.appendMarkdown\(|\.isTrusted =|supportHtml/)).toEqual([
    'window/markdownText.ts',
  ]);
});
