import assert from 'node:assert/strict';
import { afterEach, expect, it, vi } from 'vitest';
import * as vscode from 'vscode';
import { fake } from '../../test/support/vscode';
import { UpdatingPickerRows, pickItem } from './pickItem';

afterEach(() => {
  vi.useRealTimers();
  Object.assign(vscode.window.tabGroups.activeTabGroup, { activeTab: undefined });
});

it.each([false, true])(
  'a new pick list first ignores changes of focus, and after a second as its caller chose (%s)',
  async (wanted) => {
    vi.useFakeTimers();
    const picker = vscode.window.createQuickPick();
    picker.ignoreFocusOut = wanted;
    const filling = new AbortController();
    const picked = pickItem(picker, filling);
    expect(picker.ignoreFocusOut).toBe(true);
    vi.advanceTimersByTime(1_000);
    expect(picker.ignoreFocusOut).toBe(wanted);
    fake.quickPick?.accept({ label: 'one' });
    expect((await picked)?.label).toBe('one');
    expect(filling.signal.aborted).toBe(true);
  },
);

const activeTab = (input: unknown): void => {
  Object.assign(vscode.window.tabGroups.activeTabGroup, { activeTab: { input } });
};

it('a new pick list that a webview covers by taking the focus is shown again once, and not a second time', async () => {
  vi.useFakeTimers();
  activeTab({ viewType: 'panel' });
  const picker = vscode.window.createQuickPick();
  const show = vi.spyOn(picker, 'show');
  const picked = pickItem(picker, new AbortController());
  expect(picker.ignoreFocusOut).toBe(false);
  fake.quickPick?.hide();
  expect(show).toHaveBeenCalledTimes(2);
  fake.quickPick?.accept({ label: 'one' });
  expect((await picked)?.label).toBe('one');
  const left = pickItem(vscode.window.createQuickPick(), new AbortController());
  fake.quickPick?.hide();
  fake.quickPick?.hide();
  expect(await left).toBeUndefined();
});

it('a pick list over a webview closes at the first Escape after the user has typed', async () => {
  vi.useFakeTimers();
  activeTab({ viewType: 'panel' });
  const picked = pickItem(vscode.window.createQuickPick(), new AbortController());
  fake.quickPick?.type();
  fake.quickPick?.hide();
  expect(await picked).toBeUndefined();
});

it.each([
  ['no webview is active', { uri: 'a file' }, 0],
  ['it has settled', { viewType: 'panel' }, 1_000],
])('a pick list closes at the first Escape if %s', async (_, input, ms) => {
  vi.useFakeTimers();
  activeTab(input);
  const picked = pickItem(vscode.window.createQuickPick(), new AbortController());
  vi.advanceTimersByTime(ms);
  fake.quickPick?.hide();
  expect(await picked).toBeUndefined();
});

it.each([
  ['older', true],
  ['newer', false],
])(
  'a row of the %s rows that is accepted while an update is pending is picked once the window has the update',
  async (label, isDrawnLater) => {
    const [older, newer, newest] = ['older', 'newer', 'newest'].map((each) => ({ label: each }));
    assert(older && newer && newest);
    const picker = vscode.window.createQuickPick();
    const rows = new UpdatingPickerRows(picker, [newer, older], (row) => row.label);
    const picked = pickItem(picker, new AbortController(), rows.meant);
    void rows.showItems([newest, newer, older]);
    // VS Code reports the second of the items that were set last, even for the second of those that
    // the window draws, and the active row when the window draws new ones.
    fake.quickPick?.accept(picker.items[1] ?? newest);
    if (isDrawnLater) fake.quickPick?.activate(newest);
    expect((await picked)?.label).toBe(label);
  },
);

it('a pick list makes a row active again after an update whose active row is hidden by what the user typed', async () => {
  const [first, second] = ['first', 'second'].map((label) => ({ label }));
  assert(first && second);
  const picker = vscode.window.createQuickPick();
  const rows = new UpdatingPickerRows(picker, [first, second], ({ label }) => label);
  picker.activeItems = [first];
  const drawn = rows.showItems([first, second]);
  fake.executed = [];
  fake.quickPick?.activate();
  await drawn;
  // VS Code's confirmation of the rows, each time it gets them
  expect(fake.executed).toHaveLength(2);
});

it('accepting a row in a pick list picks it at once if a pending update keeps its index', async () => {
  const [old, renamed, newest] = ['old', 'old', 'newest'].map((label) => ({ label }));
  assert(old && renamed && newest);
  const picker = vscode.window.createQuickPick();
  const rows = new UpdatingPickerRows(picker, [old], ({ label }) => label);
  const picked = pickItem(picker, new AbortController(), rows.meant);
  void rows.showItems([renamed, newest]);
  fake.quickPick?.accept(picker.items[0] ?? newest);
  expect(await picked).toBe(renamed);
});

it('a pick list shows a second update only after the window has drawn the first one, and skips all but the latest', async () => {
  const [old, newer, newest] = ['old', 'newer', 'newest'].map((label) => ({ label }));
  assert(old && newer && newest);
  const picker = vscode.window.createQuickPick();
  const rows = new UpdatingPickerRows(picker, [old], ({ label }) => label);
  const picked = pickItem(picker, new AbortController(), rows.meant);
  picker.activeItems = [old];
  const drawn = rows.showItems([newer, old]);
  void rows.showItems([old]);
  const last = rows.showItems([newest, newer, old]);
  expect(picker.items).toEqual([newer, old]);
  await Promise.all([drawn, last]);
  expect(picker.items).toEqual([newest, newer, old]);
  expect(picker.activeItems).toEqual([old]);
  fake.quickPick?.accept(newer);
  expect(await picked).toBe(newer);
});

it('accepting a row that only a pending update contains picks it, because the window already shows the update', async () => {
  const [old, newest] = ['old', 'newest'].map((label) => ({ label }));
  assert(old && newest);
  const picker = vscode.window.createQuickPick();
  const rows = new UpdatingPickerRows(picker, [newest], ({ label }) => label);
  const picked = pickItem(picker, new AbortController(), rows.meant);
  void rows.showItems([newest, old]);
  fake.quickPick?.accept(old);
  expect(await picked).toBe(old);
});
