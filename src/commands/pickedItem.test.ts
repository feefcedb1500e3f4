import { afterEach, expect, it, vi } from 'vitest';
import * as vscode from 'vscode';
import { fake } from '../../test/support/vscode';
import { pickedItem } from './pickedItem';

afterEach(() => {
  vi.useRealTimers();
});

it.each([false, true])('a new list keeps for a moment what the focus would close (then: %s)', async (wanted) => {
  vi.useFakeTimers();
  const picker = vscode.window.createQuickPick();
  picker.ignoreFocusOut = wanted;
  const filling = new AbortController();
  const picked = pickedItem(picker, filling);
  expect(picker.ignoreFocusOut).toBe(true);
  vi.advanceTimersByTime(1_000);
  expect(picker.ignoreFocusOut).toBe(wanted);
  fake.quickPick?.accept({ label: 'one' });
  expect((await picked)?.label).toBe('one');
  expect(filling.signal.aborted).toBe(true);
});
