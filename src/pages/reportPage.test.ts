import { describe, expect, it } from 'vitest';
import { assistant, call, makeToolExchange, makeLines, result, user } from '../core/testing';
import { createCounter } from '../core/testingCounter';
import type { ApiMessage } from '../core/messages/types';
import { CondensationManager, createProviders } from '../core/condense';
import {
  EMPTY_LEDGER,
  buildLedger,
  createUndoEntry,
  type CondensationId,
  type LedgerEntry,
} from '../core/condense/ledger/ledger';
import {
  describeBlock,
  findReportedCondensation,
  renderReportPage,
  type ReportedCondensation,
  type ReportPageOptions,
} from './reportPage';
import { createBlockEdit, createCutEdit, createSummaryEdit } from '../core/condense/report/testing';

const counter = createCounter();
const FILE = makeLines('file', 120);
const messages = [
  user('Mend <b>the file</b>'),
  ...makeToolExchange('a', 'Read', { file_path: 'src/a.ts' }, FILE),
  ...makeToolExchange('b', 'Read', { file_path: 'src/a.ts' }, FILE),
];

/** Recent messages stay unchanged, so these make all messages before them old. */
const RECENT = Array.from({ length: 40 }, (_, at) =>
  makeToolExchange(`recent${at}`, 'Bash', { command: `true ${at}` }, 'ok'),
).flat();

async function renderPage(
  begun: readonly ApiMessage[],
  options: Partial<ReportPageOptions> = {},
  title = 'Mend <it>',
  fill?: ReportedCondensation['fill'],
) {
  const original = [...begun, ...RECENT];
  const manager = new CondensationManager(counter, createProviders());
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
  const subject = {
    ...{ title, format: 'claude-code', original, edits, steps, providerName: 'Truncation', cost, notes },
    ...(fill !== undefined && { fill }),
  };
  return { outcome, page: renderReportPage(subject, { counter, version: '1.2.3', ...options }) };
}

describe('the report page of a condensation', () => {
  it('has the figures of the outcome, and says if it is a preview', async () => {
    const { outcome, page } = await renderPage(messages);
    const number = new Intl.NumberFormat('en-US');
    expect(page).toContain(`${number.format(outcome.tokensBefore)} → ${number.format(outcome.tokensAfter)} tokens`);
    expect(page).toContain('A preview: nothing has been applied.');
    expect(page).toContain('result of Read src/a.ts');
  });

  it('says how full the window was, or how long the conversation is if the window is not known', async () => {
    const fill = { tokens: 40_000, isRecorded: true };
    const { page: known } = await renderPage(messages, {}, undefined, { ...fill, window: 200_000 });
    expect(known).toContain('As the agent left it, the context window was 20% full: 40,000 of 200,000 tokens, by');
    expect(known).toMatch(/; context window <strong>20% → ≈ \d+% full<\/strong> once the agent continues with it/);
    const { page: unknown } = await renderPage(messages, {}, undefined, fill);
    expect(unknown).toContain(
      'As the agent left it, the conversation had 40,000 tokens of a window that is not known, by',
    );
    expect(unknown).not.toContain('; context window <strong>');
    const { page: assumed } = await renderPage(messages, { assumedWindow: 200_000 }, undefined, fill);
    expect(assumed).toContain('was ≈ 20% full: 40,000 tokens of a window taken as 200,000, by');
    expect(assumed).toMatch(/; context window <strong>≈ 20% → ≈ \d+% full</);
  });

  it('needs no network and runs nothing, whatever the conversation says', async () => {
    const hostile = `<script src="https://example.org/x.js"></script><img src=x onerror=alert(1)>\n${FILE}`;
    const { page } = await renderPage(
      [
        user(hostile),
        ...makeToolExchange('a', 'Bash', { command: hostile }, hostile),
        ...makeToolExchange('b', 'Read', {}, FILE),
      ],
      {},
      hostile,
    );
    expect(page).toContain(`content="default-src 'none'; style-src 'unsafe-inline'"`);
    expect(page).not.toMatch(/<(?:script|img|link|iframe|object|base)\b/i);
    expect(page).not.toMatch(/<[^>]+\s(?:src|href|on\w+)=/i);
  });

  it('masks keys, even one split by a cut', async () => {
    const body = Array.from({ length: 60 }, (_, at) => `${String(at).padStart(2, '0')}${'QUJD'.repeat(15)}`).join('\n');
    const key = `-----BEGIN PRIVATE KEY-----\n${body}\n-----END PRIVATE KEY-----`;
    const { outcome, page } = await renderPage([
      user('task'),
      ...makeToolExchange(
        'a',
        'Read',
        { file_path: 'k.pem' },
        `${makeLines('before', 40)}\n${key}\n${makeLines('after', 40)}`,
      ),
      ...makeToolExchange('b', 'Read', {}, FILE),
    ]);
    expect(outcome.edits.length).toBeGreaterThan(0);
    expect(page).toContain('[key]');
    expect(page).not.toContain('QUJDQUJDQUJD');
  });

  it('omits all content on request', async () => {
    const { page } = await renderPage(messages, { withoutContent: true }, 'Mend src/secret.ts');
    for (const word of ['src/', 'Mend', 'file 7', 'Read']) expect(page).not.toContain(word);
    expect(page).toContain('left out of this report');
    expect(page).toContain('Tool results');
  });

  it("is the same each time for the same condensation, except for the steps' times", async () => {
    const strip = (page: string): string => page.replace(/[\d.]+ (?:ms|seconds)/g, '');
    expect(strip((await renderPage(messages)).page)).toBe(strip((await renderPage(messages)).page));
  });
});

describe("the content of a condensation's report page", () => {
  const shown = (
    original: readonly ApiMessage[],
    subject: Partial<ReportedCondensation> = {},
    options: Partial<ReportPageOptions> = {},
  ) =>
    renderReportPage(
      { title: 'T', format: 'f', original, edits: [], steps: [], providerName: 'P', cost: 0, notes: [], ...subject },
      { counter, version: '1.2.3', ...options },
    );
  const step = { tokensBefore: 9, tokensAfter: 8, edits: 1, timeMs: 3, cost: 0 };

  it('has a column for remarks only if a pass has one', () => {
    const done = { ...step, name: 'First', outcome: { kind: 'done' } } as const;
    expect(shown([user('a')], { steps: [done] })).not.toContain('Remark');
    const skipped = { ...done, outcome: { kind: 'skipped', reason: 'off' } } as const;
    expect(shown([user('a')], { steps: [done, skipped] })).toContain('<th scope="col">Remark</th>');
  });

  it("includes the date, the steps' reports and the notes", () => {
    const page = shown([user('a'), assistant('b')], {
      at: '2026-01-02T03:04:05.000Z',
      notes: ['The cost is <not> exact.'],
      steps: [
        { ...step, name: 'First', outcome: { kind: 'done' } },
        { ...step, name: 'Second', outcome: { kind: 'skipped', reason: 'nothing to do' } },
        { ...step, name: 'Third', edits: 0, outcome: { kind: 'done' } },
      ],
    });
    expect(page).toContain('Condensed on 2026-01-02 at 03:04 UTC.');
    expect(page).not.toContain('A preview');
    expect(page).toContain('<li>The cost is &lt;not&gt; exact.</li>');
    expect(page).toContain('<td>skipped: nothing to do</td>');
    expect(page).not.toContain('done:');
    expect(page).not.toContain('Third');
    expect(page).toContain('<p>One step found nothing to do.</p>');
  });

  it("is counted in the model's tokens", () => {
    const original = [user(makeLines('a', 10)), assistant('b')];
    const tokens = counter.countMessages(original);
    expect(shown(original, {}, { calibrate: (count) => count * 1_000 })).toContain(
      new Intl.NumberFormat('en-US').format(tokens * 1_000),
    );
  });

  it.each([
    ['no message', []],
    ['one message', [user('a')]],
  ])('has no curve for %s', (_, original) => {
    expect(shown(original)).not.toContain('<h2>Growth</h2>');
  });

  it('has a curve with figures and units at its axes, and a text alternative', async () => {
    const { outcome, page } = await renderPage(messages);
    const number = new Intl.NumberFormat('en-US');
    expect(page).toContain(`<span>${number.format(outcome.tokensBefore)} tokens</span>`);
    expect(page).toContain('<span>Message 1</span><span>Message 85</span>');
    expect(page).toMatch(
      /aria-labelledby="(\w+)"\s+aria-describedby="(\w+)"\s*>\s*<title id="\1">.*<\/title>\s*<desc id="\2">/,
    );
    expect(page).toContain(`${number.format(outcome.tokensAfter)} after condensing`);
  });

  it('has a curve with no more points than are visible', () => {
    const original = Array.from({ length: 1_000 }, (_, at) => (at % 2 === 0 ? user('a') : assistant('b')));
    const points = /class="before" points="([^"]+)"/.exec(shown(original))?.[1]?.split(' ') ?? [];
    expect(points.length).toBeLessThanOrEqual(361);
    // The curve goes from no tokens at the first message to all tokens at the last.
    expect(points[0]).toBe('0.0,220.0');
    expect(points.at(-1)).toBe('720.0,0.0');
  });

  it('says if the agent never takes a conversation back, instead of what that would save', () => {
    const page = (canRunCondensed: boolean): string =>
      shown([user('a')], { savedPerRequest: 1, agentWithoutGiveBack: { name: 'Codex', canRunCondensed } });
    expect(page(false)).toContain('Codex does not continue with what other programs write');
    expect(page(false)).not.toContain('New Session');
    expect(page(true)).toContain('A session that is opened with “New Session, Condensed” is condensed while it runs.');
    expect(page(true)).not.toContain('each later request');
  });

  it('shows local time in VS Code, and universal time in a file, which may be read elsewhere', () => {
    const at = '2026-01-02T03:04:05.000Z';
    const local = new Date(at).toLocaleString('en', { dateStyle: 'long', timeStyle: 'short' });
    expect(shown([user('a')], { at })).toContain('Condensed on 2026-01-02 at 03:04 UTC.');
    expect(shown([user('a')], { at }, { webview: { nonce: 'n', actions: [] } })).toContain(`Condensed on ${local}.`);
  });

  it('includes what a summary replaced', () => {
    const original = [user('task'), assistant('first answer'), user('go on'), assistant('second answer')];
    const page = shown(original, { edits: [createSummaryEdit(original, 1, 3, user('They spoke.'))] });
    expect(page).toContain('Messages 2 to 3');
    expect(page).toMatch(/<ins>[^<]*They spoke\./);
    expect(page).toMatch(/<del>[^<]*first answer[^<]*go on/);
    expect(page).toContain('1 place.');
  });

  it("masks a key in a command used as a result's title, wherever the title is truncated", () => {
    const command = `${'#'.repeat(60)} curl https://me:hunter22hunter22hunter22@example.org`;
    const original = [user('task'), ...makeToolExchange('a', 'Bash', { command }, 'ok'), assistant('done')];
    const page = shown(original, { edits: [createSummaryEdit(original, 1, 3, user('Done.'))] });
    expect(page).toContain('result of Bash: ####');
    expect(page).not.toContain('hunter22');
  });

  it('includes removed blocks with their places', () => {
    const image = { type: 'image', source: { type: 'base64', data: 'iVBORw0KGgo' } };
    const original = [
      user('task'),
      assistant({ type: 'thinking', thinking: 'I wonder', signature: 's' }, 'done'),
      user(image),
    ];
    const edits = [
      createBlockEdit(original, 2, ['content', 0], '[image removed]'),
      createBlockEdit(original, 1, ['content', 0]),
    ];
    const page = shown(original, { edits });
    expect(page).toContain('<del>I wonder</del><ins></ins>');
    expect(page).toMatch(/<del>image, \d+ characters<\/del><ins>\[image removed\]<\/ins>/);
    expect(page).not.toContain('iVBOR');
    expect(page).toContain('2 places.');
    expect(page).toMatch(/Message 2 · thinking\s/);
    expect(page).toMatch(/Message 3 · image\s/);
    // The order is that of the conversation, not of the edits.
    expect(page.indexOf('I wonder')).toBeLessThan(page.indexOf('image removed'));
  });

  it('includes cuts with the kept text around them, shortened if long', () => {
    const long = makeLines('kept', 9);
    const said = `${long}\nGONE\nshort`;
    const start = said.indexOf('GONE');
    const original = [user(said), assistant(call('x', 'Ls', { depth: 3 })), user(result('x', 'a b'))];
    const page = shown(original, {
      edits: [
        createCutEdit(original, 0, ['content'], [{ start, end: start + 4, text: '' }]),
        createCutEdit(original, 2, ['content', 0, 'content'], [{ start: 0, end: 1, text: '[cut]' }]),
      ],
    });
    expect(page).toMatch(/<del>GONE<\/del>\s*short/);
    expect(page).toContain('<del>a</del><ins>[cut]</ins> b');
    // Ten lines precede the cut, including the empty one, and three are shown at each end. The page
    // shows spaces as they are, so it must add none to the text.
    expect(page).toContain('in it\n<span class="unchanged">4 lines unchanged</span>\nkept line 7 ');
    expect(page).not.toContain('kept line 4');
    expect(page).toContain('Message 1 · user');
    // The call has no short text as a parameter.
    expect(page).toContain('Message 3 · result of Ls ');
  });

  it('includes the sizes of each place before and after all steps, and none if all was restored', () => {
    const said = makeLines('said', 40);
    const start = said.indexOf('said line 9');
    const original = [user(said), assistant(said)];
    const all = { start: 0, end: said.length, text: '' };
    const page = shown(original, {
      edits: [
        createCutEdit(original, 0, ['content'], [all]),
        // What the first step removed was restored, except for one slice.
        createCutEdit(original, 0, ['content'], [{ start, end: said.length, text: '' }]),
        createCutEdit(original, 1, ['content'], [all]),
        createCutEdit(original, 1, ['content'], []),
      ],
    });
    const [before, after] = [counter.countText(said), counter.countText(said.slice(0, start))];
    expect(page).toContain(`>${before} → ${after} tokens<`);
    expect(page).toContain('1 place.');
  });

  it("cuts a long name in the middle, so that the file's name stays visible", () => {
    const path = `/home/me/${'folder/'.repeat(30)}value.ts`;
    const original = [user('task'), ...makeToolExchange('a', 'Read', { path }, 'long output')];
    const edits = [createCutEdit(original, 2, ['content', 0, 'content'], [{ start: 0, end: 4, text: '' }])];
    expect(shown(original, { edits })).toMatch(/result of Read \/home\/me\/folder[^<…]*…[^<…]*folder\/value\.ts </);
  });

  it('omits the message of a failed step if the page is without content, because it may quote content', () => {
    const reason = 'Invalid value: "Mend src/secret.ts"';
    const subject = {
      notes: [`Summary: ${reason}`, 'A note of ours.'],
      steps: [{ ...step, name: 'Summary', outcome: { kind: 'failed', reason } }],
    } as const;
    expect(shown([user('a')], subject)).toContain('secret.ts');
    const page = shown([user('a')], subject, { withoutContent: true });
    expect(page).not.toContain('secret.ts');
    expect(page).toContain('<td>failed: its message was left out</td>');
    expect(page).toContain('A note of ours.');
  });

  it('omits an edit whose text is missing', () => {
    const original = [user('a'), assistant('b')];
    const page = shown(original, {
      edits: [createCutEdit(original, 0, ['nowhere'], [{ start: 0, end: 1, text: 'x' }])],
    });
    expect(page).toContain('<summary>Message 1 <');
    expect(page).not.toContain('<del>');
  });
});

it.each([
  ['nothing', undefined, ''],
  ['thinking', { type: 'thinking', thinking: 'I wonder' }, 'I wonder'],
  ['an image', { type: 'image' }, 'image, 16 characters'],
  ['what has no type', { a: 1 }, 'block, 7 characters'],
])('a block is described in words: %s', (_, block, words) => {
  expect(describeBlock(block)).toBe(words);
});

describe('the report page of all condensations of a conversation', () => {
  const condensed = (id: string, provider: string, cost: number | undefined): LedgerEntry => ({
    type: 'condensed',
    condensation: {
      id: id as CondensationId,
      at: `2026-01-02T03:04:0${id}Z`,
      provider,
      base: id === '1' ? 'original' : 'view',
      edits: [],
      steps: [
        { name: `step ${id}`, tokensBefore: 2, tokensAfter: 1, edits: 0, timeMs: 1, cost, outcome: { kind: 'done' } },
      ],
      tokensBefore: 2,
      tokensAfter: 1,
      cost,
      viewHash: 'v',
    },
  });
  const name = (id: string): string => id.toUpperCase();

  it('covers all condensations that are in effect, and names each provider once', () => {
    const ledger = buildLedger([condensed('1', 'a', 0.5), condensed('2', 'b', 0.25), condensed('3', 'a', 0)]);
    const found = findReportedCondensation(ledger, name);
    expect(found).toMatchObject({ providerName: 'A, then B', at: '2026-01-02T03:04:03Z', cost: 0.75 });
    expect(found?.steps.map((one) => one.name)).toEqual(['step 1', 'step 2', 'step 3']);
  });

  it('names the preset or strategy of each run, as far as recorded', () => {
    const named = (entry: LedgerEntry, configName: string): LedgerEntry =>
      entry.type === 'condensed' ? { ...entry, condensation: { ...entry.condensation, configName } } : entry;
    const ledger = buildLedger([
      condensed('1', 'smart', 0),
      named(condensed('2', 'smart', 0), 'File-Aware'),
      named(condensed('3', 'smart', 0), 'Speed'),
    ]);
    expect(findReportedCondensation(ledger, () => 'Smart')?.providerName).toBe(
      'Smart, then Smart (File-Aware), then Smart (Speed)',
    );
  });

  it('has no cost if one is unknown', () => {
    const ledger = buildLedger([condensed('1', 'a', 0.5), condensed('2', 'b', undefined)]);
    expect(findReportedCondensation(ledger, name)?.cost).toBeUndefined();
  });

  it('is undefined if no condensation is in effect', () => {
    expect(findReportedCondensation(EMPTY_LEDGER, name)).toBeUndefined();
    const entry = condensed('1', 'a', 0);
    const last = createUndoEntry(buildLedger([entry]));
    expect(findReportedCondensation(buildLedger([entry, last!]), name)).toBeUndefined();
  });
});
