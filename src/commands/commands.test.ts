import { copyFileSync, mkdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { temporaryFolder } from '../../test/support/temporaryFolder';
import { openTestWindow, stubHome } from '../../test/support/testWindow';
import { makeTranscript, writeTranscript, nothingToGain } from '../../test/support/transcript';
import {
  commands,
  fake,
  FakeWebviewPanel,
  Uri,
  window,
  type FakeItem,
  type FakeQuickPick,
} from '../../test/support/vscode';
import { makeToolExchange, makeLines, user } from '../core/testing';
import { activate } from '../extension';
import type { CondensedEvent } from '../extensionApi/api';
import { createExternalProvider } from '../extensionApi/externalProvider';
import { parseProvider } from '../extensionApi/parse';
import { cutter } from '../extensionApi/testing';
import { showDetails } from './conversations/details';
import { previewCondensation } from './conversations/show';
import { openMetricsStore } from '../window/metrics';
import manifest from '../../package.json' with { type: 'json' };
import { HAS_CONDENSED_CONTEXT_KEY } from '../window/lastCondensation';
import { getConversationIndex } from './conversationIndex';
import type { NotCondensedResult } from '../background/taskResults';
import { BUILT_IN_PROVIDERS } from '../core/condense/types';
import { condenseFileAndWait, chooseFailureActions } from './condenseNow';
import {
  chooseProvider,
  condenseNamedConversationWith,
  condenseNewestConversation,
  condenseNow,
  undoLastCondensation,
} from './index';
import { formatAge, formatShortAge } from '../views/age';
import { undoLastStoredCondensation } from './undo';
import type { Services } from '../window/services';
import { readManualSettings } from '../window/settings/manualSettings';
import { findMarkers, MARKER_START } from '../core/messages/markers';
import { FILE_AWARE_PRESET } from '../core/condense/providers/smart/presets';
import { getOriginalDocuments } from '../window/originals';
import { openLedger } from '../storage/ledgerStore';
import { getLedgerFolder } from '../window/background';

let home: string;
let file: string;
let log: ReturnType<typeof window.createOutputChannel>;
let services: Services;

beforeEach(() => {
  ({ home, services, log } = openTestWindow());
  stubHome(home);
  file = writeTranscript(home);
});

const getLastMessage = () => fake.shown.at(-1)!;

/** Writes files of agents' stores below the home folder, the newest first. */
function writeStoreFiles(files: Record<string, string>): void {
  Object.entries(files).forEach(([name, text], index) => {
    const path = join(home, name);
    mkdirSync(join(path, '..'), { recursive: true });
    writeFileSync(path, text);
    const seconds = 1_700_000_000 - index * 3600;
    utimesSync(path, seconds, seconds);
  });
}

/** Waits until the list of conversations is complete, and then acts like a user. */
function actWhenListed(act: (picker: FakeQuickPick) => void): void {
  fake.onQuickPick = (picker) => {
    void vi
      .waitFor(() => expect(picker.busy).toBe(false))
      .then(() => {
        act(picker);
      });
  };
}

describe('the command Condense Context Now', () => {
  it('reports the result in a sentence with the title, and the steps in the log', async () => {
    await condenseNow(services, file);
    expect(getLastMessage().message).toMatch(
      /^Condensed “Rename value7 in src\/values\.ts” with Lossless: [\d,]+ → [\d,]+ tokens \(−\d+%\)\.$/,
    );
    expect(fake.progress).toContain('Reading the conversation');
    expect(log.lines.join('\n')).toContain(`${file}\nContext condensed using Lossless:\n - `);
    expect(readFileSync(file, 'utf8')).toBe(makeTranscript());
  });

  it("shows the preset's name before each pass's name, since a pass may have the name of a provider", async () => {
    fake.settings['contextCondenser.provider'] = 'smart';
    fake.settings['contextCondenser.smart'] = 'speed';
    await condenseNow(services, file);
    expect(fake.progress).toContain('Speed: Truncation');
    expect(fake.progress).not.toContain('Truncation');
    expect(fake.progress).toContain('Reading the conversation');
  });

  it('warns after Lossless, too, if less was removed than the setting asks for', async () => {
    fake.settings['contextCondenser.warnings.reductionPercent'] = 100;
    await condenseNow(services, file);
    expect(log.lines.join('\n')).toMatch(
      / - Note: Only [\d.]+% of the tokens were removed; the warning is set to 100%\./,
    );
  });

  it('always offers the same actions in the same order, whatever the result or the previous choice', async () => {
    const name = '.claude/projects/p/00000000-0000-4000-8000-000000000009.jsonl';
    writeStoreFiles({ [name]: makeTranscript() });
    const listOffers = () => fake.shown.filter(({ message }) => message.startsWith('Condensed “'));
    for (const [index, target] of [5, 95].entries()) {
      fake.settings['contextCondenser.manual.targetPercent'] = target;
      fake.answers = ['Show Diff', 'Details', 'Show Diff', undefined];
      await condenseNow(services, join(home, name));
      // The notification is shown again after the command has ended.
      await vi.waitFor(() => expect(listOffers()).toHaveLength(4 * (index + 1)));
    }
    for (const { choices } of listOffers())
      expect(choices).toEqual(['Show Diff', 'Give Back…', 'Condense With…', 'Undo', 'Details']);
  });

  it('keeps one diff open at a time, which closes when the condensation is undone', async () => {
    window.tabGroups.all = [];
    const tabs = (): number => window.tabGroups.all.flatMap((group) => group.tabs).length;
    fake.answers = ['Show Diff', undefined];
    await condenseNow(services, file);
    fake.settings['contextCondenser.provider'] = 'truncation';
    fake.answers = ['Show Diff', undefined];
    await condenseNow(services, file);
    await vi.waitFor(() => expect(tabs()).toBe(1));
    await services.comparisons.showComparison(
      services.comparisons.addComparison({
        conversation: 'another',
        title: 't',
        before: 'b',
        after: 'a',
        firstChange: 0,
      }),
    );
    expect(tabs()).toBe(2);
    await undoLastCondensation(services);
    await vi.waitFor(() => expect(tabs()).toBe(1));
  });

  it('closes an outdated diff before it opens the new one, which VS Code computes for seconds', async () => {
    const texts = { title: 't', before: 'b', after: 'a', firstChange: 0 };
    const show = (): Promise<void> =>
      services.comparisons.showComparison(services.comparisons.addComparison({ conversation: 'one', ...texts }));
    await show();
    const close = vi.spyOn(window.tabGroups, 'close');
    const execute = vi.spyOn(commands, 'executeCommand');
    await show();
    expect(close.mock.invocationCallOrder[0]).toBeLessThan(execute.mock.invocationCallOrder[0] ?? 0);
  });

  it('resolves every reference in the preview of the result', async () => {
    await previewCondensation(services, file);
    const [, , after] = fake.executed.find(([command]) => command === 'vscode.diff') as [string, Uri, Uri];
    const references = findMarkers(services.comparisons.provideTextDocumentContent(after as never));
    expect(references.length).toBeGreaterThan(0);
    for (const { reference } of references) {
      const original = Uri.from({ scheme: 'context-condenser-original', path: `/${reference}.txt` });
      const text = await getOriginalDocuments(services).provideTextDocumentContent(original as never);
      expect(makeTranscript().includes(JSON.stringify(text).slice(1, 40))).toBe(true);
    }
  });

  it('shows the diff even after many other texts were opened', async () => {
    fake.answers = ['Show Diff', undefined];
    const asked = vi.spyOn(services.comparisons, 'hasComparison').mockReturnValue(false);
    const added = vi.spyOn(services.comparisons, 'addComparison');
    await condenseNow(services, file);
    expect(added).toHaveBeenCalledTimes(1);
    expect(asked).not.toHaveBeenCalled();
    fake.answers = ['Show Diff', 'Show Diff', undefined];
    await condenseNow(services, file);
    expect(added).toHaveBeenCalledTimes(3);
    asked.mockRestore();
    added.mockRestore();
  });

  it('uses a provider of another extension, and reports if it is missing', async () => {
    fake.settings['contextCondenser.provider'] = cutter.id;
    await condenseNow(services, file);
    expect(getLastMessage().message).toContain(`Nothing was condensed. There is no provider "${cutter.id}".`);
    services.registered.addProvider(createExternalProvider(parseProvider(cutter)));
    await condenseNow(services, file);
    expect(getLastMessage().message).toMatch(/^Condensed “.*” with Cutter: /);
    await previewCondensation(services, file);
    expect(getLastMessage().message).toContain('Cutter comes from another extension');
    fake.picks = ['Cutter'];
    await chooseProvider(services);
    expect(fake.settings['contextCondenser.provider']).toBe(cutter.id);
  });

  it('notifies other extensions', async () => {
    const events: CondensedEvent[] = [];
    services.condensed.event((event) => events.push(event));
    await condenseNow(services, file);
    expect(events).toMatchObject([{ source: 'command', provider: 'lossless', cost: 0 }]);
    expect(events[0]!.tokensAfter).toBeLessThan(events[0]!.tokensBefore);
  });

  it('shows the diff in VS Code’s own editor with read-only documents', async () => {
    fake.answers = ['Show Diff', undefined];
    await condenseNow(services, file);
    const shownDiff = fake.executed.find(([command]) => command === 'vscode.diff');
    const [, before, after, title] = shownDiff as [string, Uri, Uri, string];
    expect(title).toMatch(/^Rename value7.*: before ↔ after condensing$/);
    // VS Code adds these names to the title.
    expect([before, after].map(({ path }) => path.split('/').at(-1))).toEqual(['Before', 'After: Lossless']);
    const [shown, condensed] = [before, after].map((uri) => fake.provider!.provideTextDocumentContent(uri));
    expect(await shown).toContain('▶ Read\nfile_path: /project/src/values.ts');
    expect(await condensed).toContain(MARKER_START);
    expect((await condensed)?.split('\n').length).toBeLessThan((await shown)?.split('\n').length ?? 0);
  });

  it('names the user’s own preset in the result, the diff and the ledger', async () => {
    fake.settings['contextCondenser.presets'] = [{ id: 'own', name: 'My own', config: FILE_AWARE_PRESET.config }];
    fake.settings['contextCondenser.provider'] = 'smart';
    fake.settings['contextCondenser.smart'] = 'own';
    fake.answers = ['Show Diff', undefined];
    await condenseNow(services, file);
    expect(fake.shown.some(({ message }) => message.includes('with Smart (My own): '))).toBe(true);
    const [, , after] = fake.executed.find(([command]) => command === 'vscode.diff') as [string, Uri, Uri];
    expect(after.path).toMatch(/\/After: Smart \(My own\)$/);
    const { ledger } = await openLedger(getLedgerFolder(services), { id: services.last?.conversation ?? '' });
    expect(ledger.condensations.at(-1)).toMatchObject({ provider: 'smart', configName: 'My own' });
  });

  it('keeps only the texts of the last few condensations', async () => {
    const first = services.comparisons.addComparison({
      conversation: 'c',
      title: 't',
      before: 'b',
      after: 'a',
      firstChange: 0,
    });
    for (let round = 0; round < 3; round++)
      services.comparisons.addComparison({ conversation: 'c', title: 't', before: '', after: '', firstChange: 0 });
    const uri = Uri.from({ scheme: 'context-condenser', path: `/.condenser-conversation/${first}/before/Before` });
    expect(await fake.provider!.provideTextDocumentContent(uri)).toContain('no longer available');
    services.comparisons.dispose();
  });

  it('enables the Undo command in VS Code', async () => {
    const waiting = manifest.contributes.commands.filter(({ enablement }) => enablement === HAS_CONDENSED_CONTEXT_KEY);
    expect(waiting.map(({ command }) => command)).toEqual(['contextCondenser.undo']);
    const key = ['setContext', HAS_CONDENSED_CONTEXT_KEY, true];
    expect(fake.executed).not.toContainEqual(key);
    await condenseNow(services, file);
    expect(fake.executed).toContainEqual(key);
  });

  it('can be undone once, and says so if there is nothing to undo', async () => {
    await undoLastCondensation(services);
    expect(getLastMessage().message).toContain('this window has condensed nothing yet');
    fake.answers = ['Undo'];
    await condenseNow(services, file);
    expect(getLastMessage().message).toMatch(
      /^Undone\. The conversation is as it was before(?:: (?:≈ )?<?\d+% full)?\.$/,
    );
    await undoLastCondensation(services);
    expect(getLastMessage().message).toBe('There is nothing left to undo.');
  });

  it('shows details on a page in VS Code: figures, removed content and available actions', async () => {
    fake.answers = ['Details', undefined];
    await condenseNow(services, file);
    const page = FakeWebviewPanel.opened.at(-1)?.webview.html ?? '';
    expect(page).toContain('Rename value7 in src/values.ts');
    for (const heading of ['Tokens before and after', 'Steps', 'Facts kept', 'Removed content'])
      expect(page).toContain(`<h2>${heading}</h2>`);
    const links = [...page.matchAll(/href="command:contextCondenser\.conversations\.(\w+)\?([^"]*)"/g)];
    expect(links.map(([, action]) => action)).toEqual([
      'diff',
      'undo',
      'condenseWith',
      'open',
      'read',
      'export',
      'saveReport',
    ]);
    for (const [, , query = ''] of links) expect(JSON.parse(decodeURIComponent(query))).toEqual([file]);
    expect(fake.executed).not.toContainEqual(['log.show']);
  });

  it('shows on the page the notes that the notification mentions, whether the page is opened or open', async () => {
    const getPage = (): string => FakeWebviewPanel.opened.at(-1)?.webview.html ?? '';
    fake.answers = ['Details', undefined];
    await condenseNow(services, file);
    expect(getPage()).not.toContain('<h2>Notes</h2>');
    fake.settings['contextCondenser.warnings.reductionPercent'] = 100;
    fake.settings['contextCondenser.provider'] = 'smart';
    await condenseNow(services, file);
    await vi.waitFor(() => expect(getPage()).toContain('of the tokens were removed; the warning is set to 100%'));
    FakeWebviewPanel.opened.at(-1)!.dispose();
    await condenseNow(services, writeTranscript(temporaryFolder()));
    await showDetails(services, file);
    expect(getPage()).toContain('of the tokens were removed; the warning is set to 100%');
  });

  it('ends at once when canceled, and writes nothing', async () => {
    fake.cancelAtFirstReport = true;
    await condenseNow(services, file);
    expect(getLastMessage()).toMatchObject({ kind: 'status', message: 'Canceled. Nothing was condensed.' });
    await undoLastStoredCondensation(services, 'claude-code:session-1');
    expect(getLastMessage().message).toBe('There is nothing left to undo.');
  });

  it('says why nothing was condensed, and offers an alternative', async () => {
    writeFileSync(file, makeTranscript(nothingToGain()));
    fake.answers = ['Use Truncation', 'Details'];
    await condenseNow(services, file);
    const messages = fake.shown.map(({ message }) => message);
    expect(messages[0]).toMatch(/^Nothing was condensed\. Lossless found nothing/);
    expect(messages[1]).toMatch(/^Nothing was condensed\. Truncation found nothing/);
    expect(fake.shown[1]!.choices).toEqual(['Condense With…', 'Details']);
    expect(fake.executed).toContainEqual(['log.show']);
  });

  it("offers other providers if another extension's fails", async () => {
    const broken = { ...cutter, condense: () => Promise.reject(new Error('It is out of order.')) };
    services.registered.addProvider(createExternalProvider(parseProvider(broken)));
    fake.answers = ['Condense With…'];
    await condenseFileAndWait(services, file, { ...readManualSettings(), provider: cutter.id });
    expect(fake.shown[0]).toMatchObject({
      message: expect.stringContaining('It is out of order.') as string,
      choices: ['Retry', 'Condense With…', 'Details'],
    });
    expect(fake.executed).toContainEqual(['contextCondenser.condenseFurther', file]);
  });

  const REASONS = [
    ...(['nothing-to-gain', 'below-minimum-gain', 'grew', 'cooling-down', 'target-met', 'not-enough'] as const),
    ...(['already-condensed', 'over-budget', 'incoherent', 'refused', 'failed'] as const),
  ];
  it.each([...BUILT_IN_PROVIDERS, cutter.id])(
    'offers a way to continue if %s is the provider, whatever the reason for not condensing',
    (provider) => {
      for (const reason of REASONS) {
        const ways = chooseFailureActions({ kind: 'not-condensed', reason } as NotCondensedResult, provider);
        expect(ways.length).toBeGreaterThan(0);
        if (reason === 'failed') expect(ways).toEqual(['retry', 'otherProvider']);
      }
      const advice = { canRetry: false, offerOtherProfile: true };
      const failed = { kind: 'not-condensed', reason: 'failed', advice } as NotCondensedResult;
      expect(chooseFailureActions(failed, provider)).toEqual(['otherProfile', 'otherProvider']);
    },
  );

  it('shows an error with file and line, and can retry', async () => {
    writeFileSync(file, '{"broken');
    fake.answers = ['Retry', 'Details'];
    await condenseNow(services, file);
    expect(fake.shown.filter(({ kind }) => kind === 'error')).toHaveLength(2);
    expect(getLastMessage().message).toMatch(/^Nothing was condensed\. .*session-1\.jsonl:1: found/);
    expect(getLastMessage().choices).toEqual(['Retry', 'Details']);
  });

  it('says in its notification that the target was not reached', async () => {
    fake.settings['contextCondenser.manual.targetPercent'] = 5;
    await condenseNow(services, file);
    expect(getLastMessage().message).toMatch(/; your target of 222 was missed\.$/);
    expect(log.lines.join('\n')).toContain(' - Target: 222 tokens, missed by ');
  });

  it('offers other ways if the target was missed, those without a model first, with the resulting size and expected loss', async () => {
    const read = (name: string, times = 1) =>
      Array.from({ length: times }, (_, index) =>
        makeToolExchange(`${name}${index}`, 'Read', { path: name }, makeLines(name, 60)),
      );
    const names = Array.from({ length: 24 }, (_, index) => `/w/f${index}.ts`);
    file = join(home, 'reads.json');
    const messages = [
      user('Read all.'),
      ...read('/w/same.ts', 6).flat(),
      ...names.flatMap((name) => read(name).flat()),
    ];
    writeFileSync(file, JSON.stringify({ messages }));
    let items: readonly FakeItem[] = [];
    let placeholder: string | undefined;
    await condenseNow(services, file);
    actWhenListed((picker) => {
      ({ items } = picker);
      const fileAwareItem = items.find(({ label }) => label === 'File-Aware')!;
      picker.activate(fileAwareItem);
      ({ placeholder } = picker);
      picker.accept(fileAwareItem);
    });
    fake.settings['contextCondenser.smart'] = 'speed';
    fake.settings['contextCondenser.manual.targetPercent'] = 50;
    await condenseNamedConversationWith(services, file);
    expect(placeholder).toMatch(/^No model: /);
    const labels = items.map(({ label }) => label);
    // After the provider in use, the choices are sorted by measured loss.
    expect(labels.slice(0, 7)).toEqual([
      'chosen in the settings',
      'Lossless',
      'calls no model',
      'File-Aware',
      'Multi-Zone',
      'Truncation',
      'Speed',
    ]);
    expect(items[1]?.detail).toBe('Loses nothing.');
    expect(items[1]?.description).toMatch(/ · free · in use now$/);
    expect(labels.indexOf('may call a model')).toBeLessThan(labels.indexOf('Summary'));
    const fileAware = items[3];
    expect(fileAware?.description).toMatch(/^[\d,]+ tokens \(−\d+%\) · free$/);
    expect(fileAware?.detail).toMatch(
      /^Meets your target\. In tests: 13% of needed lines lost \(18 projects\)\. Keeps (all \d+ facts|\d+ of \d+ facts; \d+ \w+)\.$/,
    );
    const findDetail = (wanted: string) => items.find(({ label }) => label === wanted)?.detail;
    expect(findDetail('Truncation')).toMatch(
      /^(?:Meets your target\. )?In tests: 57% of needed lines lost \(1 project\)\. /,
    );
    expect(findDetail('Conservative')).toMatch(/^No model is set up: its steps are skipped\. Keeps /);
    expect(items.find(({ label }) => label === 'Summary')?.description).toContain('No model for summaries is chosen');
    for (const { description = '', detail = '' } of items.slice(0, 7)) {
      expect(description.length, description).toBeLessThanOrEqual(60);
      expect(detail.length, detail).toBeLessThanOrEqual(90);
    }
    expect(items.find(({ label }) => label === 'Conservative')?.description).toMatch(/ · not smaller$/);
    // The estimated size that was shown is the size that results.
    const [size = ''] = /^[\d,]+/.exec(fileAware?.description ?? '') ?? [];
    expect(getLastMessage().message).toMatch(
      new RegExp(`^Condensed “Read all\\.” with Smart \\(File-Aware\\): [\\d,]+ → ${size} tokens`),
    );
    // The run records what ran, not what the settings name.
    const [run] = (await openMetricsStore(services).readRuns()).toReversed();
    expect(run).toMatchObject({ provider: 'smart', preset: 'file-aware' });
  });
});

describe('picking a conversation to condense', () => {
  const ROO = JSON.stringify([
    { role: 'user', content: [{ type: 'text', text: '<task>\nAdd a button\n</task>' }], ts: 1 },
    { role: 'assistant', content: [{ type: 'text', text: 'Yes.' }], ts: 2 },
  ]);

  it('keeps the order of the complete list although newer conversations are found meanwhile', async () => {
    writeStoreFiles({ '.claude/projects/-project/session-1.jsonl': makeTranscript() });
    const labels = (picker: FakeQuickPick) => picker.items.map(({ label }) => label);
    const lists: string[][] = [];
    actWhenListed((picker) => {
      lists.push(labels(picker));
      const newer = join(home, '.claude/projects/-project/session-2.jsonl');
      writeFileSync(newer, readFileSync(join(home, '.claude/projects/-project/session-1.jsonl')));
      const index = getConversationIndex(services);
      const drawn = () => fake.executed.filter(([command]) => command === 'setContext').length;
      const before = drawn();
      void index
        .refresh()
        .then(() => vi.waitFor(() => expect(drawn()).toBeGreaterThan(before)))
        .then(() => {
          expect(index.conversations).toHaveLength(2);
          lists.push(labels(picker));
          picker.hide();
        });
    });
    await condenseNow(services);
    expect(lists[0]).toHaveLength(2);
    expect(lists[1]).toEqual(lists[0]);
  });

  it("lists agents' conversations, newest first, with title, agent, age and tokens", async () => {
    writeStoreFiles({
      '.claude/projects/-project/session-1.jsonl': makeTranscript(),
      '.claude/projects/-project/agent-1.jsonl': makeTranscript(),
      '.config/Code/User/globalStorage/rooveterinaryinc.roo-cline/tasks/t1/api_conversation_history.json': ROO,
      '.claude/projects/-project/broken.jsonl': '{"type":"user"',
    });
    let items: readonly FakeItem[] = [];
    actWhenListed((picker) => {
      items = picker.items;
      picker.hide();
    });
    await condenseNow(services);
    expect(items.map(({ label }) => label)).toEqual([
      'Rename value7 in src/values.ts',
      'Add a button',
      'broken.jsonl',
      '$(folder-opened) Open file…',
    ]);
    expect(items[0]!.detail).toMatch(
      /^Claude Code · \d+ days ago · (?:≈ )?<?\d+% full · [\d,]+ tokens in messages · project$/,
    );
    // Roo names a folder after the task's ID, which means nothing to users, so it is not shown.
    expect(items[1]!.detail).toMatch(/^Roo Code · \d+ days ago · (?:≈ )?<?\d+% full · [\d,]+ tokens in messages$/);
    expect(items[2]!.detail).toMatch(/can’t be read · project$/);
    expect(fake.shown.map(({ message }) => message)).toEqual([]);
  });

  it('condenses the picked conversation, and says how full its window stays until it is given back', async () => {
    const returnable = '.claude/projects/-project/00000000-0000-4000-8000-000000000001.jsonl';
    for (const [name, button, fill] of [
      ['.claude/projects/-project/session-1.jsonl', 'Export…', /; the session itself stays (?:≈ )?<?\d+% full[.;]/],
      [returnable, 'Give Back…', /; (?:(?:≈ )?<?\d+% → |still )(?:≈ )?<?\d+% full once given back[.;]/],
    ] as const) {
      writeStoreFiles({ [name]: makeTranscript() });
      actWhenListed((picker) => {
        picker.accept(picker.items[0]!);
      });
      await condenseNow(services);
      expect(getLastMessage().message).toMatch(/^Condensed “/);
      expect(getLastMessage().message).toMatch(fill);
      expect(getLastMessage().choices).toContain(button);
      rmSync(join(home, name));
    }
  });

  it('can open a file, and explains an empty list', async () => {
    let placeholder = '';
    fake.openFile = file;
    actWhenListed((picker) => {
      placeholder = picker.placeholder;
      picker.accept(picker.items.at(-1)!);
    });
    await condenseNow(services);
    expect(placeholder).toContain('No agent conversations were found');
    expect(getLastMessage().message).toMatch(/^Condensed “/);
    fake.openFile = undefined;
    fake.shown = [];
    await condenseNow(services);
    expect(fake.shown).toEqual([]);
  });

  it('condenses the newest readable conversation, or the sample if there is none', async () => {
    const line = (type: string, text: string) =>
      `${JSON.stringify({ type, sessionId: 's', uuid: 'u', parentUuid: null, message: { role: type, content: text } })}\n`;
    writeStoreFiles({
      '.claude/projects/-project/broken.jsonl': '{"type":"user"',
      '.claude/projects/-project/blank.jsonl': '{"type":"summary","summary":"nothing was said"}\n',
      '.claude/projects/-project/session-1.jsonl': makeTranscript(),
      '.claude/projects/-project/session-2.jsonl': line('user', 'Hello') + line('assistant', 'Hello.'),
    });
    await condenseNewestConversation(services, join(home, 'no-such-sample.jsonl'));
    expect(getLastMessage().message).toMatch(/^Condensed “Rename value7 in src\/values\.ts” with /);
    expect(log.lines.join('\n')).toContain(join('-project', 'session-1.jsonl'));
    const another = openTestWindow();
    stubHome(join(another.home, 'empty'));
    const sample = join(another.services.context.extensionPath, 'sample', 'conversation.jsonl');
    mkdirSync(dirname(sample));
    copyFileSync(file, sample);
    await condenseNewestConversation(another.services, sample);
    expect(getLastMessage().message).toMatch(
      /^No agent’s conversation was found on this machine\. Condensed the sample with /,
    );
    expect(another.log.lines.join('\n')).toContain(sample);
  });

  it("gives a conversation's age in the largest whole unit", () => {
    const ages = [0, 60_000, 3_600_000 * 2, 86_400_000 * 3];
    expect(ages.map(formatAge)).toEqual(['just now', '1 min ago', '2 h ago', '3 days ago']);
    expect(ages.map(formatShortAge)).toEqual(['now', '1m', '2h', '3d']);
  });
});

it('settings that are out of bounds are replaced by their defaults', async () => {
  const coherenceFloor = {};
  expect(readManualSettings()).toEqual({ provider: 'lossless', targetPercent: 50, history: 'active', coherenceFloor });
  await Promise.resolve();
  fake.settings = {
    'contextCondenser.manual.targetPercent': 1000,
    'contextCondenser.provider': 'truncation',
    'contextCondenser.history': 'all',
    'contextCondenser.coherenceFloor': { todos: 100, files: 200 },
  };
  expect(readManualSettings()).toEqual({
    provider: 'truncation',
    targetPercent: 50,
    history: 'all',
    coherenceFloor: { todos: 100 },
  });
  await Promise.resolve();
  fake.settings['contextCondenser.manual.targetPercent'] = 'half';
  expect(readManualSettings().targetPercent).toBe(50);
});

it('activating the extension registers every command of package.json and loads nothing else', () => {
  const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as {
    contributes: { commands: { command: string }[] };
  };
  const context = { ...services.context, subscriptions: [] as { dispose(): void }[] };
  activate(context);
  expect([...fake.registered.keys()].toSorted()).toEqual(
    manifest.contributes.commands.map(({ command }) => command).toSorted(),
  );
  fake.registered.get('contextCondenser.showLog')!();
  expect(fake.executed).toEqual([['log.show']]);
  context.subscriptions.forEach((part) => part.dispose());
});
