import { existsSync, mkdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import * as vscode from 'vscode';
import { openTestWindow, stubHome } from '../../test/support/testWindow';
import { makeTranscript } from '../../test/support/transcript';
import { fake, Uri, workspace } from '../../test/support/vscode';
import { CURRENT_CHOICE_ID } from '../core/condense/futureNeed/judgedChoices';
import type { Services } from '../window/services';
import { computeStoredAccount, saveAccount } from './account';

let home: string;
let services: Services;
let log: { readonly lines: readonly string[] };

beforeEach(() => {
  ({ home, services, log } = openTestWindow());
  stubHome(home);
  writeSession('00000000-0000-4000-8000-000000000001', makeTranscript(), 1_700_000_000);
});

/** @param seconds when the agent last wrote the session; absent: now */
function writeSession(name: string, text: string, seconds?: number): void {
  const path = join(home, '.claude', 'projects', 'p', `${name}.jsonl`);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  if (seconds !== undefined) utimesSync(path, seconds, seconds);
}

const last = () => fake.shown.at(-1)!;

it('the account adds up all sessions, reports its progress, and can be limited to the requests of the last days', async () => {
  expect((await computeStoredAccount(services, {})).overview.total.sessions).toBe(1);
  expect(fake.progress).toContain('1 of 1');
  writeSession('00000000-0000-4000-8000-000000000002', makeTranscript());
  expect((await computeStoredAccount(services, { days: 2 })).overview.total.sessions).toBe(1);
  expect((await computeStoredAccount(services, {})).overview.total.sessions).toBe(2);
});

it('the account names the provider whose savings it simulates', async () => {
  expect((await computeStoredAccount(services, { choice: 'truncation' })).whatIf?.choice).toBe('Truncation');
  expect((await computeStoredAccount(services, { choice: CURRENT_CHOICE_ID })).whatIf?.choice).toBe('Lossless');
  await expect(computeStoredAccount(services, { choice: 'magic' })).rejects.toThrow('there is no choice "magic"');
});

it.each(['native', 'of.another'])(
  "the account reports that savings with the provider %s can't be simulated",
  async (provider) => {
    fake.settings['contextCondenser.provider'] = provider;
    await expect(computeStoredAccount(services, { choice: CURRENT_CHOICE_ID })).rejects.toThrow(
      'Choose an option that calls no model.',
    );
    // Another choice does not depend on the configured provider.
    expect((await computeStoredAccount(services, { choice: 'lossless' })).whatIf?.choice).toBe('Lossless');
  },
);

it('the account command ends when canceled', async () => {
  fake.cancelAtFirstReport = true;
  await expect(computeStoredAccount(services, {})).rejects.toBeInstanceOf(vscode.CancellationError);
});

it("the account is saved in the format of the file's extension, a page by default, and opened", async () => {
  for (const [name, begins] of [
    ['a.html', '<!'],
    ['a.CSV', ''],
    ['a.json', ''],
    ['a', '<!'],
  ] as const) {
    fake.saveFile = join(home, name);
    await saveAccount(services);
    expect(last()).toMatchObject({ message: `The costs of one session were saved to ${name}.`, choices: ['Open'] });
    const text = readFileSync(fake.saveFile, 'utf8');
    expect(text.startsWith(begins)).toBe(true);
    if (name === 'a.json') expect(() => JSON.parse(text) as unknown).not.toThrow();
    if (name === 'a.CSV') expect(text.split('\n')[0]).toContain(',');
  }
  expect(fake.executed).toEqual([]);
  fake.answers = ['Open'];
  await saveAccount(services);
  await vi.waitFor(() => expect(fake.executed).toEqual([['openExternal', Uri.file(join(home, 'a'))]]));
});

it('the account is not saved if canceled, without an error', async () => {
  fake.saveFile = join(home, 'a.json');
  fake.cancelAtFirstReport = true;
  await saveAccount(services);
  expect(existsSync(fake.saveFile)).toBe(false);
  expect(fake.shown).toEqual([]);
});

it('the account command resolves when the file is written, not when the notification is closed', async () => {
  fake.saveFile = join(home, 'a.json');
  const shown = vi.spyOn(vscode.window, 'showInformationMessage').mockReturnValue(new Promise(() => undefined));
  onTestFinished(() => {
    shown.mockRestore();
  });
  await saveAccount(services);
  expect(shown).toHaveBeenCalledTimes(1);
});

it('the account says how many sessions could not be read, and names them in the log', async () => {
  writeSession('00000000-0000-4000-8000-000000000002', '{"type":"user"');
  workspace.workspaceFolders = [{ uri: Uri.file(home) }];
  fake.saveFile = join(home, 'a.html');
  await saveAccount(services);
  workspace.workspaceFolders = undefined;
  expect(last().message).toMatch(
    /^The costs of (one session|\d sessions) were saved to a\.html\. 1 could not be read\. See the log for details\.$/,
  );
  expect(log.lines.join('\n')).toContain('00000000-0000-4000-8000-000000000002.jsonl: ');
});

it("the account is saved as a page with the requested days and comparison, or as JSON with those days' sessions", async () => {
  writeSession('00000000-0000-4000-8000-000000000002', makeTranscript());
  fake.saveFile = join(home, 'a.html');
  await saveAccount(services, { days: 2, choice: 'truncation' });
  const page = readFileSync(fake.saveFile, 'utf8').replace(/\s+/g, ' ');
  expect(page).toContain('The last 2 days: <strong>');
  expect(page).toMatch(/The last 2 days: \$[\d.]+; with Truncation: /);
  fake.saveFile = join(home, 'a.json');
  await saveAccount(services, { days: 2, choice: 'truncation' });
  const { sessions } = JSON.parse(readFileSync(fake.saveFile, 'utf8')) as { readonly sessions: readonly unknown[] };
  expect(sessions).toHaveLength(1);
});

it('the account command does nothing if no file is chosen', async () => {
  await saveAccount(services);
  expect([fake.shown, fake.progress]).toEqual([[], []]);
});
