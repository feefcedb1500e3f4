import { expect, it } from 'vitest';
import { exchange, lines, user } from '../../testing';
import { freshCounter } from '../../testingCounter';
import type { ApiMessage } from '../../messages/types';
import { Pace } from '../../pace';
import { CondensationManager, providersWithoutModels } from '..';
import { readingPage } from './readingPage';

const FILE = lines('file', 120);
const RECENT = Array.from({ length: 40 }, (_, at) =>
  exchange(`recent${at}`, 'Bash', { command: `true ${at}` }, 'ok'),
).flat();

async function pageOf(begun: readonly ApiMessage[], title = 'Mend it') {
  const original = [...begun, ...RECENT];
  const manager = new CondensationManager(freshCounter(), providersWithoutModels());
  const outcome = await manager.condense({
    conversation: 'c',
    messages: original,
    provider: 'truncation',
    config: {},
    trigger: 'manual',
  });
  if (outcome.kind !== 'condensed') throw new Error(outcome.kind);
  const { edits } = outcome;
  return { edits, original, page: await readingPage({ title, original, edits }, { nonce: 'n0nce', pace: new Pace() }) };
}

it('has every message, and at each place that changed what stood there, folded', async () => {
  const { page, original, edits } = await pageOf([
    user('Mend <b>the file</b>'),
    ...exchange('a', 'Read', { file_path: 'src/a.ts' }, FILE),
  ]);
  expect(page.match(/<section id="message-/g)).toHaveLength(original.length);
  const cut = edits.find((edit) => edit.kind === 'cut');
  if (!cut) throw new Error('nothing was cut');
  const [first] = cut.cuts;
  expect(page).toContain(`<del>${FILE.slice(first?.start, first?.end)}</del>`);
  expect(page).toContain(`<ins>${first?.text ?? ''}</ins>`);
  expect(page).toContain('href="#message-3"');
  // Nothing that went is lost to the reader: the kept parts and the opened folds are the whole text.
  const section = page.slice(page.indexOf('id="message-3"'), page.indexOf('id="message-4"'));
  for (const line of FILE.split('\n')) expect(section).toContain(line);
});

it('says so where nothing went', async () => {
  const page = await readingPage(
    { title: 'New', original: [user('Hello')], edits: [] },
    { nonce: 'n', pace: new Pace() },
  );
  expect(page).toContain('Nothing was removed.');
  expect(page).not.toContain('class="gone"');
});

it('runs nothing and loads nothing, whatever the conversation says; its one style has the nonce', async () => {
  const hostile = `<script src="https://example.org/x.js"></script><img src=x onerror=alert(1)>\n${FILE}`;
  const { page } = await pageOf([user(hostile), ...exchange('a', 'Bash', { [hostile]: hostile }, hostile)], hostile);
  expect(page).toContain(`content="default-src 'none'; style-src 'nonce-n0nce'"`);
  expect(page).toContain('<style nonce="n0nce">');
  expect(page).not.toMatch(/<(?:script|img|link|iframe|object|base|form)\b/i);
  expect(page).not.toMatch(/<[^>]+\s(?:src|on\w+)=/i);
  expect(page.match(/href="[^#]/)).toBeNull();
});

it('masks keys, also one that a cut parts in two', async () => {
  const body = Array.from({ length: 60 }, (_, at) => `${String(at).padStart(2, '0')}${'QUJD'.repeat(15)}`).join('\n');
  const key = `-----BEGIN PRIVATE KEY-----\n${body}\n-----END PRIVATE KEY-----`;
  const { page } = await pageOf([
    user('task'),
    ...exchange('a', 'Read', { file_path: 'k.pem' }, `${lines('before', 40)}\n${key}\n${lines('after', 40)}`),
  ]);
  expect(page).toContain('[key]');
  expect(page).not.toContain('QUJDQUJDQUJD');
});
