import { beforeEach, expect, it } from 'vitest';
import { fake, workspace } from '../../../../test/support/vscode';
import { openPage, type TestPage } from '../../testing';

const profiles = [
  { id: 'large', name: 'Large', vendor: 'anthropic', model: 'claude-opus-4' },
  { id: 'small', name: 'Small', vendor: 'anthropic', model: 'claude-haiku-4' },
];

beforeEach(() => {
  fake.reset();
  workspace.workspaceFolders = undefined;
  workspace.name = undefined;
  fake.settings['contextCondenser.profiles'] = profiles;
  fake.settings['contextCondenser.condensingProfile'] = 'large';
});

/** Opens the page; requests for a comparison of profiles get these answers in order. */
async function openComparison(answers: readonly object[]): Promise<TestPage> {
  const page = await openPage({
    view: { open: ['profiles'] },
    backend: {
      getDefaultConversation: () => {
        throw new Error('the handler is answered below');
      },
    },
  });
  const left = [...answers];
  const receive = page.host.page.receive.bind(page.host.page);
  page.host.page.receive = (message: unknown) => {
    const { id, method } = message as { id?: number; method?: string };
    if (method === 'compareProfiles') page.host.page.sent.push({ type: 'reply', id, result: left.shift() });
    else if (method === 'setKey') page.host.page.sent.push({ type: 'reply', id, result: { isSet: true } });
    else if (method === 'chooseConversation') {
      page.host.page.sent.push({ type: 'reply', id, result: { conversation: { kind: 'file', path: '/other' } } });
    } else receive(message);
  };
  await page.click(() => page.find('.disclosure', 'Cost per conversation'));
  return page;
}

const comparison = (changes: object = {}): object => ({
  conversation: { kind: 'file', path: '/sample' },
  title: 'A task',
  tokens: 10_000,
  model: 'claude-opus-4',
  profiles: [
    {
      id: 'large',
      name: 'Large',
      model: 'claude-opus-4',
      estimate: { tokensAfter: 4_000, cost: 0.3, savedPerRequest: 0.01 },
    },
    {
      id: 'small',
      name: 'Small',
      model: 'claude-haiku-4',
      estimate: { tokensAfter: 5_000, cost: 0.02, savedPerRequest: 0.008, breakEvenRequests: 4 },
    },
    { id: 'x', name: 'Other', model: 'm', estimate: { problem: 'It has no key.' } },
  ],
  recommended: 'small',
  ...changes,
});

it('the comparison of profiles shows cost, saving and break-even, and selects the best with a click', async () => {
  const page = await openComparison([comparison()]);
  const table = await page.until(() => page.find('#profiles table'));
  expect(table.textContent).toContain('Smallclaude-haiku-450%$0.02$0.00804 requests');
  expect(table.textContent).toContain('60%$0.30$0.01–');
  expect(table.textContent).toContain('Otherm––––');
  expect(table.textContent).not.toContain('no key');
  page.find('#profiles .problem', 'Other: It has no key.');
  await page.click(() => page.find('.advice vscode-button', 'Use Small for summaries'));
  await page.until(() => fake.settings['contextCondenser.condensingProfile'] === 'small');
  await page.until(() => page.root.textContent.includes('Small, which writes the summaries now, is the best choice'));
});

it('the comparison of profiles shows no break-even if later requests cost no less, and unknown costs as unknown', async () => {
  const row = (name: string, estimate: object): object => ({ id: name, name, model: 'm', estimate });
  const page = await openComparison([
    comparison({
      profiles: [
        row('Dearer', { tokensAfter: 4_000, cost: 0.3, savedPerRequest: -0.01 }),
        row('Unpriced', { tokensAfter: 4_000, savedPerRequest: 0.01 }),
        row('Local', { tokensAfter: 4_000, cost: 0, savedPerRequest: 0.01, breakEvenRequests: 0 }),
      ],
    }),
  ]);
  const table = await page.until(() => page.find('#profiles table'));
  const last = [...table.querySelectorAll('tbody tr')].map((line) => line.lastElementChild?.textContent);
  expect(last).toEqual(['never', '–', 'the next request']);
});

it('the comparison of profiles says why a free model does not pay for itself at once', async () => {
  const local = { tokensAfter: 4_000, cost: 0, savedPerRequest: 0.01, breakEvenRequests: 2 };
  const page = await openComparison([comparison({ profiles: [{ id: 'l', name: 'L', model: 'm', estimate: local }] })]);
  await page.until(() => page.find('#profiles table'));
  expect(page.root.textContent).toContain(
    '“Pays for itself after” includes writing the vendor’s prompt cache again, which condensing makes necessary.',
  );
});

it('the comparison of profiles offers to set a missing key where it says so', async () => {
  const keyless = { id: 'large', name: 'Large', model: 'm', estimate: { problem: 'Set it with the command “…”.' } };
  const page = await openComparison([comparison({ profiles: [keyless] }), comparison()]);
  const row = await page.until(() => page.find('#profiles .key-missing'));
  expect(row.textContent).toBe('Large: No API key is set. Set key…');
  expect(page.root.textContent).not.toContain('with the command');
  await page.click(() => page.find('#profiles .key-missing .link-button'));
  await page.until(() => page.find('#profiles table').textContent.includes('Small'));
});

it('the comparison of profiles uses another conversation if selected', async () => {
  const other = { title: 'Another', profiles: [{ id: 'a', name: 'A', model: 'm', estimate: { tokensAfter: 1 } }] };
  const rest = Object.fromEntries(
    Object.entries(comparison(other)).filter(([key]) => key !== 'model' && key !== 'recommended'),
  );
  const page = await openComparison([comparison(), rest]);
  await page.click(() => page.find('vscode-button', 'Choose a conversation'));
  await page.until(() => page.root.textContent.includes('“Another”: 10,000 tokens. Its own model is not known.'));
  expect(page.find('#profiles table').textContent).toContain('unknown––');
});
