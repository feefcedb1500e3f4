import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { openTestWindow, stubHome } from '../../test/support/testWindow';
import * as vscode from 'vscode';
import { startAnthropicServer } from '../../test/servers/anthropicServer';
import { neverAnswer, refusal, reply } from '../../test/servers/behaviour';
import type { ModelServer } from '../../test/servers/modelServer';
import { fake } from '../../test/support/vscode';
import { assistant, makeToolExchange, makeLines, user } from '../core/testing';
import { createExternalProvider } from '../extensionApi/externalProvider';
import { parseProvider } from '../extensionApi/parse';
import { cutter } from '../extensionApi/testing';
import { profileSchema } from '../settings/profiles';
import { chooseCondensingProfile, chooseProvider, askAndSetThreshold } from './chooseProvider';
import { condenseFileAndWait, condenseNow } from './condenseNow';
import { condenseNamedConversationWith } from './condenseWith';
import { getConversationIndex } from './conversationIndex';
import { writeClaudeSession } from '../giveBack/testing';
import { languageModels } from '../window/languageModels';
import { manageProfiles } from './manageProfiles';
import { listSettingProblems } from '../window/settings/settings';
import { readManualSettings } from '../window/settings/manualSettings';
import { readModelSettings } from '../window/settings/modelSettings';
import { previewPrompt } from './previewPrompt';
import { createPrompt } from './promptText';
import type { Services } from '../window/services';
import { showMetrics } from './showMetrics';

let home: string;
let file: string;
let services: Services;
let server: ModelServer;

const KEY = 'sk-ant-test-0123456789';
const messages = [
  user('Make the tests pass.'),
  ...Array.from({ length: 12 }, (_, index) =>
    makeToolExchange(`t${index}`, 'Read', { file_path: `/w/f${index}.ts` }, makeLines(`f${index}`, 50)),
  ).flat(),
  ...Array.from({ length: 4 }, (_, index) => [assistant(`answer ${index}`), user(`question ${index}`)]).flat(),
];

beforeEach(async () => {
  ({ home, services } = openTestWindow());
  server = await startAnthropicServer({ apiKey: KEY, script: reply('## Goal\nMake the tests pass.') });
  file = join(home, 'conversation.json');
  writeFileSync(file, JSON.stringify({ system: 'You are an agent.', messages }));
});

afterEach(async () => {
  await server.close();
});

const setting = (name: string): unknown => fake.settings[`contextCondenser.${name}`];
const shown = (): string[] => fake.shown.map(({ message }) => message);

/** Adds a profile for the scripted server, as a user does. */
async function addProfile(key = KEY): Promise<void> {
  fake.picks = ['Add Model', 'Anthropic'];
  fake.inputs = ['claude-sonnet-4-20250514', 'Work', server.url, key];
  await manageProfiles(services);
}

/** Picks from the list of providers as soon as the estimate is shown. */
function pickProvider(label: string | undefined): { items: () => readonly { label: string; description?: string }[] } {
  let seen: readonly { label: string; description?: string }[] = [];
  fake.onQuickPick = (picker) => {
    const wait = setInterval(() => {
      if (picker.busy) return;
      clearInterval(wait);
      seen = picker.items;
      const item = picker.items.find((candidate) => candidate.label === label);
      if (item) picker.accept(item);
      else picker.hide();
    }, 5);
  };
  return { items: () => seen };
}

describe('API profiles', () => {
  it('are added with the key only in the secret storage, tested, and used for condensing', async () => {
    await addProfile();
    expect(setting('profiles')).toEqual([
      { id: 'work', name: 'Work', vendor: 'anthropic', model: 'claude-sonnet-4-20250514', baseUrl: server.url },
    ]);
    expect(setting('condensingProfile')).toBe('work');
    expect([...fake.secrets.values()].join()).toContain(KEY);
    expect(JSON.stringify([fake.settings, fake.shown, services.log])).not.toContain(KEY);
    expect(shown().at(-1)).toMatch(/^Work responded \(claude-sonnet-4-20250514, /);
  });

  it('are used for condensing automatically only if they are the first profile to be added', async () => {
    await addProfile();
    fake.picks = ['None'];
    await chooseCondensingProfile();
    fake.picks = ['Add Model', 'VS Code'];
    fake.inputs = ['gpt-4o', 'Chat'];
    await manageProfiles(services);
    expect(setting('profiles')).toHaveLength(2);
    expect(setting('condensingProfile')).toBe('');
  });

  it('are tested against the real endpoint, and accept a new key', async () => {
    fake.answers = ['Set Key…'];
    const adding = addProfile('sk-wrong-key-000000');
    fake.inputs.push(KEY);
    await adding;
    expect(shown()[0]).toMatch(/Work: The API key was not accepted.*invalid x-api-key/s);
    expect(shown().at(-1)).toMatch(/^Work responded/);
  });

  it('can be edited, chosen, tested, and removed with their key', async () => {
    await addProfile();
    const act = async (action: string, more: Partial<typeof fake> = {}): Promise<void> => {
      Object.assign(fake, { picks: ['Work', action], ...more });
      await manageProfiles(services);
    };
    await act('Edit', { inputs: ['claude-opus-4', 'Worker', server.url] });
    expect(setting('profiles')).toMatchObject([{ id: 'work', name: 'Worker', model: 'claude-opus-4' }]);
    await act('Edit', { inputs: ['m', 'Work', 'no url'] });
    expect(shown().at(-1)).toContain('The model was not saved. baseUrl');
    await act('Edit', { inputs: [undefined] });
    await act('Offer in Chat');
    expect(setting('profiles')).toMatchObject([{ id: 'work', offerInChat: true }]);
    expect(shown().at(-1)).toContain('“Worker · condensed”');
    await act('No Longer Offer');
    expect(setting('profiles')).not.toMatchObject([{ offerInChat: true }]);
    await act('Offer in Chat', { answers: ['Manage Language Models'] });
    expect(fake.executed.at(-1)).toEqual(['workbench.action.chat.manage']);
    await act('No Longer Offer');
    await act('Set Key', { inputs: [''] });
    expect(fake.secrets.size).toBe(0);
    await act('Set Key', { inputs: [undefined] });
    await act('Set Key', { inputs: [KEY], answers: ['Test Connection'] });
    expect(shown().slice(-2)).toEqual(['The key of Worker was saved.', expect.stringContaining('Worker responded')]);
    await act('Set Key', { inputs: [''] });
    await act('Test');
    expect(shown().at(-1)).toContain('No API key is set');
    expect(fake.shown.at(-1)).toMatchObject({ choices: ['Set Key…', 'Retry'] });
    // A user who leaves the question for a key does not see the same message again.
    const told = fake.shown.length;
    await act('Test', { inputs: [undefined], answers: ['Set Key…'] });
    expect(fake.shown).toHaveLength(told + 1);
    fake.settings['contextCondenser.condensingProfile'] = '';
    await act('Use for');
    expect(setting('condensingProfile')).toBe('work');
    await act('Remove', { answers: [undefined] });
    expect(setting('profiles')).toHaveLength(1);
    await act('Remove', { answers: ['Remove'] });
    expect(setting('profiles')).toEqual([]);
    expect(setting('condensingProfile')).toBe('');
    await manageProfiles(services);
  });

  it('stay as the user wrote them while others change, even if they are invalid', async () => {
    const typo = { id: 'work', name: 'Mine', vendor: 'antropic', model: 'm', baseUrl: 'https://models.example' };
    fake.settings['contextCondenser.profiles'] = [typo];
    await addProfile();
    expect(setting('profiles')).toEqual([typo, expect.objectContaining({ id: 'work-2' })]);
    Object.assign(fake, { picks: ['Work', 'Offer in Chat'] });
    await manageProfiles(services);
    expect(setting('profiles')).toEqual([typo, expect.objectContaining({ id: 'work-2', offerInChat: true })]);
    Object.assign(fake, { picks: ['Work', 'Remove'], answers: ['Remove'] });
    await manageProfiles(services);
    expect(setting('profiles')).toEqual([typo]);
  });

  it('never overwrite their setting if it is not a list', async () => {
    fake.settings['contextCondenser.profiles'] = { work: {} };
    await expect(addProfile()).rejects.toThrow('Nothing was saved');
    expect(setting('profiles')).toEqual({ work: {} });
  });

  it('ask for the fields that their vendor needs', async () => {
    fake.picks = ['Add Model', 'Vertex'];
    fake.inputs = ['claude', 'V', '', ''];
    await manageProfiles(services);
    expect(shown().at(-1)).toMatch(/not saved/);
    for (const left of [
      ['claude', 'V', undefined],
      ['claude', 'V', 'us-east5', undefined],
    ]) {
      const told = fake.shown.length;
      fake.picks = ['Add Model', 'Vertex'];
      fake.inputs = left;
      await manageProfiles(services);
      expect(fake.shown).toHaveLength(told);
    }
    fake.picks = ['Add Model', 'VS Code'];
    fake.inputs = ['gpt-4o', 'Chat'];
    await manageProfiles(services);
    expect(setting('profiles')).toMatchObject([{ id: 'chat', vendor: 'vscode' }]);
    expect(shown().at(-1)).toContain('VS Code currently has no model');
    for (const left of [[], ['Add Model'], ['Add Model', 'Bedrock']]) {
      fake.picks = left;
      fake.inputs = [undefined];
      await manageProfiles(services);
    }
    expect(setting('profiles')).toHaveLength(1);
  });

  it('with invalid settings are reported, and the defaults apply', () => {
    fake.settings = {
      'contextCondenser.profiles': [{ id: 'x' }],
      'contextCondenser.condensingProfile': 'gone',
      'contextCondenser.condensingPrompt': '{{nope}}',
      'contextCondenser.threshold': 3,
      'contextCondenser.maxCostPerCondensation': 'much',
    };
    expect(readModelSettings()).toMatchObject({
      profiles: [],
      condensing: undefined,
      threshold: { percent: 75, targetPercent: 67 },
      prompt: '',
      maxCost: 0.5,
    });
    expect(listSettingProblems()).toEqual([
      'Setting contextCondenser.profiles › “x” › name: is missing. It is ignored.',
      expect.stringContaining('Setting contextCondenser.profiles › “x” › vendor: must be "anthropic" or'),
      'Setting contextCondenser.profiles › “x” › model: is missing. It is ignored.',
      'Setting contextCondenser.threshold: must be at least 5; found 3. 75 is used.',
      'Setting contextCondenser.condensingPrompt: {{nope}} is not known; known placeholders: {{conversation}}, {{earlier_summary}}, {{system}}. "" is used.',
      'Setting contextCondenser.maxCostPerCondensation: must be a number; found "much". 0.5 is used.',
      'Setting contextCondenser.condensingProfile: there is no model with the ID "gone". No model is called.',
    ]);
  });
});

describe('condensing with Summary', () => {
  beforeEach(async () => {
    await addProfile();
    fake.settings['contextCondenser.profiles'] = [
      { ...(setting('profiles') as object[])[0], prices: { input: 3, output: 15 }, contextWindow: 200_000 },
    ];
    fake.settings['contextCondenser.provider'] = 'native';
    fake.shown = [];
  });

  it('runs without a question if it is chosen, and its calls and costs are reported and measured', async () => {
    fake.onQuickPick = () => assert.fail('asked');
    await condenseNow(services, file);
    const notice = shown().at(-1) ?? '';
    expect(notice).toContain(' with Summary: ');
    expect(services.last?.choice.provider).toBe('native');
    expect(notice).toMatch(/; cost \$0\.\d+/);
    const { body } = server.requests.at(-1)!;
    expect(JSON.stringify(body)).toContain('You are an agent.');
    const runs = readFileSync(join(home, 'storage', 'us', 'metrics.jsonl'), 'utf8')
      .trim()
      .split('\n');
    expect(runs).toHaveLength(1);
    expect(JSON.parse(runs[0]!)).toMatchObject({
      provider: 'native',
      outcome: 'condensed',
      calls: [{ profile: 'Work' }],
    });
    expect(JSON.stringify([runs, services.log, fake.shown])).not.toContain(KEY);
  });

  it('is listed first if it is the chosen provider, and each provider that may call a model is listed with its cost', async () => {
    fake.settings['contextCondenser.strategy'] = 'pipeline';
    const picked = pickProvider(undefined);
    await condenseNamedConversationWith(services, file);
    const labels = picked.items().map(({ label }) => label);
    expect(labels.slice(0, 4)).toEqual(['chosen in the settings', 'Summary', 'calls no model', 'Lossless']);
    const described = (label: string) => picked.items().find((item) => item.label === label)?.description;
    expect(described('Summary')).toMatch(/^[\d,]+ tokens \(−\d+%\) · ≈ \$0\.\d+$/);
    expect(described('Result by Result')).toMatch(/^[\d,]+ tokens \(−[\d.]+%\).* · ≈ \$\d/);
    expect(described('Strategy')).toMatch(/^[\d,]+ tokens \(−[\d.]+%\)/);
    expect(described('Lossless')).toMatch(/^[\d,]+ tokens \([−\d.]+%\) · free$/);
  });

  it('shows for each provider how full the window would be, if that is known', async () => {
    stubHome(home);
    const path = writeClaudeSession(home, messages);
    await getConversationIndex(services).refresh();
    const picked = pickProvider(undefined);
    await condenseNamedConversationWith(services, path);
    const described = (label: string) => picked.items().find((item) => item.label === label)?.description;
    expect(described('Lossless')).toMatch(/^[\d,]+ tokens \(0%\) · still \d+% full · free$/);
    expect(described('Summary')).toMatch(
      /^[\d,]+ tokens \(−\d+%\) · (?:\d+% → (?:≈ \d+|<1)|still ≈ \d+)% full · ≈ \$[\d.]+$/,
    );
  });

  it('shows in the panel the prompt that would be sent: the profile’s own if it has one, otherwise the general one', async () => {
    const { signal } = new AbortController();
    expect(await createPrompt(services, file, 'Only the goal. {{conversation}}', signal)).toEqual({
      text: expect.stringContaining('Only the goal. <conversation-') as string,
    });
    const [profile] = fake.settings['contextCondenser.profiles'] as object[];
    fake.settings['contextCondenser.profiles'] = [{ ...profile, prompt: 'Only the files. {{conversation}}' }];
    const own = await createPrompt(services, file, 'Only the goal. {{conversation}}', signal);
    expect(own.profile).toBe('Work');
    expect(own.text).toContain('Only the files. <conversation-');
    expect(own.text).not.toContain('Only the goal.');
  });

  it('shows the prompt with the real conversation beforehand, without sending it', async () => {
    fake.settings['contextCondenser.condensingPrompt'] = 'Only the goal. {{conversation}}';
    await previewPrompt(services, file);
    const [, document] = fake.executed.at(-1) as [string, { content: string }];
    expect(document.content).toContain('Only the goal. <conversation-');
    expect(document.content).toContain('→ Read file_path=/w/f0.ts');
    expect(document.content).toContain('### Files only read');
    expect(server.requests).toHaveLength(1);
    writeFileSync(file, JSON.stringify({ messages: messages.slice(0, 2) }));
    await previewPrompt(services, file);
    expect((fake.executed.at(-1) as [string, { content: string }])[1].content).toContain('not enough to condense');
    await previewPrompt(services, join(home, 'gone.json'));
    expect(shown().at(-1)).toContain('gone.json');
    fake.settings['contextCondenser.condensingProfile'] = '';
    await previewPrompt(services, file);
    expect(shown().at(-1)).toBe('There is no prompt to preview: no model for summaries is chosen.');
  });

  it('records metrics that the user can view and clear', async () => {
    await condenseNow(services, file);
    fake.answers = ['Clear…', 'Remove'];
    await showMetrics(services);
    expect(shown().at(-2)).toMatch(
      /^Condensations: 1\. Failures: 0\. Fallbacks: 0\. Time: .*Cost: \$0\.\d+ on average, .*Work: 1 call, \$/,
    );
    await showMetrics(services);
    expect(shown().at(-1)).toBe('Condensations: 0. Failures: 0. Fallbacks: 0.');
  });

  it("does not run if another extension's provider is chosen, which is then listed first", async () => {
    services.registered.addProvider(createExternalProvider(parseProvider(cutter)));
    fake.settings['contextCondenser.provider'] = cutter.id;
    await condenseNow(services, file);
    expect(shown().at(-1)).toContain(`with ${cutter.name}`);
    expect(server.requests).toHaveLength(1);
    const picked = pickProvider(undefined);
    await condenseNamedConversationWith(services, file);
    expect(picked.items()[1]?.label).toBe(cutter.name);
  });

  it('does not run in place of a configured provider that is missing', async () => {
    fake.settings['contextCondenser.provider'] = 'someone.else';
    await condenseNow(services, file);
    expect(shown().at(-1)).toMatch(/^Nothing was condensed\. .*someone\.else/);
    expect(server.requests).toHaveLength(1);
  });

  it('can be canceled, or replaced with a free provider', async () => {
    pickProvider(undefined);
    await condenseNamedConversationWith(services, file);
    expect(fake.shown).toEqual([]);
    pickProvider('Truncation');
    await condenseNamedConversationWith(services, file);
    expect(shown().at(-1)).toContain('with Truncation');
    expect(server.requests).toHaveLength(1);
  });

  it('offers another profile if the model declines to answer', async () => {
    server.play([refusal(), reply('## Goal\nx')]);
    const [profile] = setting('profiles') as object[];
    fake.settings['contextCondenser.profiles'] = [profile, { ...profile, id: 'other', name: 'Other' }];
    fake.answers = ['Use Another Model'];
    fake.picks = ['Work'];
    await condenseNow(services, file);
    expect(fake.shown[0]).toMatchObject({
      choices: ['Use Another Model', 'Condense With…', 'Details'],
    });
    expect(fake.shown[0]?.message).toContain('The model declined to answer');
    expect(shown().at(-1)).toContain('with Summary');
  });

  it("ends the model's request if canceled midway, which the server notices", async () => {
    server.play(neverAnswer());
    const running = condenseNow(services, file);
    const request = await server.request(1);
    fake.cancelProgress();
    await running;
    await request.aborted;
    expect(shown().at(-1)).toBe('Canceled. Nothing was condensed.');
  });

  it('stays within the budget', async () => {
    fake.settings['contextCondenser.maxCostPerCondensation'] = 0.0001;
    await condenseNow(services, file);
    expect(shown().at(-1)).toContain('at most $0.0001 may be spent');
    expect(server.requests).toHaveLength(1);
  });

  it('lets one of VS Code’s models write the summary if there is no profile and the user picks a model, and counts the request', async () => {
    fake.settings['contextCondenser.profiles'] = [];
    fake.settings['contextCondenser.provider'] = 'native';
    const asked: unknown[] = [];
    const answerOf = async function* () {
      yield await Promise.resolve(new vscode.LanguageModelTextPart('## Goal\nMake the tests pass.'));
    };
    const model = { vendor: 'copilot', family: 'gpt-x', id: 'gpt-x', name: 'GPT X', maxInputTokens: 100_000 };
    const sendRequest = (messages: unknown) => {
      asked.push(messages);
      return Promise.resolve({ stream: answerOf() });
    };
    fake.models = [{ ...model, sendRequest }];
    fake.picks = [];
    await condenseNow(services, file);
    expect(asked).toEqual([]);
    expect(fake.shown).toEqual([]);
    fake.picks = ['GPT X'];
    await condenseNow(services, file);
    expect(asked).toHaveLength(1);
    expect(shown().at(-1)).toMatch(/^Condensed “.*” with Summary: /);
    expect(JSON.stringify(services.log)).toContain('1 request to gpt-x (GPT X)');
  });

  it('says why the cost could not be estimated', async () => {
    fake.secrets.clear();
    const picked = pickProvider(undefined);
    await condenseNamedConversationWith(services, file);
    expect(picked.items()[1]?.description).toContain('No API key is set');
    fake.settings['contextCondenser.profiles'] = [];
    await condenseNow(services, file);
    expect(shown().at(-1)).toContain('No model for summaries is chosen.');
  });
});

describe('if Summary has no usable model, so that Retry can’t help, the message', () => {
  const last = () => fake.shown.at(-1);

  afterEach(() => {
    vi.restoreAllMocks();
  });

  /** Adds a profile whose prices are known, since a condensation's limit applies to its cost. */
  const addPricedProfile = async (): Promise<void> => {
    await addProfile();
    const [profile] = setting('profiles') as object[];
    fake.settings['contextCondenser.profiles'] = [{ ...profile, prices: { input: 3, output: 15 } }];
  };

  it('offers to add a profile if there is none, and condenses with it', async () => {
    fake.settings['contextCondenser.provider'] = 'native';
    fake.answers = ['Add Model'];
    vi.spyOn(vscode.commands, 'executeCommand').mockImplementation(addPricedProfile);
    await condenseNow(services, file);
    expect(fake.shown[0]).toMatchObject({
      message: 'Nothing was condensed. No model for summaries is chosen.',
      choices: ['Add Model', 'Details'],
    });
    expect(last()?.message).toMatch(/^Condensed “.*” with Summary: /);
  });

  it('offers to choose among profiles, and condenses with the chosen one', async () => {
    await addPricedProfile();
    fake.settings['contextCondenser.condensingProfile'] = '';
    fake.answers = ['Choose Model'];
    fake.picks = ['Work'];
    await condenseFileAndWait(services, file, { ...readManualSettings(), provider: 'native' });
    expect(fake.shown).toContainEqual(
      expect.objectContaining({
        message: 'Nothing was condensed. No model for summaries is chosen.',
        choices: ['Choose Model', 'Details'],
      }),
    );
    expect(last()?.message).toMatch(/^Condensed “.*” with Summary: /);
  });

  it('leads to the profiles if the only one is unusable', async () => {
    await addProfile();
    fake.secrets.clear();
    fake.answers = ['Manage Models'];
    await condenseFileAndWait(services, file, { ...readManualSettings(), provider: 'native' });
    expect(last()).toMatchObject({ choices: ['Manage Models', 'Condense With…', 'Details'] });
    expect(fake.executed).toContainEqual(['contextCondenser.manageProfiles']);
    await previewPrompt(services, file);
    expect(last()).toMatchObject({ choices: ['Manage Models', 'Details'] });
    expect(last()?.message).toContain('No API key is set');
  });
});

describe('choosing an option in a list of commands', () => {
  it('sets a provider, and Summary asks for a profile', async () => {
    fake.picks = ['Lossless'];
    await chooseProvider(services);
    // Lossless is the default, so nothing is set.
    expect(setting('provider')).toBeUndefined();
    fake.picks = ['Summary'];
    fake.answers = ['Add Model'];
    await chooseProvider(services);
    expect(setting('provider')).toBeUndefined();
    expect(fake.executed).toContainEqual(['contextCondenser.manageProfiles']);
    await addProfile();
    fake.picks = ['Summary'];
    await chooseProvider(services);
    expect(setting('provider')).toBe('native');
    fake.picks = [];
    await chooseProvider(services);
  });

  it('sets a condensing profile, or none', async () => {
    await addProfile();
    fake.picks = ['None'];
    expect(await chooseCondensingProfile()).toBe(false);
    expect(setting('condensingProfile')).toBe('');
    fake.picks = ['Work'];
    expect(await chooseCondensingProfile()).toBe(true);
    expect(await chooseCondensingProfile()).toBe(false);
  });

  it('sets a threshold within its bounds', async () => {
    fake.inputs = ['60'];
    await askAndSetThreshold();
    expect(setting('threshold')).toBe(60);
    for (const wrong of ['4', '101', '', 'x', undefined]) {
      fake.inputs = [wrong];
      await askAndSetThreshold();
    }
    expect(setting('threshold')).toBe(60);
    expect(fake.problems.filter((problem) => problem !== undefined)).toHaveLength(4);
    expect(fake.shown).toEqual([]);
  });

  it('reports that the workspace overrides the setting', async () => {
    fake.workspaceSettings = { 'contextCondenser.threshold': 40 };
    fake.inputs = ['60', '40'];
    fake.answers = ['Open Workspace Settings'];
    await askAndSetThreshold();
    expect(fake.settings['contextCondenser.threshold']).toBe(60);
    expect(fake.shown.at(-1)?.message).toBe(
      'Saved in your user settings. This workspace sets contextCondenser.threshold to 40, which applies here.',
    );
    await vi.waitFor(() =>
      expect(fake.executed.map(([command]) => command)).toContain('workbench.action.openWorkspaceSettingsFile'),
    );
    await askAndSetThreshold();
    expect(fake.shown).toHaveLength(1);
  });
});

it("message parts are converted for VS Code's models in both directions, and requests can be cancelled", async () => {
  const { LanguageModelTextPart, LanguageModelToolCallPart } = await import('vscode');
  const sent: unknown[] = [];
  let token: vscode.CancellationToken | undefined;
  fake.models = [
    {
      vendor: 'copilot',
      family: 'f',
      id: 'm',
      name: 'M',
      maxInputTokens: 9,
      sendRequest: (asked: unknown, options: unknown, given: vscode.CancellationToken) => {
        sent.push(asked, options);
        token = given;
        return Promise.resolve({
          stream: (async function* () {
            yield new LanguageModelTextPart('Hello');
            yield { odd: true };
            yield new LanguageModelToolCallPart('1', 'read', { a: 1 });
          })(),
        });
      },
    },
  ];
  const [model] = await languageModels.selectChatModels({});
  const abort = new AbortController();
  const text = { kind: 'text', text: 'x' } as const;
  const stream = await model!.sendRequest(
    [
      {
        role: 'user',
        content: [
          text,
          { kind: 'toolResult', callId: '1', content: [text] },
          { kind: 'data', mimeType: 'image/png', data: new Uint8Array() },
        ],
      },
      { role: 'assistant', content: [{ kind: 'toolCall', callId: '1', name: 'read', input: {} }] },
    ],
    { tools: [{ name: 't', description: 'd', inputSchema: {} }], toolRequired: true, modelOptions: {} },
    abort.signal,
  );
  abort.abort();
  expect(token?.isCancellationRequested).toBe(true);
  const received = [];
  for await (const part of stream) received.push(part);
  expect(received).toEqual([
    { kind: 'text', text: 'Hello' },
    { kind: 'toolCall', callId: '1', name: 'read', input: { a: 1 } },
  ]);
  expect(sent[1]).toMatchObject({ toolMode: 2 });
});

it('package.json declares what the code reads: profile fields, scopes, and what a workspace may not set', () => {
  interface Manifest {
    readonly capabilities: { readonly untrustedWorkspaces: { readonly restrictedConfigurations: readonly string[] } };
    readonly contributes: {
      readonly configuration: readonly {
        readonly properties: Readonly<Record<string, { scope: string; items?: { properties: object } }>>;
      }[];
    };
  }
  const { capabilities, contributes } = JSON.parse(readFileSync('package.json', 'utf8')) as Manifest;
  const properties = Object.fromEntries(contributes.configuration.flatMap((group) => Object.entries(group.properties)));
  const profiles = properties['contextCondenser.profiles'];
  expect(Object.keys(profiles?.items?.properties ?? {})).toEqual(Object.keys(profileSchema.shape));
  expect(profiles?.scope).toBe('machine');
  // These settings lead to an endpoint or to calls that cost something.
  for (const name of [
    'profiles',
    'condensingProfile',
    'condensingPrompt',
    'maxCostPerCondensation',
    'automatic',
    'provider',
    'providers',
    'smart',
    'strategy',
    'presets',
    'threshold',
    'agent.backgroundPercent',
    'agent.coldPercent',
  ]) {
    expect(properties).toHaveProperty([`contextCondenser.${name}`]);
    expect(capabilities.untrustedWorkspaces.restrictedConfigurations).toContain(`contextCondenser.${name}`);
  }
  // This setting says what is masked before it goes to another vendor.
  expect(properties['contextCondenser.native']?.scope).toBe('application');
  // In a remote window VS Code ignores such settings in the user's own file, so only settings that
  // name models of a machine may have this scope.
  const ofMachine = Object.keys(properties).filter((name) => properties[name]?.scope.startsWith('machine'));
  const named = ['profiles', 'condensingProfile', 'agent.wrappedModels'].map((name) => `contextCondenser.${name}`);
  expect(ofMachine.toSorted()).toEqual(named.toSorted());
});
