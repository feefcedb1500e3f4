import fc from 'fast-check';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { fake, l10n, workspace } from '../../test/support/vscode';
import { PANEL_COMMANDS, PROTOCOL_VERSION, panelMethods, type MethodParams } from './protocol';
import { createExternalProvider } from '../extensionApi/externalProvider';
import { parseProvider } from '../extensionApi/parse';
import { cutter } from '../extensionApi/testing';
import { openTestPanel, type TestPanel } from './testing';

const KEY = 'sk-a-key-that-must-not-be-seen';
const profile = { id: 'work', name: 'Work', vendor: 'anthropic', model: 'claude-sonnet-4' };

beforeEach(() => {
  fake.reset();
  workspace.workspaceFolders = undefined;
  workspace.name = undefined;
  workspace.isTrusted = true;
  l10n.bundle = undefined;
});

function ready(panel: TestPanel): TestPanel {
  panel.page.receive({ type: 'ready', version: PROTOCOL_VERSION });
  return panel;
}

type Change = MethodParams<'updateSetting'>;
const change = (name: string, value: unknown, more: Partial<Change> = {}): Change => ({
  name,
  scope: 'user',
  path: [],
  value,
  ...more,
});

const problemsOf = async (panel: TestPanel, wanted: Change): Promise<string[]> => {
  const answer = await panel.ask('updateSetting', wanted);
  if (answer.type !== 'reply') throw new Error(JSON.stringify(answer));
  return panelMethods.updateSetting.result
    .parse(answer.result)
    .problems.map(({ path, message }) => `${path}: ${message}`);
};

describe('the HTML of the settings panel', () => {
  it('contains no inline scripts or styles and no remote content', () => {
    const { page } = openTestPanel();
    const { html } = page.webview;
    expect(html).toContain('default-src &#39;none&#39;'.replaceAll('&#39;', "'"));
    expect(html).not.toMatch(/unsafe-|https?:|style=|onload/);
    const nonces = [...html.matchAll(/nonce="([^"]+)"/g)].map(([, nonce]) => nonce);
    expect(nonces).toHaveLength(1);
    expect(openTestPanel().page.webview.html).not.toContain(nonces[0]);
  });
});

describe('the handshake with the settings panel', () => {
  it("is answered with texts, package.json's settings, providers and state", () => {
    l10n.bundle = { Provider: 'Anbieter' };
    const panel = openTestPanel();
    expect(panel.posted()).toEqual([]);
    const [welcome] = ready(panel).posted();
    if (welcome?.type !== 'welcome') throw new Error();
    expect(welcome.texts).toEqual({ Provider: 'Anbieter' });
    expect(welcome.schemas['threshold']).toMatchObject({ minimum: 5, maximum: 100 });
    expect(welcome.providers.map(({ id }) => id)).toEqual(expect.arrayContaining(['native', 'lossless', 'truncation']));
    expect(welcome.state.settings['threshold']).toMatchObject({ value: 75, scopes: ['user', 'workspace'] });
    expect(welcome.state.settings['truncation']?.effective).toMatchObject({ preserveRecentCount: 10 });
  });

  it('comes before other messages, and then the panel shows the section requested meanwhile', () => {
    const panel = openTestPanel();
    panel.panel.revealPanel('profiles');
    expect(panel.posted()).toEqual([]);
    expect(ready(panel).posted().at(-1)).toEqual({ type: 'reveal', section: 'profiles' });
  });

  it('is repeated when the hidden tab is visible again, which then shows the section requested meanwhile', () => {
    const panel = ready(openTestPanel());
    panel.page.visible = false;
    const before = panel.posted().length;
    panel.panel.revealPanel('history');
    expect(panel.posted()).toHaveLength(before);
    expect(ready(panel).posted().at(-1)).toEqual({ type: 'reveal', section: 'history' });
  });

  it('of another protocol version is ignored', () => {
    const panel = openTestPanel();
    panel.page.receive({ type: 'ready', version: PROTOCOL_VERSION + 1 });
    expect(panel.posted()).toEqual([]);
    expect(panel.logged).toHaveLength(1);
  });
});

describe('a setting changed in the panel', () => {
  it('is written to the chosen scope, and the panel is updated at once with a higher revision', async () => {
    workspace.workspaceFolders = [];
    workspace.name = 'demo';
    const panel = ready(openTestPanel());
    expect(await problemsOf(panel, change('threshold', 80))).toEqual([]);
    expect(fake.settings['contextCondenser.threshold']).toBe(80);
    expect(await problemsOf(panel, change('threshold', 60, { scope: 'workspace' }))).toEqual([]);
    expect(fake.workspaceSettings['contextCondenser.threshold']).toBe(60);
    expect(panel.state().settings['threshold']).toMatchObject({ value: 60, user: 80, workspace: 60 });
    const revisions = panel.posted().flatMap((message) => ('state' in message ? [message.state.revision] : []));
    expect(revisions).toEqual(revisions.toSorted((a, b) => a - b));
    expect(new Set(revisions).size).toBe(revisions.length);
  });

  it('is written for a workspace only if a workspace may set it', async () => {
    workspace.workspaceFolders = [];
    workspace.name = 'demo';
    fake.settings['contextCondenser.maxCostPerCondensation'] = 0.2;
    fake.workspaceSettings['contextCondenser.maxCostPerCondensation'] = 1_000;
    const panel = ready(openTestPanel());
    const shown = panel.state().settings['maxCostPerCondensation'];
    expect(shown).toMatchObject({ value: 0.2, workspace: 1_000, scopes: ['user', 'workspace'] });
    expect(shown?.problems[0]?.message).toMatch(/a workspace can only lower it\. 0\.2 is used\./);
    const more = change('maxCostPerCondensation', 0.3, { scope: 'workspace' });
    expect(await problemsOf(panel, more)).toEqual([expect.stringMatching(/more careful than your own/)]);
    expect(await problemsOf(panel, { ...more, value: 0.1 })).toEqual([]);
    expect(panel.state().settings['maxCostPerCondensation']).toMatchObject({ value: 0.1, problems: [] });
    expect(panel.state().settings['coherenceFloor']?.scopes).toEqual(['user']);
    workspace.isTrusted = false;
    expect(await problemsOf(panel, { ...more, value: 0.05 })).toEqual([expect.stringMatching(/not trusted/)]);
    const untrusted = ready(openTestPanel()).state();
    expect(untrusted.workspace).toBeUndefined();
    expect(new Set(Object.values(untrusted.settings).flatMap(({ scopes }) => scopes))).toEqual(new Set(['user']));
  });

  it('is changed only at the given field', async () => {
    fake.settings['contextCondenser.truncation'] = { preserveRecentCount: 4, toolResults: { maxLines: 5 } };
    const panel = ready(openTestPanel());
    expect(await problemsOf(panel, change('truncation', 9, { path: ['toolResults', 'maxLines'] }))).toEqual([]);
    expect(fake.settings['contextCondenser.truncation']).toEqual({
      preserveRecentCount: 4,
      toolResults: { maxLines: 9 },
    });
    await problemsOf(panel, change('truncation', undefined, { path: ['toolResults'] }));
    await problemsOf(panel, change('truncation', undefined, { path: ['preserveRecentCount'] }));
    expect(fake.settings['contextCondenser.truncation']).toBeUndefined();
  });

  it("may name another extension's provider, whose configuration is checked with its schema", async () => {
    const panel = ready(openTestPanel({}, [createExternalProvider(parseProvider(cutter))]));
    expect(await problemsOf(panel, change('provider', cutter.id))).toEqual([]);
    expect(fake.settings['contextCondenser.provider']).toBe(cutter.id);
    expect(await problemsOf(panel, change('providers', { [cutter.id]: { minimum: 5 } }))).toEqual([]);
    expect(await problemsOf(panel, change('providers', { gone: { any: 1 } }))).toEqual([]);
    const wrong = change('providers', { [cutter.id]: { minimum: -1 } });
    expect((await problemsOf(panel, wrong)).join('\n')).toMatch(/^sample\.cutter\.minimum: must be at least/);
  });

  it.each([
    ['out of its bounds', change('threshold', 101), /must be at most/],
    ['of another type', change('threshold', 'much'), /must be a number/],
    ['none of the choices', change('provider', 'magic'), /no provider "magic"; known providers: lossless/],
    [
      'wrong inside',
      change('truncation', { toolResults: { maxLines: 0 } }),
      /^toolResults\.maxLines: must be at least/,
    ],
    ['unknown inside', change('lossless', { magic: true }), /^magic: is not a known field$/],
    ['a prompt with a wrong name', change('condensingPrompt', 'Use {{facts}}'), /\{\{facts\}\} is not known/],
    ['a profile without a model', change('profiles', [{ ...profile, model: '' }]), /^0\.model: /],
    ['two profiles of one id', change('profiles', [profile, profile]), /already used by another/],
    ['not a setting', change('magic', 1), /no such setting/],
    ['of Object', change('constructor', 1), /no such setting/],
    ['the user’s alone', change('condensingProfile', 'p', { scope: 'workspace' }), /can’t set it/],
    ['without a workspace', change('threshold', 50, { scope: 'workspace' }), /No workspace is open/],
    ['a place that isn’t there', change('threshold', 1, { path: ['x'] }), /must be a number/],
    ['a place of a prototype', change('lossless', 1, { path: ['__proto__', 'x'] }), /not the name of a setting/],
    ['far in a list', change('profiles', profile, { path: [3] }), /ends before/],
    ['endless', change('condensingPrompt', 'x'.repeat(1_000_001)), /million characters/],
  ])('is not saved if the change is invalid: %s', async (_what, wanted, problem) => {
    const panel = ready(openTestPanel());
    const before = JSON.stringify([fake.settings, fake.workspaceSettings]);
    expect((await problemsOf(panel, wanted)).join('\n')).toMatch(problem);
    expect(JSON.stringify([fake.settings, fake.workspaceSettings])).toBe(before);
    const checked = await panel.ask('checkSetting', wanted);
    expect(JSON.stringify(checked)).toMatch(/message/);
  });

  it('is reported if it is invalid in settings.json, and can be fixed field by field', async () => {
    fake.settings['contextCondenser.truncation'] = { minimumTokens: -1, toolResults: { maxLines: 'many' } };
    const panel = ready(openTestPanel());
    expect(panel.state().settings['truncation']?.problems.map(({ path }) => path)).toEqual(
      expect.arrayContaining(['minimumTokens', 'toolResults.maxLines']),
    );
    expect(await problemsOf(panel, change('truncation', 10, { path: ['minimumTokens'] }))).toEqual([]);
    expect(fake.settings['contextCondenser.truncation']).toEqual({
      minimumTokens: 10,
      toolResults: { maxLines: 'many' },
    });
    expect((await problemsOf(panel, change('truncation', 0, { path: ['toolResults', 'maxLines'] }))).length).toBe(1);
  });

  it('that VS Code can’t write is reported with VS Code’s own message', async () => {
    fake.updateError = new Error('Unable to write into user settings. Please open the file to correct errors.');
    const panel = ready(openTestPanel());
    expect(await panel.ask('updateSetting', change('threshold', 80))).toMatchObject({
      type: 'failed',
      message: expect.stringContaining('Unable to write'),
    });
  });

  it('follows changes made elsewhere', async () => {
    const panel = ready(openTestPanel());
    await workspace.getConfiguration('contextCondenser').update('threshold', 42);
    expect(panel.state().settings['threshold']?.value).toBe(42);
  });
});

describe('API profiles in the panel', () => {
  it('show whether a key is set, but never the key', async () => {
    fake.settings['contextCondenser.profiles'] = [profile, { ...profile, id: 'other' }];
    fake.secrets.set('contextCondenser.profileKey.work', JSON.stringify({ key: KEY, target: 'anthropic' }));
    const panel = ready(
      openTestPanel({
        loadModelWindowAndPrices: () => Promise.resolve({ contextWindow: 200_000, prices: { input: 3 } }),
      }),
    );
    await expect
      .poll(() => panel.state().profiles)
      .toEqual([
        { id: 'work', key: 'set', contextWindow: 200_000, prices: { input: 3 } },
        { id: 'other', key: 'missing', contextWindow: 200_000, prices: { input: 3 } },
      ]);
    expect(JSON.stringify([panel.page.sent, panel.logged])).not.toContain(KEY);
  });

  it('are added or changed in place, and invalid profiles in the list stay as they are', async () => {
    const broken = { id: 'broken' };
    fake.settings['contextCondenser.profiles'] = [broken, profile];
    const panel = ready(openTestPanel());
    const save = (wanted: object) => panel.ask('saveProfile', { profile: { ...wanted } });
    expect(await save({ ...profile, name: 'Changed' })).toMatchObject({ result: { problems: [] } });
    expect(await save({ ...profile, id: 'new' })).toMatchObject({ result: { problems: [] } });
    expect(fake.settings['contextCondenser.profiles']).toEqual([
      broken,
      { ...profile, name: 'Changed' },
      { ...profile, id: 'new' },
    ]);
    expect(await save({ ...profile, id: 'x y' })).toMatchObject({ result: { problems: [{ path: 'id' }] } });
  });

  it('are tested, given keys and removed by the commands', async () => {
    fake.settings['contextCondenser.profiles'] = [profile];
    const asked: unknown[] = [];
    const panel = ready(
      openTestPanel({
        testProfileConnection: (_services: unknown, { id }: { id: string }) =>
          Promise.resolve({ ok: id === 'work', message: 'answers' }),
        askApiKey: (_services: unknown, { id }: { id: string }) => Promise.resolve(asked.push(id) > 0),
        removeProfile: () => Promise.resolve(true),
      }),
    );
    expect(await panel.ask('testProfile', { id: 'work' })).toMatchObject({ result: { ok: true, message: 'answers' } });
    expect(await panel.ask('setKey', { id: 'work' })).toMatchObject({ result: { isSet: true } });
    expect(asked).toEqual(['work']);
    expect(await panel.ask('removeProfile', { id: 'work' })).toMatchObject({ result: { removed: true } });
    expect(await panel.ask('testProfile', { id: 'gone' })).toMatchObject({
      type: 'failed',
      message: /no model with the ID "gone"/,
    });
  });
});

describe("requests from the panel's page", () => {
  it('compare presets, and report one that no longer exists', async () => {
    const panel = ready(openTestPanel());
    const speed = { kind: 'preset', id: 'speed' } as const;
    const same = await panel.ask('comparePresets', { first: speed, second: speed });
    expect(same).toMatchObject({ result: { general: [], passes: [{ differences: [] }] } });
    const gone = { first: speed, second: { kind: 'preset', id: 'gone' } } as const;
    expect(await panel.ask('comparePresets', gone)).toMatchObject({ type: 'failed', message: /no preset "gone"/ });
  });

  it('run the panel’s own commands and no others', async () => {
    const panel = ready(openTestPanel());
    for (const command of PANEL_COMMANDS) await panel.ask('runCommand', { command });
    expect(fake.executed).toEqual(PANEL_COMMANDS.map((command) => [`contextCondenser.${command}`]));
    const wrong = await panel.ask('runCommand', { command: 'workbench.action.quit' as 'undo' });
    expect(wrong.type).toBe('failed');
    expect(fake.executed).toHaveLength(PANEL_COMMANDS.length);
  });

  it('show a setting in its file', async () => {
    const panel = ready(openTestPanel());
    await panel.ask('openSettingsFile', { scope: 'user', name: 'profiles' });
    expect(fake.executed).toEqual([
      ['workbench.action.openSettingsJson', { revealSetting: { key: 'contextCondenser.profiles', edit: true } }],
    ]);
  });

  it('get a new state even if VS Code does not name the changed setting, because it has no effect in a remote window', () => {
    fake.settings['contextCondenser.profiles'] = [profile];
    const panel = ready(openTestPanel());
    const states = (): number => panel.posted().filter(({ type }) => type === 'state').length;
    workspace.changeExternalSetting();
    expect(states()).toBe(0);
    fake.settings['contextCondenser.profiles'] = undefined;
    workspace.changeExternalSetting();
    expect(states()).toBe(1);
    expect(panel.state().settings['profiles']).not.toHaveProperty('user');
    workspace.changeExternalSetting();
    expect(states()).toBe(1);
  });

  it('for a machine setting show the file that applies to a remote window', async () => {
    fake.remoteName = 'ssh-remote';
    const panel = ready(openTestPanel());
    expect(panel.state()).toMatchObject({
      isRemote: true,
      settings: { profiles: { isOfMachine: true, scopes: ['user'] }, smart: { isOfMachine: false } },
    });
    await panel.ask('openSettingsFile', { scope: 'user', name: 'profiles' });
    await panel.ask('openSettingsFile', { scope: 'user', name: 'smart' });
    await panel.ask('openSettingsFile', { scope: 'workspace', name: 'smart' });
    expect(fake.executed.map(([command]) => command)).toEqual([
      'workbench.action.openRemoteSettingsFile',
      'workbench.action.openSettingsJson',
      'workbench.action.openWorkspaceSettingsFile',
    ]);
  });

  it('do not treat a browser window as remote, because its settings file is on the machine where it runs', () => {
    fake.remoteName = 'localhost:8080';
    fake.isWeb = true;
    expect(ready(openTestPanel()).state()).toMatchObject({ isRemote: false });
  });

  it('are repeated when the history has changed by a condensation, an undo or giving back', () => {
    const panel = ready(openTestPanel());
    const before = panel.state().historyRevision;
    panel.condensed.fire({});
    panel.ledgersChanged.fire(undefined);
    expect(panel.state().historyRevision).toBe(before + 2);
  });

  it('are cancelled when the page says so, and when the panel closes', async () => {
    const signals: AbortSignal[] = [];
    const createPrompt = (_services: unknown, _path: string, _prompt: string, signal: AbortSignal) => {
      signals.push(signal);
      return new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => {
          reject(new Error('aborted'));
        });
      });
    };
    const panel = ready(openTestPanel({ createPrompt }));
    const first = panel.ask('previewPrompt', { prompt: '' });
    panel.page.receive({ type: 'cancel', id: 1 });
    expect(await first).toMatchObject({ type: 'failed', message: 'aborted' });
    panel.page.receive({ type: 'request', id: 2, method: 'previewPrompt', params: { prompt: 'x' } });
    panel.panel.dispose();
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, true]);
    // VS Code throws if the webview of a closed panel is accessed.
    const said = panel.posted().length;
    await new Promise((resolve) => setImmediate(resolve));
    expect(panel.posted()).toHaveLength(said);
  });

  it("are left unanswered if their page was reloaded, and are separate from the new page's requests", async () => {
    const asked: { readonly signal: AbortSignal; answer(text: string): void }[] = [];
    const createPrompt = (_services: unknown, _path: string, _prompt: string, signal: AbortSignal) =>
      new Promise((resolve) => {
        asked.push({
          signal,
          answer: (text) => {
            resolve({ text });
          },
        });
      });
    const panel = ready(openTestPanel({ createPrompt }));
    const request = { type: 'request', id: 1, method: 'previewPrompt', params: { prompt: '' } };
    panel.page.receive(request);
    ready(panel);
    panel.page.receive(request);
    expect(asked.map(({ signal }) => signal.aborted)).toEqual([true, false]);
    asked[0]?.answer('of the page before');
    await new Promise((resolve) => setImmediate(resolve));
    asked[1]?.answer('its own');
    const replies = (): unknown[] => panel.posted().filter(({ type }) => type === 'reply');
    await vi.waitFor(() => expect(replies()).toMatchObject([{ id: 1, result: { text: 'its own' } }]));
  });

  it.each(['preview', 'compare'] as const)(
    'are answered for %s although the preview is collapsed meanwhile',
    async (method) => {
      const panel = ready(openTestPanel());
      const conversation = { kind: 'default' } as const;
      const asked =
        method === 'preview'
          ? panel.ask(method, { conversation, excluded: [] })
          : panel.ask(method, { conversation, configuration: { kind: 'current' } });
      // Waits until the worker was asked, which happens only after its task is known.
      for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve));
      await panel.ask('endPreview', {});
      expect((await asked).type).toBe('reply');
    },
  );
});

describe("malformed messages from the panel's page", () => {
  /**
   * A value that our webview never sends: a value of any shape, or a valid message with one part
   * made invalid.
   */
  const malformed = (): fc.Arbitrary<unknown> => {
    const valid = fc.constantFrom<Record<string, unknown>>(
      { type: 'ready', version: 1 },
      { type: 'request', id: 1, method: 'updateSetting', params: change('threshold', 99) },
      { type: 'request', id: 2, method: 'saveProfile', params: { profile } },
      { type: 'request', id: 3, method: 'runCommand', params: { command: 'undo' } },
      {
        type: 'request',
        id: 4,
        method: 'setUndone',
        params: { place: 'stored', conversation: 'c', condensation: 'x', isUndone: true },
      },
      {
        type: 'request',
        id: 5,
        method: 'preview',
        params: { conversation: { kind: 'file', path: 'x' }, excluded: [1], pinned: [] },
      },
      {
        type: 'request',
        id: 6,
        method: 'compare',
        params: { conversation: { kind: 'default' }, configuration: { kind: 'preset', id: 'p' } },
      },
      {
        type: 'request',
        id: 9,
        method: 'previewCoherence',
        params: { conversation: { kind: 'live', id: 'x' }, excluded: [0], pinned: [2] },
      },
      {
        type: 'request',
        id: 8,
        method: 'comparePresets',
        params: { first: { kind: 'preset', id: 'speed' }, second: { kind: 'current' } },
      },
      { type: 'cancel', id: 1 },
      { type: 'log', message: 'x' },
    );
    const junk = fc.oneof(
      fc.constantFrom<unknown>(undefined, null, -1, 0.5, NaN, '', [], {}, true, '__proto__', { length: -1 }),
      fc.anything({ maxDepth: 2 }),
    );
    const spoilt = fc.tuple(valid, fc.nat(), junk).map(([message, at, wrong]) => {
      const keys = Object.keys(message);
      const key = keys[at % keys.length] ?? 'type';
      if (key === 'params' || key === 'message') return { ...message, type: wrong };
      // Every positive integer is a valid ID.
      return { ...message, [key]: key === 'id' && Number.isInteger(wrong) && Number(wrong) > 0 ? -1 : wrong };
    });
    const wrongParams = fc
      .tuple(fc.constantFrom(...Object.keys(panelMethods)), junk)
      .map(([method, params]) => ({ type: 'request', id: 7, method, params }));
    const extra = fc.tuple(valid, junk).map(([message, wrong]) => ({ ...message, surplus: wrong }));
    return fc.oneof(junk, spoilt, extra, wrongParams);
  };

  it('crash nothing and change no setting (10,000 random ones)', async () => {
    const panel = ready(openTestPanel());
    fake.settings['contextCondenser.profiles'] = [profile];
    const before = JSON.stringify([fake.settings, fake.workspaceSettings]);
    fc.assert(
      fc.property(malformed(), (message) => {
        panel.page.receive(message);
      }),
    );
    await new Promise((resolve) => setImmediate(resolve));
    expect(JSON.stringify([fake.settings, fake.workspaceSettings])).toBe(before);
    expect(fake.executed.filter(([command]) => command !== 'workbench.action.openSettingsJson')).toEqual([]);
    expect(await problemsOf(panel, change('threshold', 80))).toEqual([]);
  });
});
