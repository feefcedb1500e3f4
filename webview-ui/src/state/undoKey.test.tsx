/** Ctrl+Z on the page undoes the change that shows an Undo, and never text typed elsewhere. */
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { fake, workspace } from '../../../test/support/vscode';
import { openPage, type TestPage } from '../testing';

const pass = (id: string): object => ({
  id,
  name: `Pass ${id}`,
  mode: 'individual',
  selection: { type: 'preserve_recent', count: 5 },
});

beforeEach(() => {
  fake.reset();
  workspace.workspaceFolders = undefined;
  workspace.name = undefined;
  fake.settings['contextCondenser.smart'] = { version: 1, passes: [pass('a'), pass('b')] };
});

const ids = (): unknown[] => {
  const { passes } = fake.settings['contextCondenser.smart'] as { passes: { id: string }[] };
  return passes.map(({ id }) => id);
};

/**
 * Presses the key at an element.
 * @returns true if the event passed the page and reached VS Code
 */
function pressUndo(target: Element, key: KeyboardEventInit = { ctrlKey: true }): boolean {
  let isPassedOn = false;
  const listener = (): void => {
    isPassedOn = true;
  };
  window.addEventListener('keydown', listener);
  target.dispatchEvent(
    new KeyboardEvent('keydown', { key: 'z', bubbles: true, composed: true, cancelable: true, ...key }),
  );
  window.removeEventListener('keydown', listener);
  return isPassedOn;
}

const opened = (): Promise<TestPage> => openPage({ view: { open: ['smart'] } });

describe('Ctrl+Z in the passes section', () => {
  it.each([{ ctrlKey: true }, { metaKey: true }])('restores a deleted pass, with %o', async (key) => {
    const page = await opened();
    await page.click(() => page.find('.icon-button', 'Delete Pass a'));
    await page.until(() => page.find('.done', 'was deleted'));
    expect(pressUndo(document.body, key)).toBe(false);
    await page.until(() => ids().length === 2);
    expect(ids()).toEqual(['a', 'b']);
  });

  it.each([
    { ctrlKey: true, key: 'y' },
    { ctrlKey: true, shiftKey: true, key: 'Z' },
  ])('redoes an undone deletion with %o, which can be undone again', async (key) => {
    const page = await opened();
    await page.click(() => page.find('.icon-button', 'Delete Pass a'));
    await page.until(() => page.find('.done', 'was deleted'));
    pressUndo(document.body);
    await page.until(() => ids().length === 2);
    await page.until(() => !pressUndo(document.body, key) && ids().join() === 'b');
    await page.until(() => page.find('.done', 'was deleted'));
    pressUndo(document.body);
    await page.until(() => ids().join() === 'a,b');
  });

  it('undoes a move', async () => {
    const page = await opened();
    await page.click(() => page.find('.icon-button', 'Move Pass a down'));
    await page.until(() => page.find('.done', 'is now at position 2'));
    expect(ids()).toEqual(['b', 'a']);
    pressUndo(page.find('.icon-button', 'Move Pass b'));
    await page.until(() => ids()[0] === 'a');
  });

  it('undoes a deletion that is still being saved, not the change before it', async () => {
    fake.settings['contextCondenser.smart'] = 'file-aware';
    const page = await opened();
    await page.click(() => page.find('#smart vscode-button', 'Make it my own'));
    await page.until(() => page.find('#smart .done', 'These passes are yours now.'));
    const before = ids();
    const real = workspace.getConfiguration.bind(workspace);
    let save: (() => void) | undefined;
    const spy = vi.spyOn(workspace, 'getConfiguration').mockImplementation((section) => ({
      ...real(section),
      update: async (...change) => {
        spy.mockRestore();
        await new Promise<void>((resolve) => (save = resolve));
        await real(section).update(...change);
      },
    }));
    onTestFinished(() => {
      spy.mockRestore();
    });
    await page.click(() => page.find('#smart .item-buttons .icon-button', 'Delete Outline of cold files'));
    pressUndo(document.body);
    await page.until(() => save);
    save?.();
    await page.until(() => page.all('#smart .pass').length === before.length);
    await page.until(() => ids().length === before.length);
    expect(ids()).toEqual(before);
  });

  it('does nothing, and reaches no other handler, if nothing can be undone', async () => {
    const page = await opened();
    expect(pressUndo(page.find('button'))).toBe(false);
    await page.until(() => true);
    expect(ids()).toEqual(['a', 'b']);
  });

  it('is left to a text field that has the focus', async () => {
    const page = await opened();
    await page.click(() => page.find('.icon-button', 'Delete Pass a'));
    await page.until(() => page.find('.done', 'was deleted'));
    expect(pressUndo(page.find('.search-input'))).toBe(true);
    await page.until(() => true);
    expect(ids()).toEqual(['b']);
  });
});
