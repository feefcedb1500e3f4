/**
 * Tests the line below an edited pass: what the pass does to the previewed conversation, and what
 * that costs.
 */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { fake, workspace } from '../../../../test/support/vscode';
import { PreviewThread } from '../../../../src/engine/previewThread';
import { openPage, type TestPage } from '../../testing';

beforeEach(() => {
  fake.reset();
  workspace.workspaceFolders = undefined;
  workspace.name = undefined;
  const pass = { id: 'a', name: 'Pass a', mode: 'individual', selection: { type: 'preserve_recent', count: 5 } };
  fake.settings['contextCondenser.smart'] = { version: 1, passes: [pass] };
});

afterEach(() => {
  vi.restoreAllMocks();
});

const done = { kind: 'done' };
const step = { name: 'Pass a', tokensBefore: 1_000, tokensAfter: 600, edits: 3, outcome: done };

/** Opens the pass while the worker answers with these steps. */
async function openPass(answer: () => Promise<unknown>): Promise<TestPage> {
  vi.spyOn(PreviewThread.prototype, 'askPreviewQuestion').mockImplementation(answer as never);
  const page = await openPage({ view: { open: ['smart'] } });
  await page.click(() => page.find('.item-name', 'Pass a'));
  return page;
}

const line = (steps: readonly object[]): Promise<string> =>
  openPass(() => Promise.resolve({ title: 'Rename', steps })).then((page) =>
    page.until(() => {
      const text = page.find('.pass-estimate').textContent;
      return text.includes('Working out') ? undefined : text;
    }),
  );

describe('the estimated effect of a pass', () => {
  it('shows its tokens, changes and price', async () => {
    expect(await line([step])).toBe('1,000 → 600 tokens (−40%), 3 changes · free · in “Rename”');
  });

  it('adds up from the first to the last of several steps', async () => {
    const second = { ...step, tokensBefore: 600, tokensAfter: 500, edits: 2 };
    expect(await line([step, second])).toBe('1,000 → 500 tokens (−50%), 5 changes · free · in “Rename”');
  });

  it('includes the price of its model calls, or says that it is unknown', async () => {
    const priced = { ...step, calls: 2, cost: 0.05 };
    expect(await line([priced])).toContain(' · $0.05 for 2 calls · ');
    expect(await line([priced, { ...step, calls: 1 }])).toContain(' · unknown for 3 calls · ');
    expect(await line([{ ...step, edits: 1, calls: 1, cost: 0.05 }])).toContain(', 1 change · $0.05 for 1 call · ');
  });

  it('says if nothing changes', async () => {
    expect(await line([{ ...step, tokensAfter: 1_000, edits: 0 }])).toBe('Finds nothing to do · free · in “Rename”');
    expect(await line([])).toBe('Switched off: it does nothing.');
  });

  it('says if the pass cannot run, with the reason', async () => {
    expect(await line([{ ...step, outcome: { kind: 'skipped', reason: 'no profile' } }])).toBe(
      'Does not run in “Rename”: no profile.',
    );
    expect(await line([{ ...step, outcome: { kind: 'failed', reason: 'The model refused.' } }])).toBe(
      'Skipped in “Rename”: The model refused.',
    );
  });

  it('is shown as a problem if it can’t be computed', async () => {
    const page = await openPass(() => Promise.reject(new Error('The file is gone.')));
    await page.until(() => page.find('.draft-bar .problem', 'The file is gone.'));
  });
});

describe('the draft bar of the passes section', () => {
  it('in a workspace says that the draft will apply there', async () => {
    workspace.workspaceFolders = [];
    workspace.name = 'demo';
    fake.workspaceSettings['contextCondenser.smart'] = fake.settings['contextCondenser.smart'];
    vi.spyOn(PreviewThread.prototype, 'askPreviewQuestion').mockResolvedValue({
      title: 'Rename',
      steps: [step],
    } as never);
    const page = await openPage({ view: { open: ['smart'], scope: 'workspace' } });
    await page.click(() => page.find('.item-name', 'Pass a'));
    await page.until(() => page.find('.draft-bar', 'in the settings of workspace demo'));
  });

  it('leads to the preview', async () => {
    const page = await openPass(() => Promise.resolve({ title: 'Rename', steps: [step] }));
    await page.click(() => page.find('.draft-bar button', 'Show the preview'));
    await page.until(() => (page.kept() as { open: string[] }).open.includes('preview'));
  });
});
