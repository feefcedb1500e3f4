import { join } from 'node:path';
import { beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import * as vscode from 'vscode';
import { openTestWindow } from '../../test/support/testWindow';
import { writeTranscript } from '../../test/support/transcript';
import { fake, secretStorage } from '../../test/support/vscode';
import { storeApiKey } from '../settings/keys';
import { openLedger } from '../storage/ledgerStore';
import { getLedgerFolder } from '../window/background';
import type { Services } from '../window/services';
import {
  condenseChosenConversation,
  getDefaultConversation,
  resolveConversation,
  saveConversationPins,
} from './chosenConversation';
import { readPreviewSetup } from './previewSetup';

let home: string;
let file: string;
let services: Services;

beforeEach(() => {
  ({ home, services } = openTestWindow());
  file = writeTranscript(home);
});

const profile = { id: 'work', name: 'Work', vendor: 'anthropic', model: 'claude-sonnet-4-20250514' } as const;

it('condensing the chosen conversation uses the settings, and needs no model if the configuration calls none', async () => {
  fake.settings['contextCondenser.provider'] = 'truncation';
  fake.settings['contextCondenser.truncation'] = { minimumTokens: 40 };
  fake.settings['contextCondenser.manual.targetPercent'] = 30;
  expect(await readPreviewSetup(services, { kind: 'current' })).toMatchObject({
    provider: 'truncation',
    config: { minimumTokens: 40 },
    targetPercent: 30,
    models: [],
  });
  expect(await readPreviewSetup(services, { kind: 'preset', id: 'file-aware' })).toMatchObject({ provider: 'smart' });
  expect((await readPreviewSetup(services, { kind: 'provider', id: 'lossless' })).provider).toBe('lossless');
});

it('condensing the chosen conversation reports a preset that is gone and an unknown provider', async () => {
  await expect(readPreviewSetup(services, { kind: 'preset', id: 'gone' })).rejects.toThrow(
    'preset “gone” no longer exists',
  );
  fake.settings['contextCondenser.provider'] = 'other.provider';
  await expect(readPreviewSetup(services, { kind: 'current' })).rejects.toThrow('another extension');
});

it("the panel receives the models of a configuration's passes without keys, or the reason why a model is missing", async () => {
  fake.settings['contextCondenser.profiles'] = [profile];
  fake.settings['contextCondenser.condensingProfile'] = 'work';
  fake.settings['contextCondenser.provider'] = 'native';
  const without = await readPreviewSetup(services, { kind: 'current' });
  expect(without.models).toHaveLength(1);
  expect(without.models[0]).toHaveProperty('problem');
  await storeApiKey(secretStorage, profile, 'the key');
  const setup = await readPreviewSetup(services, { kind: 'current' });
  expect(setup.models[0]).toMatchObject({ model: { profile: 'Work', vendor: 'anthropic' }, samples: [] });
  expect(JSON.stringify(structuredClone(setup))).not.toContain('the key');
  fake.settings['contextCondenser.provider'] = 'smart';
  const operations = { toolResults: { operation: 'summarize', apiProfile: 'cheap' } };
  const pass = { id: 'p', name: 'P', mode: 'individual', selection: { type: 'preserve_recent', count: 2 } };
  fake.settings['contextCondenser.smart'] = {
    version: 1,
    passes: [{ ...pass, individualConfig: { defaults: operations } }],
  };
  expect((await readPreviewSetup(services, { kind: 'current' })).models).toMatchObject([{}, { apiProfile: 'cheap' }]);
});

it('the panel shows the sample while the chat has no conversation and none is stored', () => {
  const name = getDefaultConversation(services);
  expect(name).toEqual({ kind: 'file', path: join(home, 'sample', 'conversation.jsonl') });
  expect(resolveConversation(services, name)).toMatchObject({ kind: 'file', history: 'active' });
  expect(getDefaultConversation(services, file)).toEqual({ kind: 'file', path: file });
  expect(() => resolveConversation(services, { kind: 'live', id: 'gone' })).toThrow('no longer in memory');
});

it('condensing the chosen conversation stores its pins and leaves excluded messages unchanged', async () => {
  const name = { kind: 'file', path: file } as const;
  await saveConversationPins(services, name, [1, 2]);
  await condenseChosenConversation(services, name, [1], [3]);
  const { ledger } = await openLedger(getLedgerFolder(services), { id: 'claude-code:session-1' });
  expect(ledger.pinned.map(({ message }) => message)).toEqual([1]);
  expect(ledger.condensations).toHaveLength(1);
  for (const edit of ledger.condensations[0]!.edits) expect(edit).not.toMatchObject({ place: { message: 3 } });
});

it('condensing the chosen conversation resolves when it is condensed, not when the notification is closed', async () => {
  const shown = vi.spyOn(vscode.window, 'showInformationMessage').mockReturnValue(new Promise(() => undefined));
  onTestFinished(() => {
    shown.mockRestore();
  });
  await condenseChosenConversation(services, { kind: 'file', path: file }, [], []);
  expect(shown).toHaveBeenCalledTimes(1);
});
