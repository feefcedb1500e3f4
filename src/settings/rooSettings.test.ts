import { describe, expect, it } from 'vitest';
import type { ApiProfile } from './profiles';
import { readRooSettings, type ImportedRooSettings } from './rooSettings';

const KEY = 'sk-roo-0123456789';

const NONE = { profiles: [], taken: [] };

const read = (value: unknown, known: readonly ApiProfile[] = []): ImportedRooSettings =>
  readRooSettings(JSON.stringify(value), { profiles: known, taken: known.map(({ id }) => id) });

describe('settings exported by Roo Code', () => {
  it('become profiles, thresholds, a prompt, and the setting that turns condensing on or off', () => {
    const found = read(
      {
        providerProfiles: {
          currentApiConfigName: 'Work',
          apiConfigs: {
            Work: { id: 'a1', apiProvider: 'anthropic', apiModelId: 'claude-sonnet-4-5', apiKey: KEY },
            'Cheap one': { id: 'b2', apiProvider: 'openrouter', openRouterModelId: 'openai/gpt-4o-mini' },
            Native: { id: 'c3', apiProvider: 'openai-native', apiModelId: 'gpt-5', openAiNativeApiKey: ' ' },
            Aws: { id: 'd4', apiProvider: 'bedrock', apiModelId: 'm', awsRegion: 'eu-west-1' },
            Google: { id: 'e5', apiProvider: 'vertex', apiModelId: 'm', vertexRegion: 'r', vertexProjectId: 'p' },
          },
        },
        globalSettings: {
          autoCondenseContext: false,
          autoCondenseContextPercent: 80,
          condensingApiConfigId: 'b2',
          customCondensingPrompt: 'Sum it up.',
          profileThresholds: { a1: 60, b2: -1, c3: 3 },
          telemetrySetting: 'enabled',
        },
      },
      [{ id: 'work', name: 'Work', vendor: 'openai', model: 'gpt-4o' }],
    );
    expect(found.notImported).toEqual([]);
    expect(found.settings.map(({ name, value }) => [name, value])).toEqual([
      ['automatic', false],
      ['threshold', 80],
      ['condensingPrompt', 'Sum it up.'],
      ['condensingProfile', 'cheap-one'],
    ]);
    expect(found.profiles).toEqual([
      {
        profile: { id: 'work-2', name: 'Work', vendor: 'anthropic', model: 'claude-sonnet-4-5', threshold: 60 },
        key: KEY,
      },
      {
        profile: {
          id: 'cheap-one',
          name: 'Cheap one',
          vendor: 'openrouter',
          model: 'openai/gpt-4o-mini',
          threshold: -1,
        },
        key: undefined,
      },
      { profile: { id: 'native', name: 'Native', vendor: 'openai', model: 'gpt-5', api: 'responses' }, key: undefined },
      { profile: { id: 'aws', name: 'Aws', vendor: 'bedrock', model: 'm', region: 'eu-west-1' }, key: undefined },
      {
        profile: { id: 'google', name: 'Google', vendor: 'vertex', model: 'm', region: 'r', projectId: 'p' },
        key: undefined,
      },
    ]);
  });

  it('are imported as far as possible, with a report of what was not imported', () => {
    const { settings, profiles, notImported } = read({
      providerProfiles: {
        apiConfigs: {
          Odd: { id: 'x', apiProvider: 'gemini-cli' },
          Inherited: { id: 'y', apiProvider: 'toString' },
          None: {},
          Empty: { id: 'z', apiProvider: 'anthropic' },
          Fine: { apiProvider: 'lmstudio', lmStudioModelId: 'local' },
        },
      },
      globalSettings: {
        autoCondenseContext: 'yes',
        autoCondenseContextPercent: 250,
        customCondensingPrompt: 'About {{nothing}}',
        condensingApiConfigId: 'x',
        profileThresholds: [],
      },
    });
    expect(settings).toEqual([]);
    expect(profiles.map(({ profile }) => profile.name)).toEqual(['Fine']);
    expect(notImported).toEqual([
      'profile "Odd": the provider "gemini-cli" has no counterpart here',
      'profile "Inherited": the provider "toString" has no counterpart here',
      'profile "None": the provider "" has no counterpart here',
      expect.stringMatching(/^profile "Empty": model /),
      'autoCondenseContextPercent is not 5 to 100',
      expect.stringMatching(/^customCondensingPrompt: \{\{nothing\}\} is not known/),
      'condensingApiConfigId names a profile that was not imported',
    ]);
  });

  it('keep the addresses that Roo calls', () => {
    const apiConfigs = {
      Own: { apiProvider: 'lmstudio', lmStudioModelId: 'm', lmStudioBaseUrl: 'http://127.0.0.1:4321/' },
      Whole: { apiProvider: 'lmstudio', lmStudioModelId: 'm', lmStudioBaseUrl: 'http://127.0.0.1:4321/v1' },
      Llama: { apiProvider: 'ollama', ollamaModelId: 'm' },
      Litellm: { apiProvider: 'litellm', litellmModelId: 'm', litellmBaseUrl: 'http://127.0.0.1:4000/' },
    };
    expect(read({ providerProfiles: { apiConfigs } }).profiles.map(({ profile }) => profile.baseUrl)).toEqual([
      'http://127.0.0.1:4321/v1',
      'http://127.0.0.1:4321/v1',
      'http://localhost:11434/v1',
      'http://127.0.0.1:4000/',
    ]);
  });

  it('use the condensing prompt of newer versions, which ignore the older field', () => {
    const prompts = { customSupportPrompts: { CONDENSE: 'New.' }, customCondensingPrompt: 'Old.' };
    expect(read({ globalSettings: prompts }).settings).toEqual([
      { name: 'condensingPrompt', value: 'New.', from: 'customSupportPrompts.CONDENSE' },
    ]);
    const older = { ...prompts, customSupportPrompts: { CONDENSE: ' ' } };
    expect(read({ globalSettings: older }).settings).toMatchObject([{ value: 'Old.', from: 'customCondensingPrompt' }]);
  });

  it('when imported again update the profiles that were created from them', () => {
    const Work = { id: 'a', apiProvider: 'anthropic', apiModelId: 'm' };
    const exported = { providerProfiles: { apiConfigs: { Work } }, globalSettings: { condensingApiConfigId: 'a' } };
    const [first] = read(exported).profiles.map(({ profile }) => profile);
    const changed = { ...first!, offerInChat: true, threshold: 40 };
    const again = read({ ...exported, globalSettings: { profileThresholds: { a: 55 } } }, [changed]);
    expect(again.profiles).toEqual([{ profile: { ...changed, threshold: 55 }, key: undefined }]);
    const other = { ...exported, providerProfiles: { apiConfigs: { Work: { ...Work, apiModelId: 'n' } } } };
    expect(read(other, [changed]).profiles[0]?.profile.id).toBe('work-2');
  });

  it('may contain only general settings, or only profiles', () => {
    expect(read({ globalSettings: { autoCondenseContext: true, customCondensingPrompt: ' ' } }).settings).toHaveLength(
      1,
    );
    expect(read({ providerProfiles: { apiConfigs: {} } })).toEqual({ settings: [], profiles: [], notImported: [] });
  });

  it('are rejected without quoting the file', () => {
    expect(() => readRooSettings(`{"apiKey": "${KEY}" "x"`, NONE)).toThrow(/^is not JSON/);
    try {
      readRooSettings(`{"apiKey": ${KEY}}`, NONE);
    } catch (error) {
      expect(String(error)).not.toContain('sk-roo');
    }
    expect(() => readRooSettings('', NONE)).toThrow('is not JSON');
    expect(() => read([])).toThrow('is not an export of Roo Code’s settings: the file must be an object');
    expect(() => read({})).toThrow('neither providerProfiles nor globalSettings');
    expect(() => read({ providerProfiles: { apiConfigs: { a: 1 } } })).toThrow(
      'providerProfiles.apiConfigs.a must be an object',
    );
  });
});
