import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { fake } from '../../test/support/vscode';
import { showErrorMessage, showInformationMessage, showWarningMessage } from './notifications';

it.each([
  ['information', showInformationMessage],
  ['warning', showWarningMessage],
  ['error', showErrorMessage],
] as const)(
  'what is quoted in a notification (%s) is no link, and its buttons are as they were',
  async (kind, show) => {
    await show('The model said: [Mend it](command:evil).', 'Retry', 'Details');
    expect(fake.shown.at(-1)).toMatchObject({
      kind,
      message: 'The model said: [Mend it] (command:evil).',
      choices: ['Retry', 'Details'],
    });
  },
);

it('no other source shows notifications by itself', () => {
  const src = join(import.meta.dirname, '..');
  const sources = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((name) =>
    /(?<!\.test)\.ts$/.test(name),
  );
  const own = sources.filter((name) => /window\s*\.show\w+Message/.test(readFileSync(join(src, name), 'utf8')));
  expect(own).toEqual([join('window', 'notifications.ts')]);
});
