import { describe, expect, it } from 'vitest';
import { exchange, lines, user } from '../../testing';
import { freshCounter } from '../../testingCounter';
import type { ApiMessage } from '../../messages/types';
import { Pace } from '../../pace';
import { CondensationManager, providersWithoutModels } from '..';
import { reportPage, type ReportPageOptions } from './reportPage';

const counter = freshCounter();
const FILE = lines('file', 120);
const messages = [
  user('Mend <b>the file</b>'),
  ...exchange('a', 'Read', { file_path: 'src/a.ts' }, FILE),
  ...exchange('b', 'Read', { file_path: 'src/a.ts' }, FILE),
];

/** Recent messages stay as they are: behind these the others are old. */
const RECENT = Array.from({ length: 40 }, (_, at) =>
  exchange(`recent${at}`, 'Bash', { command: `true ${at}` }, 'ok'),
).flat();

async function pageOf(begun: readonly ApiMessage[], options: Partial<ReportPageOptions> = {}, title = 'Mend <it>') {
  const original = [...begun, ...RECENT];
  const manager = new CondensationManager(counter, providersWithoutModels());
  const request = {
    conversation: 'c',
    messages: original,
    provider: 'truncation',
    config: {},
    trigger: 'manual',
  } as const;
  const outcome = await manager.condense(request);
  if (outcome.kind !== 'condensed') throw new Error(outcome.kind);
  const { edits, steps, cost, notes } = outcome;
  const subject = { title, format: 'claude-code', original, edits, steps, providerName: 'Truncation', cost, notes };
  return { outcome, page: await reportPage(subject, { counter, pace: new Pace(), version: '1.2.3', ...options }) };
}

describe('the page of a condensation', () => {
  it('has the figures of the outcome, and says that it is a preview', async () => {
    const { outcome, page } = await pageOf(messages);
    const number = new Intl.NumberFormat('en-US');
    expect(page).toContain(`${number.format(outcome.tokensBefore)} → ${number.format(outcome.tokensAfter)} tokens`);
    expect(page).toContain('A preview: nothing has been applied.');
    expect(page).toContain('result of Read src/a.ts');
  });

  it('needs no network and runs nothing, whatever the conversation says', async () => {
    const hostile = `<script src="https://example.org/x.js"></script><img src=x onerror=alert(1)>\n${FILE}`;
    const { page } = await pageOf(
      [user(hostile), ...exchange('a', 'Bash', { command: hostile }, hostile), ...exchange('b', 'Read', {}, FILE)],
      {},
      hostile,
    );
    expect(page).toContain(`content="default-src 'none'; style-src 'unsafe-inline'"`);
    expect(page).not.toMatch(/<(?:script|img|link|iframe|object|base)\b/i);
    expect(page).not.toMatch(/<[^>]+\s(?:src|href|on\w+)=/i);
  });

  it('masks keys, also one that a cut parts in two', async () => {
    const body = Array.from({ length: 60 }, (_, at) => `${String(at).padStart(2, '0')}${'QUJD'.repeat(15)}`).join('\n');
    const key = `-----BEGIN PRIVATE KEY-----\n${body}\n-----END PRIVATE KEY-----`;
    const { outcome, page } = await pageOf([
      user('task'),
      ...exchange('a', 'Read', { file_path: 'k.pem' }, `${lines('before', 40)}\n${key}\n${lines('after', 40)}`),
      ...exchange('b', 'Read', {}, FILE),
    ]);
    expect(outcome.edits.length).toBeGreaterThan(0);
    expect(page).toContain('[key]');
    expect(page).not.toContain('QUJDQUJDQUJD');
  });

  it('leaves out all content where that is asked for', async () => {
    const { page } = await pageOf(messages, { withoutContent: true }, 'Mend src/secret.ts');
    for (const word of ['src/', 'Mend', 'file 7', 'Read']) expect(page).not.toContain(word);
    expect(page).toContain('left out of this report');
    expect(page).toContain('Tool results');
  });

  it('is the same for the same condensation, but for the times that the steps took', async () => {
    const strip = (page: string): string => page.replace(/[\d.]+ (?:ms|seconds)/g, '');
    expect(strip((await pageOf(messages)).page)).toBe(strip((await pageOf(messages)).page));
  });
});
