import { existsSync, mkdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type * as vscode from 'vscode';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { openTestWindow, stubHome } from '../../../test/support/testWindow';
import { makeTranscript } from '../../../test/support/transcript';
import { testServices } from '../../../test/support/services';
import { EventEmitter, fake, type FakeWebviewPanel, Uri, window, workspace } from '../../../test/support/vscode';
import { replaceFiles } from '../../giveBack/replacement';
import { listGivenBack } from '../../giveBack/replacements';
import { findNewestConversation } from '../conversationIndex';
import { writeClaudeSession, writeClineSession, makeFileOld, writeZooTask } from '../../giveBack/testing';
import { nodeFiles } from '../../storage/nodeFiles';
import type { ConversationAction } from '../../views/conversations/actions';
import type { ConversationsView, ConversationsTree } from '../../views/conversations/conversationsView';
import type { ConversationNode, TreeNode } from '../../views/conversations/nodes';
import type { Services } from '../../window/services';
import { recoverGivenBack } from './giveBack';
import { getFolderOfOpenedText } from '../../window/comparisons';
import { getConversationsView, runConversationAction } from './index';

const ID = '5f0e7000-8000-4a1b-9c3d-4e5f0198c7a2';
let home: string;
let services: Services;
let log: ReturnType<typeof window.createOutputChannel>;
let tree: ConversationsTree;
let view: ConversationsView;

beforeEach(() => {
  ({ home, services, log } = openTestWindow());
  stubHome(home);
  // The doubles have only the members that are used.
  tree = {
    view: window.createTreeView('view', { treeDataProvider: undefined }),
    changed: new EventEmitter<TreeNode[] | undefined>(),
  } as unknown as ConversationsTree;
});

afterEach(() => {
  for (const each of services.context.subscriptions) void each.dispose();
});

const getLastMessage = () => fake.shown.at(-1)!;

/** Opens the view and waits until all conversations are counted. */
async function openView(): Promise<void> {
  view = getConversationsView(services, tree);
  view.getChildren();
  await vi.waitFor(() => {
    view.getChildren();
    expect(tree.view.description).toBe('');
    expect(rows().length).toBeGreaterThan(0);
  });
}

const rows = (): ConversationNode[] =>
  view
    .getChildren()
    .flatMap((node) => view.getChildren(node))
    .filter((node): node is ConversationNode => node.kind === 'conversation');

const item = (node: TreeNode): vscode.TreeItem => view.getTreeItem(node);

const run = (action: ConversationAction, subject: unknown = rows()[0]): Promise<void> =>
  runConversationAction(services, tree, action, subject);

/** Writes a Claude Code session to the place where that agent would resume it. */
function writeSession(): string {
  const path = join(home, '.claude', 'projects', '-home-me-app', `${ID}.jsonl`);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, makeTranscript());
  return path;
}

/** Condenses the first row, and waits until the view shows it. */
async function condenseFirstRow(provider = 'truncation'): Promise<void> {
  Object.assign(fake.settings, {
    'contextCondenser.provider': provider,
    'contextCondenser.manual.targetPercent': 20,
  });
  await run('condense');
  await waitForFirstRow('condensed');
}

/**
 * Waits until the first row has this state, since the view reads ledgers only after hearing that
 * they have changed.
 */
const waitForFirstRow = (state: string): Promise<void> =>
  vi.waitFor(() => {
    expect(item(rows()[0]!).contextValue).toContain(state);
  });

describe('the conversations view', () => {
  it('lists conversations, logs once what could not be read, and watches the stores', async () => {
    writeSession();
    writeFileSync(join(home, '.claude', 'projects', '-home-me-app', 'broken.jsonl'), '{"type":"user"');
    await openView();
    expect(rows()).toHaveLength(2);
    await view.refresh();
    expect(log.lines.filter((line) => line.includes('broken.jsonl'))).toHaveLength(1);
    await vi.waitFor(() => expect([...fake.watched.keys()]).toContain(join(home, '.claude', 'projects')));
  });

  it('opens a conversation, its file, and a preview that stores nothing', async () => {
    const path = writeSession();
    await openView();
    await run('open');
    expect(fake.executed.at(-1)?.[0]).toBe('showTextDocument');
    await run('openRaw');
    expect(fake.executed.at(-1)).toEqual(['vscode.open', Uri.file(path)]);
    await run('preview');
    expect(getLastMessage().message).toMatch(/^Preview of condensing with Lossless: .*tokens/);
    expect(fake.executed.at(-1)?.[0]).toBe('vscode.diff');
    await view.reloadLedgers();
    expect(item(rows()[0]!).contextValue).toBe('conversation returnable runnable resumable');
  });

  it('shows an opened conversation with its size, from which a later result counts, and with the same actions', async () => {
    const path = writeSession();
    await openView();
    await run('open');
    const document = Uri.from({ scheme: 'context-condenser', path: getFolderOfOpenedText(path), query: path });
    const text = services.comparisons.provideTextDocumentContent(document as never);
    const [, tokens = ''] =
      /^Context window (?:≈ )?<?\d+% full: .* tokens\. Messages: ([\d,]+) tokens as counted here\.\n/.exec(text) ?? [];
    await run('condense', document);
    expect(getLastMessage().message).toContain(`: ${tokens} → `);
    await waitForFirstRow('condensed');
    const condenseFirstRow = ['setContext', 'contextCondenser.conversations.condensed', [getFolderOfOpenedText(path)]];
    expect(fake.executed).toContainEqual(condenseFirstRow);
  });

  it('says how to see an opened conversation again after the window was reloaded', () => {
    const document = Uri.from({
      scheme: 'context-condenser',
      path: getFolderOfOpenedText('/a.jsonl'),
      query: '/a.jsonl',
    });
    expect(services.comparisons.provideTextDocumentContent(document as never)).toMatch(/Open the conversation again/);
  });

  it("condenses, with the preview's button, what the preview showed", async () => {
    writeSession();
    await openView();
    fake.answers = ['Condense'];
    await run('preview');
    expect(getLastMessage().choices).toEqual(['Condense']);
    await vi.waitFor(() => expect(item(rows()[0]!).contextValue).toContain('condensed'));
    expect(getLastMessage().message).toMatch(/^Condensed “.*” with Lossless: /);
  });

  it('is updated by an undo from the notification', async () => {
    writeSession();
    await openView();
    fake.answers = ['Undo'];
    await run('condense');
    expect(getLastMessage().message).toMatch(/^Undone\. /);
    await waitForFirstRow('redoable');
  });

  it('condenses, shows the diff, undoes, redoes, and lists the history', async () => {
    writeSession();
    await openView();
    await condenseFirstRow('lossless');
    expect(getLastMessage().choices).toEqual(['Show Diff', 'Give Back…', 'Condense With…', 'Undo', 'Details']);
    await run('diff');
    const [command, , after, title] = fake.executed.at(-1) as [string, Uri, Uri, string];
    expect(command).toBe('vscode.diff');
    expect(title).toMatch(/: before ↔ after condensing$/);
    expect(after.path).toMatch(/\/After: Lossless$/);
    await run('undo');
    await waitForFirstRow('redoable');
    expect(item(rows()[0]!).contextValue).toBe('conversation redoable history returnable runnable resumable');
    await run('redo');
    await waitForFirstRow('condensed');
    // Choosing a condensation shows it; only its button undoes it.
    fake.onQuickPick = (picker) => {
      expect(picker.items[0]?.description).toMatch(/^Lossless · /);
      picker.accept(picker.items[0]!);
    };
    const before = fake.executed.length;
    await run('history');
    expect(fake.executed.slice(before).map(([name]) => name)).toContain('vscode.diff');
    await waitForFirstRow('condensed');
    fake.onQuickPick = (picker) => {
      picker.triggerButton(picker.items[0]!);
    };
    await run('history');
    await waitForFirstRow('redoable');
    fake.onQuickPick = undefined;
    await run('undo');
    expect(getLastMessage().message).toBe('There is nothing left to undo.');
  });

  it('redraws only rows whose text has changed, and keeps their objects, so that their menus keep working', async () => {
    writeSession();
    writeFileSync(
      join(home, '.claude', 'projects', '-home-me-app', 'other.jsonl'),
      makeTranscript().replaceAll('session-1', 'session-2'),
    );
    await openView();
    const [row, other] = rows();
    for (const each of [row!, other!]) item(each);
    const drawn: unknown[] = [];
    tree.changed.event((nodes) => drawn.push(nodes));
    await run('condense', row);
    await vi.waitFor(() => expect(drawn).toEqual([[row]]));
    expect(item(row!).contextValue).toContain('condensed');
    // VS Code still has the row from before.
    await run('undo', row);
    await vi.waitFor(() => expect(item(row!).contextValue).toContain('redoable'));
    writeFileSync(
      join(home, '.claude', 'projects', '-home-me-app', 'third.jsonl'),
      makeTranscript().replaceAll('session-1', 'session-3'),
    );
    await view.refresh();
    await vi.waitFor(() => expect(drawn).toContain(undefined));
    expect(rows()).toHaveLength(3);
  });

  it('reports if VS Code passes no row to a command', async () => {
    writeSession();
    await openView();
    await runConversationAction(services, tree, 'condense', undefined);
    expect(getLastMessage().message).toMatch(/^No conversation was chosen/);
  });

  it("exports to the clipboard or a file other than the conversation's own", async () => {
    const path = writeSession();
    await openView();
    const before = readFileSync(path);
    fake.picks = ['Markdown', 'Anthropic', 'Handover', undefined];
    fake.saveFile = join(home, 'out.md');
    fake.answers = ['Open'];
    await run('export');
    expect(fake.executed.at(-1)).toEqual(['vscode.open', Uri.file(fake.saveFile)]);
    expect(readFileSync(fake.saveFile, 'utf8')).toMatch(/^# .*Rename value7[\s\S]*Done\./);
    fake.saveFile = path;
    await run('export');
    expect(getLastMessage()).toMatchObject({ kind: 'error' });
    expect(readFileSync(path)).toEqual(before);
    await run('export');
    expect(fake.clipboard).toMatch(
      /^You are taking over a task[\s\S]*Rename value7 in src\/values\.ts[\s\S]*## What to do now/,
    );
    await run('export');
  });

  it("saves a report with text or with figures only, but never over the conversation's file", async () => {
    const path = writeSession();
    await openView();
    fake.picks = ['Text', 'Figures', 'Figures', undefined];
    fake.saveFile = join(home, 'report.html');
    await run('saveReport');
    expect(getLastMessage()).toMatchObject({
      kind: 'error',
      message: 'The conversation is not condensed. Condense it first.',
    });
    await run('condense');
    await run('saveReport');
    expect(readFileSync(fake.saveFile, 'utf8')).toContain('left out of this report');
    const before = readFileSync(path);
    fake.saveFile = path;
    await run('saveReport');
    expect(getLastMessage()).toMatchObject({ kind: 'error' });
    expect(readFileSync(path)).toEqual(before);
    await run('saveReport');
  });

  it('shows a condensed conversation as a page that contains no scripts and closes after undo', async () => {
    writeSession();
    await openView();
    await condenseFirstRow('lossless');
    const create = vi.spyOn(window, 'createWebviewPanel');
    await run('read');
    const [, tab, , options] = create.mock.calls[0] ?? [];
    expect(tab).toMatch(/^What Was Condensed: ./);
    expect(options).toMatchObject({ enableScripts: false, localResourceRoots: [] });
    const page = create.mock.results[0]?.value as FakeWebviewPanel | undefined;
    const closed = vi.fn();
    page?.onDidDispose(closed);
    expect(page?.webview.html).toMatch(/style-src 'nonce-[\w+/=]+'[^]*<section id="message-1">[^]*class="gone"/);
    create.mockRestore();
    await run('undo');
    await vi.waitFor(() => expect(closed).toHaveBeenCalled());
  });

  it('pins messages, which the next condensation leaves unchanged', async () => {
    writeSession();
    await openView();
    fake.picks = [Array.from({ length: 400 }, (_, index) => `${index + 1} · user ${index + 1} · assistant`).join(' ')];
    await run('pin');
    expect(getLastMessage().message).toMatch(/^[1-9]\d* messages will not be changed/);
    Object.assign(fake.settings, { 'contextCondenser.provider': 'truncation' });
    await run('condense');
    expect(getLastMessage().message).not.toMatch(/^Condensed/);
    fake.picks = ['1 · user'];
    await run('pin');
    expect(getLastMessage().message).toMatch(/^1 message will not be changed/);
    fake.picks = [' '];
    await run('pin');
    expect(getLastMessage().message).toBe('No message is pinned.');
  });

  it('searches and filters conversations, and says why the list is empty', async () => {
    writeSession();
    await openView();
    fake.inputs = ['nothing like that', undefined];
    await run('search', undefined);
    expect(rows()).toEqual([]);
    expect(fake.executed).toContainEqual(['setContext', 'contextCondenser.conversations.state', 'filtered']);
    expect(tree.view.message).toBe('');
    await run('search', undefined);
    await run('clearFilter', undefined);
    expect(rows()).toHaveLength(1);
    workspace.workspaceFolders = undefined;
    fake.picks = ['Claude Code'];
    await run('filter', undefined);
    expect(rows()).toHaveLength(1);
    await run('showMore', 'Claude Code');
    await run('refresh', undefined);
  });
});

describe('giving a condensed conversation back from the conversations view', () => {
  it('changes a Zoo task in place once the user agrees, and undoes it byte for byte', async () => {
    const path = writeZooTask(join(home, '.config', 'Code', 'User'));
    await openView();
    await condenseFirstRow();
    const before = readFileSync(path);
    fake.answers = [undefined];
    await run('giveBack');
    expect(readFileSync(path)).toEqual(before);
    fake.answers = ['Give Back', undefined];
    await run('giveBack');
    expect(readFileSync(path)).not.toEqual(before);
    await waitForFirstRow('given');
    await run('undoGiveBack');
    expect(readFileSync(path)).toEqual(before);
    await vi.waitFor(() => expect(item(rows()[0]!).contextValue).not.toContain('given'));
    await run('undoGiveBack');
    expect(getLastMessage().message).toBe('Nothing was given back, so there is nothing to undo.');
  });

  it('explains a refusal before the user is asked, and offers an export', async () => {
    const path = writeZooTask(join(home, '.config', 'Code', 'User'));
    await openView();
    await condenseFirstRow();
    writeFileSync(join(dirname(path), 'ui_messages.json'), '{}');
    fake.shown = [];
    fake.answers = ['Export Condensed Conversation', undefined];
    fake.picks = ['Handover'];
    await run('giveBack');
    expect(fake.shown.map(({ kind, choices }) => ({ kind, choices }))).toEqual([
      { kind: 'error', choices: ['Export Condensed Conversation'] },
      { kind: 'information', choices: [] },
    ]);
    const words = 'Its files contain no lists. Nothing was written. Export the condensed conversation instead.';
    expect(fake.shown[0]?.message).toMatch(new RegExp(`^“.+” was not given back\\. ${words} File: ${path}$`));
    expect(getLastMessage().message).toContain('on the clipboard');
  });

  it('pauses a running task only if its agent supports that, and asks the user each time', async () => {
    const path = writeZooTask(join(home, '.config', 'Code', 'User'));
    await openView();
    await condenseFirstRow();
    const now = Date.now() / 1000;
    utimesSync(path, now, now);
    await run('giveBack');
    expect(getLastMessage()).toMatchObject({ kind: 'error' });
    expect(getLastMessage().message).toContain('a moment ago');
    // The condensation succeeds; only giving back from its notification fails.
    await run('condense');
    await run('giveBack');
    expect(getLastMessage()).toMatchObject({ kind: 'error', choices: [] });
    expect(getLastMessage().message).toContain('it may be working on it. Nothing was written.');
    const calls: string[] = [];
    fake.extensions.set('zoocodeorganization.zoo-code', {
      getCurrentTaskStack: () => [basename(dirname(path))],
      cancelCurrentTask: () => calls.push('cancel'),
      clearCurrentTask: () => {
        calls.push('clear');
        makeFileOld(path);
      },
      resumeTask: () => calls.push('resume'),
    });
    fake.answers = [undefined];
    utimesSync(path, Date.now() / 1000, Date.now() / 1000);
    await run('giveBack');
    expect(calls).toEqual([]);
    fake.answers = ['Give Back', undefined];
    utimesSync(path, Date.now() / 1000, Date.now() / 1000);
    await run('giveBack');
    expect(calls).toEqual(['cancel', 'clear', 'resume']);
    expect(readFileSync(path, 'utf8')).toContain('isSummary');
  });

  it('writes a sidecar file for Cline, which can be undone from the notification', async () => {
    writeClineSession(home);
    await openView();
    await condenseFirstRow();
    fake.answers = ['Give Back', 'Undo Giving Back'];
    await run('giveBack');
    expect(getLastMessage().message).toBe('Undone. The agent’s files are as they were before.');
  });

  it("writes a new session for Claude Code, with a copyable command and a title that differs from the original's", async () => {
    const path = writeSession();
    await openView();
    await condenseFirstRow('lossless');
    const titles = (): string[] =>
      rows().map((row) => {
        const { label } = item(row);
        return typeof label === 'string' ? label.replace(/^(?:≈ )?\d+% · /, '') : '';
      });
    const [title = ''] = titles();
    fake.answers = ['Give Back', 'Copy Command'];
    await run('giveBack');
    expect(getLastMessage().message).toBe('Given back to Claude Code as a new session.');
    expect(getLastMessage().choices).toEqual(['Resume in Terminal', 'Copy Command', 'Undo Giving Back']);
    expect(fake.clipboard).toMatch(/^claude --resume [\da-f-]{36}$/);
    fake.answers = ['Give Back', 'Resume in Terminal'];
    await run('giveBack');
    const terminal = window.terminals.at(-1);
    expect(terminal).toMatchObject({ name: 'Claude Code', isShown: true });
    expect(terminal?.sent).toEqual([expect.stringMatching(/^claude --resume [\da-f-]{36}$/)]);
    // Even without the notification, the row and the details lead to the condensed session.
    const given = () => rows().find(({ found }) => found.path === path)!;
    await vi.waitFor(() => expect(item(given()).contextValue).toMatch(/\bgiven\b.*\bresumable\b/));
    await vi.waitFor(async () => {
      await run('resume', given());
      expect(window.terminals.at(-1)?.sent).toEqual(terminal?.sent);
    });
    const create = vi.spyOn(window, 'createWebviewPanel');
    await run('details', given());
    const page = create.mock.results[0]?.value as { webview: { html: string } } | undefined;
    expect(page?.webview.html).toMatch(
      /conversations\.undoGiveBack[^]*title="Undo Giving Back">Undo Giving Back<[^]*>Resume in Terminal</,
    );
    create.mockRestore();

    await vi.waitFor(() => {
      expect(titles().filter((each) => each.startsWith('Copy: '))).toHaveLength(2);
      expect(titles()).toContain(title);
    });
  });

  it('saves a report that, after giving back, no longer says “if given back” about the saving', async () => {
    const path = writeClaudeSession(home);
    await openView();
    await condenseFirstRow('truncation');
    fake.saveFile = join(home, 'report.html');
    const saveReport = async (): Promise<string> => {
      fake.picks = ['Figures'];
      await run(
        'saveReport',
        rows().find(({ found }) => found.path === path),
      );
      return readFileSync(fake.saveFile ?? '', 'utf8');
    };
    expect(await saveReport()).toMatch(/Once given back to its agent, each later request costs/);
    fake.answers = ['Give Back', undefined];
    await run('giveBack');
    expect(await saveReport()).toMatch(/Each later request costs/);
  });

  it('is still the newest conversation after giving back, because its copy is unused', async () => {
    const path = writeClaudeSession(home);
    await openView();
    await condenseFirstRow('truncation');
    fake.answers = ['Give Back', undefined];
    await run('giveBack');
    await vi.waitFor(() => expect(rows()).toHaveLength(2));
    expect((await findNewestConversation(services))?.path).toBe(path);
  });

  it('names the second copy, made from the copy, that remains when the first copy is removed', async () => {
    const path = writeSession();
    await openView();
    await condenseFirstRow('lossless');
    fake.answers = ['Give Back', undefined];
    await run('giveBack');
    const replacements = join(home, 'storage', 'us', 'replacements');
    const [written] = await listGivenBack(nodeFiles, replacements);
    const copy = written!.path;
    const content = { path: join(dirname(path), 'next.jsonl'), before: undefined, bytes: readFileSync(copy) };
    await replaceFiles(nodeFiles, replacements, { conversation: 'copy', source: copy }, [content], new Date());
    await run(
      'undoGiveBack',
      rows().find(({ found }) => found.path === path),
    );
    expect(existsSync(copy)).toBe(false);
    expect(getLastMessage().message).toMatch(/^Undone\. The copy was removed; “.+”, which was made from it, stays\.$/);
  });

  it('offers an export for a conversation that cannot be given back', async () => {
    const path = writeSession();
    await openView();
    await condenseFirstRow('lossless');
    rmSync(path);
    const other = join(home, '.claude', 'projects', '-home-me-app', 'other.jsonl');
    writeFileSync(other, makeTranscript());
    await view.refresh();
    const node = rows().find(({ found }) => found.path === other);
    fake.answers = ['Export…'];
    fake.picks = ['Handover'];
    await run('giveBack', node);
    expect(getLastMessage().message).toContain('on the clipboard');
  });

  it('finishes at startup what another process had begun before it died', async () => {
    mkdirSync(join(home, 'storage', 'us', 'replacements', '2026-begun'), { recursive: true });
    await recoverGivenBack(services);
    expect(log.lines).toEqual([]);
    writeFileSync(join(home, 'storage', 'us', 'not-a-folder'), '');
    const blocked = testServices(home, join(home, 'storage', 'us', 'not-a-folder'));
    await recoverGivenBack(blocked.services);
    expect(blocked.log.lines).toHaveLength(1);
  });
});
