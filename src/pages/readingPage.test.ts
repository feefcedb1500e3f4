import { describe, expect, it } from 'vitest';
import { assistant, call, makeToolExchange, makeLines, result, text, user } from '../core/testing';
import { createCounter } from '../core/testingCounter';
import type { ApiMessage } from '../core/messages/types';
import { CondensationManager, createProviders } from '../core/condense';
import { renderReadingPage } from './readingPage';
import { createBlockEdit, createCutEdit, createSummaryEdit } from '../core/condense/report/testing';

const FILE = makeLines('file', 120);
const RECENT = Array.from({ length: 40 }, (_, at) =>
  makeToolExchange(`recent${at}`, 'Bash', { command: `true ${at}` }, 'ok'),
).flat();

async function pageOf(begun: readonly ApiMessage[], title = 'Mend it') {
  const original = [...begun, ...RECENT];
  const manager = new CondensationManager(createCounter(), createProviders());
  const outcome = await manager.condense({
    conversation: 'c',
    messages: original,
    provider: 'truncation',
    config: {},
    trigger: 'manual',
  });
  if (outcome.kind !== 'condensed') throw new Error(outcome.kind);
  const { edits } = outcome;
  return { edits, original, page: renderReadingPage({ title, original, edits }, { nonce: 'n0nce' }) };
}

it('the reading page of a condensed conversation has every message, with removed content folded in place', async () => {
  const { page, original, edits } = await pageOf([
    user('Mend <b>the file</b>'),
    ...makeToolExchange('a', 'Read', { file_path: 'src/a.ts' }, FILE),
  ]);
  expect(page.match(/<section id="message-/g)).toHaveLength(original.length);
  const cut = edits.find((edit) => edit.kind === 'cut');
  if (!cut) throw new Error('nothing was cut');
  const [first] = cut.cuts;
  expect(page).toContain(`<del>${FILE.slice(first?.start, first?.end)}</del>`);
  expect(page).toContain(`<ins>${first?.text ?? ''}</ins>`);
  // VS Code would show the address of a link without a title as its tooltip.
  expect(page).toMatch(/href="#message-3" title="Message 3 /);
  // The reader loses nothing: the kept parts and the opened folds contain the whole text.
  const section = page.slice(page.indexOf('id="message-3"'), page.indexOf('id="message-4"'));
  for (const line of FILE.split('\n')) expect(section).toContain(line);
});

it('the reading page of a conversation says so if nothing was removed', () => {
  const page = renderReadingPage({ title: 'New', original: [user('Hello')], edits: [] }, { nonce: 'n' });
  expect(page).toContain('Nothing was removed.');
  expect(page).not.toContain('class="gone"');
});

it('the reading page of a conversation runs and loads nothing whatever the conversation says, and its one style has the nonce', async () => {
  const hostile = `<script src="https://example.org/x.js"></script><img src=x onerror=alert(1)>\n${FILE}`;
  const { page } = await pageOf(
    [user(hostile), ...makeToolExchange('a', 'Bash', { [hostile]: hostile }, hostile)],
    hostile,
  );
  expect(page).toContain(`content="default-src 'none'; style-src 'nonce-n0nce'"`);
  expect(page).toContain('<style nonce="n0nce">');
  expect(page).not.toMatch(/<(?:script|img|link|iframe|object|base|form)\b/i);
  expect(page).not.toMatch(/<[^>]+\s(?:src|on\w+)=/i);
  expect(page.match(/href="[^#]/)).toBeNull();
});

it('the reading page of a conversation masks keys, even one split by a cut', async () => {
  const body = Array.from({ length: 60 }, (_, at) => `${String(at).padStart(2, '0')}${'QUJD'.repeat(15)}`).join('\n');
  const key = `-----BEGIN PRIVATE KEY-----\n${body}\n-----END PRIVATE KEY-----`;
  const { page } = await pageOf([
    user('task'),
    ...makeToolExchange(
      'a',
      'Read',
      { file_path: 'k.pem' },
      `${makeLines('before', 40)}\n${key}\n${makeLines('after', 40)}`,
    ),
  ]);
  expect(page).toContain('[key]');
  expect(page).not.toContain('QUJDQUJDQUJD');
});

const shown = (original: readonly ApiMessage[], edits: Parameters<typeof renderReadingPage>[0]['edits'] = []) =>
  renderReadingPage({ title: 'T', original, edits }, { nonce: 'n' });

const IMAGE = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo' } };

describe('the content of a message on the reading page', () => {
  it.each([
    ['thinking, folded', assistant({ type: 'thinking', thinking: 'I wonder', signature: 's' }), 'I wonder', 'iVBOR'],
    ['an image by its size', user(IMAGE), /image, \d+ characters/, 'iVBOR'],
    ['an image in a result by its size', user(result('x', [IMAGE])), /image, \d+ characters/, 'iVBOR'],
    ['a call by its tool', assistant(call('x', 'Grep', { pattern: 'needle' })), '<h3>Grep</h3>', 'undefined'],
    ['parameters that are no text', assistant(call('x', 'Grep', { head: 7 })), '<p>7</p>', 'undefined'],
    ['a parameter that is empty', assistant(call('x', 'Grep', { head: null })), '<p>null</p>', 'undefined'],
    ['a result without its call by the id', user(result('call_7', 'found')), 'Result of call_7', 'Error of'],
    ['an error', user(result('call_7', 'no such file', { is_error: true })), 'Error of call_7', 'Result of'],
    ['a result without content', user(result('call_7')), 'Result of call_7', 'undefined'],
    ['a result in parts', user(result('x', [text('first part'), text('second part')])), 'second part', 'undefined'],
    [
      'a source that is an address',
      user(result('x', [{ type: 'search_result', title: 'A title', source: 'a/b' }])),
      'A title',
      'undefined',
    ],
  ])('is shown as %s', (_, message, has, hasNot) => {
    const page = shown([message]);
    expect(page.slice(page.indexOf('<h1>'))).toMatch(has);
    expect(page.slice(page.indexOf('<h1>'))).not.toContain(hasNot);
    expect(page).toContain('Nothing was removed.');
  });

  it('has results named by the tool that was called', () => {
    expect(shown(makeToolExchange('x', 'Grep', {}, 'found'))).toContain('Result of Grep');
  });

  it('has the rest of a long text folded, but no short text', () => {
    const [short, long] = [makeLines('short', 24), makeLines('long', 25)];
    const page = shown([user(short), user(long)]);
    expect(page.match(/more lines, unchanged/g)).toHaveLength(1);
    expect(page).toContain('13 more lines, unchanged');
    for (const line of long.split('\n')) expect(page).toContain(line);
  });
});

describe('removed content on the reading page', () => {
  it('is shown, if messages were summarized, as the summary with what it replaced', () => {
    const original = [user('task'), assistant('first answer'), user('go on'), assistant('second answer')];
    const page = shown(original, [createSummaryEdit(original, 1, 3, user('They spoke.'))]);
    expect(page).toContain('Messages 2 to 3: a summary');
    expect(page).toContain('1 message with something removed');
    expect(page.match(/<section id="message-\d+"/g)).toEqual([
      '<section id="message-1"',
      '<section id="message-2"',
      '<section id="message-4"',
    ]);
    const section = page.slice(page.indexOf('<section id="message-2"'), page.indexOf('<section id="message-4"'));
    expect(section).toMatch(/<ins>[^<]*They spoke\./);
    expect(section).toMatch(/<del>[^<]*first answer[^<]*go on/);
  });

  it('is titled with a command whose key is masked, wherever the title is truncated', () => {
    const command = `${'#'.repeat(60)} curl https://me:hunter22hunter22hunter22@example.org`;
    const original = [user('task'), ...makeToolExchange('a', 'Bash', { command }, 'ok'), assistant('done')];
    const page = shown(original, [createSummaryEdit(original, 1, 3, user('Done.'))]);
    expect(page).toContain('result of Bash: ####');
    expect(page).not.toContain('hunter22');
  });

  it('is shown as its placeholder or a word if it is a whole block', () => {
    const thought = { type: 'thinking', thinking: 'I wonder', signature: 's' };
    const original = [assistant(thought, 'done'), user(IMAGE), user(result('x', [IMAGE])), user(result('y', [IMAGE]))];
    const page = shown(original, [
      createBlockEdit(original, 0, ['content', 0]),
      createBlockEdit(original, 1, ['content', 0], '[image removed]'),
      createBlockEdit(original, 2, ['content', 0, 'content', 0], '[result image removed]'),
      createBlockEdit(original, 3, ['content', 0, 'content', 0]),
    ]);
    expect(page).toMatch(/<summary>Thinking [^]*8 characters removed[^]*<del>I wonder<\/del>/);
    expect(page).toContain('<ins>[image removed]</ins>');
    expect(page).toContain('<ins>[result image removed]</ins>');
    expect(page.match(/class="gone"/g)).toHaveLength(4);
    expect(page).not.toContain('iVBOR');
    expect(page).toContain('Message 1 · assistant: 8 characters');
    // A message with a removed image inside a result counts as well.
    expect(page).toContain('4 messages with something removed');
  });

  it('is shown with the text around it if it is a part of a text', () => {
    const original = [user('keep this, drop that, keep more')];
    const page = shown(original, [createCutEdit(original, 0, ['content'], [{ start: 11, end: 21, text: '' }])]);
    expect(page).toContain('keep this, <details class="gone">');
    expect(page).toMatch(/10 characters removed<\/span><\/summary>\s*<div class="text"><del>drop that,<\/del>/);
    expect(page).toContain('Message 1 · user: 10 characters');
  });
});

it.each([
  ['cut', user('task')],
  ['long', user(makeLines('kept', 60).replaceAll('\n', '\r\n'))],
])('the reading page of a %s text with Windows line ends shows no replacement character', async (_, first) => {
  const file = makeLines('file', 120).replaceAll('\n', '\r\n');
  const { page } = await pageOf([first, ...makeToolExchange('a', 'Read', { file_path: 'src/a.ts' }, file)]);
  expect(page).not.toMatch(/[\ufffd\r]/);
});
