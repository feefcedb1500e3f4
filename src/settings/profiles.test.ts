import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { isApiError } from '../api/apiError';
import { loadPriceTable } from '../api/prices';
import type { LanguageModels, LmModel } from '../api/vscodeLm';
import { createCounter } from '../core/testingCounter';
import { deleteApiKey, readApiKey, getKeyForEndpoint, storeApiKey, type SecretStore } from './keys';
import { createProfileHandler, testConnection } from './profileHandler';
import { getModelOfProfile } from './profileModel';
import {
  getKeyTarget,
  requiresApiKey,
  parseProfiles,
  chooseSummaryPrompt,
  chooseThreshold,
  listProfileIds,
  dropProfileEntry,
  replaceOrAddProfileEntry,
  type ApiProfile,
} from './profiles';
import { createProfileSummarizer } from './profileSummarizer';

const counter = createCounter();
const work: ApiProfile = { id: 'work', name: 'Work', vendor: 'anthropic', model: 'claude-sonnet-4-20250514' };
const local: ApiProfile = {
  id: 'local',
  name: 'Local',
  vendor: 'openai',
  model: 'qwen',
  baseUrl: 'http://127.0.0.1:9/v1',
};

function secrets(): SecretStore & { readonly kept: Map<string, string> } {
  const kept = new Map<string, string>();
  return {
    kept,
    get: (name) => Promise.resolve(kept.get(name)),
    store: (name, value) => Promise.resolve(void kept.set(name, value)),
    delete: (name) => Promise.resolve(void kept.delete(name)),
  };
}

describe('the profiles setting', () => {
  it('reports and omits a profile if a field is invalid that decides where requests go', () => {
    const { profiles, problems } = parseProfiles([
      work,
      { ...work, id: 'a b' },
      { ...work },
      { ...work, id: 'v', baseUrl: 'ftp://example.com' },
      { ...work, id: 'w', baseURL: 'http://127.0.0.1:9' },
      { ...work, id: 'z', vendor: 'vertex' },
      { ...local, threshold: -1, prices: { input: 0, output: 0 } },
    ]);
    expect(profiles.map(({ id }) => id)).toEqual(['work', 'local']);
    expect(problems.map(({ path }) => path)).toEqual([
      '1.id',
      '2.id',
      '3.baseUrl',
      '4.baseURL',
      '5.region',
      '5.projectId',
    ]);
    expect(problems[3]?.message).toBe('is not a known field (did you mean baseUrl?)');
    expect(parseProfiles(undefined)).toEqual({ profiles: [], problems: [] });
    expect(parseProfiles('x').problems).toEqual([{ path: '', message: 'is not a list' }]);
  });

  it.each(['evil.example/', 'x@evil.example', 'evil.example#', 'evil.example\\', 'a.b', '1 2'])(
    'omits a profile with a region that would send the key to another host: %s',
    (region) => {
      for (const vendor of ['bedrock', 'vertex']) {
        const { profiles, problems } = parseProfiles([{ ...work, vendor, region, projectId: 'p' }]);
        expect(profiles).toEqual([]);
        expect(problems.map(({ path }) => path)).toEqual(['0.region']);
      }
    },
  );

  it.each([
    ['threshold', { threshold: 101 }, '0.threshold'],
    ['threshold', { threshold: 0 }, '0.threshold'],
    ['threshold', { threshold: '60' }, '0.threshold'],
    ['prompt', { prompt: '{{nope}}' }, '0.prompt'],
    ['thinkingTokens', { thinkingTokens: 2_000, maxOutputTokens: 2_000 }, '0.thinkingTokens'],
    ['apiKey', { apiKey: 'sk-secret' }, '0.apiKey'],
    ['prices', { prices: 'cheap' }, '0.prices'],
  ])('yields a profile with an invalid %s without that field, which is reported', (field, wrong, path) => {
    const { profiles, problems } = parseProfiles([{ ...work, ...wrong }]);
    expect(profiles.map(({ id }) => id)).toEqual(['work']);
    expect(profiles[0]).not.toHaveProperty(field);
    expect(problems.map((problem) => problem.path)).toEqual([path]);
    expect(JSON.stringify(problems)).not.toContain('sk-secret');
  });

  it("keeps a profile's other prices if one is invalid", () => {
    const { profiles } = parseProfiles([{ ...work, prices: { input: 3, output: -1, longPrompts: { input: 1 } } }]);
    expect(profiles[0]?.prices).toEqual({ input: 3 });
  });

  it('yields a profile with the general threshold if its own is out of bounds', () => {
    const { profiles } = parseProfiles([{ ...work, threshold: 150 }]);
    expect(chooseThreshold(profiles[0], { percent: 70 }).percent).toBe(70);
  });

  it('can have profiles added, replaced and removed', () => {
    const renamed = { ...work, name: 'Other' };
    expect(replaceOrAddProfileEntry([work, local], renamed)).toEqual([renamed, local]);
    expect(replaceOrAddProfileEntry([work], local)).toEqual([work, local]);
    expect(dropProfileEntry([work, local], 'work')).toEqual([local]);
    expect(dropProfileEntry([work], 'local')).toEqual([work]);
  });

  it('keeps invalid entries when others change', () => {
    const typo = { ...local, vendor: 'opnai' };
    expect(replaceOrAddProfileEntry([typo, 7, work], { ...work, name: 'Other' })).toEqual([
      typo,
      7,
      { ...work, name: 'Other' },
    ]);
    expect(replaceOrAddProfileEntry([typo], local)).toEqual([typo, local]);
    expect(dropProfileEntry([typo, local, work], 'local')).toEqual([typo, work]);
    expect(listProfileIds([typo, 7, { id: 7 }, work])).toEqual(['local', 'work']);
  });

  it('lets a profile have its own threshold and prompt, or inherit them', () => {
    const own = { ...work, threshold: 60, prompt: 'Mine' };
    const global = { percent: 75, tokens: 200_000, targetPercent: 67 };
    expect(chooseThreshold(own, global)).toEqual({ ...global, percent: 60 });
    expect(chooseThreshold({ ...work, threshold: -1 }, global)).toEqual(global);
    expect(chooseThreshold(work, global)).toEqual(global);
    expect(chooseThreshold(undefined, { percent: 75 })).toEqual({ percent: 75 });
    expect(chooseThreshold({ ...work, thresholdTokens: 90_000, targetPercent: 50 }, global)).toEqual({
      percent: 75,
      tokens: 90_000,
      targetPercent: 50,
    });
    expect(chooseThreshold({ ...work, thresholdTokens: 0 }, global)).toEqual({ percent: 75, targetPercent: 67 });
    expect(chooseSummaryPrompt(own, 'global')).toBe('Mine');
    expect(chooseSummaryPrompt({ ...work, prompt: ' ' }, 'global')).toBe('global');
    expect(chooseSummaryPrompt(undefined, '')).toBe('');
  });
});

describe('API keys', () => {
  it('are in the secret storage, bound to the endpoint that they were entered for', async () => {
    const store = secrets();
    expect(await readApiKey(store, work)).toEqual({ kind: 'missing' });
    await storeApiKey(store, work, 'sk-1');
    expect(await readApiKey(store, work)).toEqual({ kind: 'set', key: 'sk-1' });
    expect(await readApiKey(store, { ...work, baseUrl: 'https://evil.example/v1' })).toEqual({
      kind: 'other-endpoint',
      givenFor: 'anthropic',
    });
    await expect(getKeyForEndpoint(store, { ...work, baseUrl: 'https://evil.example/v1' })).rejects.toThrow(
      /given for anthropic.*another endpoint/,
    );
    expect(await getKeyForEndpoint(store, work)).toBe('sk-1');
    await deleteApiKey(store, 'work');
    expect(await readApiKey(store, work)).toEqual({ kind: 'missing' });
    expect(await getKeyForEndpoint(store, work)).toBeUndefined();
    for (const odd of ['no json', 'null', '{"key":1}']) {
      store.kept.set('contextCondenser.profileKey.work', odd);
      expect(await readApiKey(store, work)).toEqual({ kind: 'missing' });
    }
  });

  it('are required only by some profiles', () => {
    expect([work, local, { ...local, vendor: 'vscode' } as const].map(requiresApiKey)).toEqual([true, false, false]);
    expect(getKeyTarget(local)).toBe('http://127.0.0.1:9');
  });
});

describe('a profile for a model on OpenRouter', () => {
  const router: ApiProfile = { id: 'r', name: 'R', vendor: 'openrouter', model: 'anthropic/claude-sonnet-4.5' };

  it("is called at OpenRouter's address unless the profile names another", async () => {
    const asked: string[] = [];
    vi.stubGlobal('fetch', (url: string | URL | Request) => {
      asked.push(url instanceof Request ? url.url : String(url));
      return Promise.resolve(new Response('{}', { status: 401 }));
    });
    onTestFinished(() => void vi.unstubAllGlobals());
    for (const profile of [router, { ...router, baseUrl: 'https://proxy.example/v1' }]) {
      await testConnection(createProfileHandler(profile, 'sk-or-x', { counter }));
    }
    expect(asked).toEqual([
      'https://openrouter.ai/api/v1/chat/completions',
      'https://proxy.example/v1/chat/completions',
    ]);
    expect(() => createProfileHandler(router, undefined, { counter })).toThrow('No API key');
  });

  it("has OpenRouter's own prices", async () => {
    const table = await loadPriceTable();
    expect(table.lookup({ vendor: 'openrouter', model: router.model })?.prices.input.base).toBeGreaterThan(0);
  });
});

describe('the API handler of a profile', () => {
  const getInfo = (profile: ApiProfile, key?: string) =>
    createProfileHandler(profile, key, { counter, models }).modelInfo;
  const models: LanguageModels = { selectChatModels: () => Promise.resolve([]) };

  it('is created for each vendor', () => {
    const sized = {
      ...work,
      maxOutputTokens: 4_000,
      contextWindow: 50_000,
      timeoutSeconds: 9,
      allowInsecureHttp: true,
    };
    expect(getInfo(sized, 'sk-1')).toMatchObject({
      vendor: 'anthropic',
      maxOutputTokens: 4_000,
      contextWindow: 50_000,
    });
    expect(getInfo(local)).toMatchObject({ vendor: 'openai', id: 'qwen' });
    expect(getInfo({ ...local, api: 'responses' }, 'sk-1')).toMatchObject({ vendor: 'openai' });
    const bedrock: ApiProfile = { ...work, vendor: 'bedrock', region: 'eu-central-1' };
    for (const key of [
      undefined,
      'bedrock-key',
      'AKIAIOSFODNN7EXAMPLE:secret',
      'AKIAIOSFODNN7EXAMPLE:secret:session',
    ]) {
      expect(getInfo(bedrock, key)).toMatchObject({ vendor: 'bedrock' });
    }
    const vertex: ApiProfile = { ...work, vendor: 'vertex', region: 'global', projectId: 'p' };
    for (const key of [undefined, 'token', '{"client_email":"a@b","private_key":"k"}']) {
      expect(getInfo(vertex, key)).toMatchObject({ vendor: 'vertex' });
    }
    const chat = { ...work, vendor: 'vscode' } as const;
    expect(getInfo(chat)).toMatchObject({ vendor: 'vscode' });
    expect(getInfo({ ...chat, contextWindow: 9_000 })).toMatchObject({ contextWindow: 9_000 });
    expect(() => createProfileHandler(chat, undefined, { counter })).toThrow('in VS Code only');
  });

  it('waits for an answer as long as the profile allows', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const model = { vendor: 'copilot', family: 'f', id: 'slow', name: 'Slow', maxInputTokens: 1_000 };
      const slow: LmModel = {
        ...model,
        sendRequest: () => new Promise(() => undefined),
      };
      const models = { selectChatModels: () => Promise.resolve([slow]) };
      const profile = { ...work, vendor: 'vscode', model: 'slow', timeoutSeconds: 100 } as const;
      let error: unknown;
      const tested = testConnection(createProfileHandler(profile, undefined, { counter, models })).then((result) => {
        error = result.ok ? undefined : result.error;
      });
      await vi.advanceTimersByTimeAsync(99_000);
      expect(error).toBeUndefined();
      await vi.advanceTimersByTimeAsync(1_000);
      await tested;
      expect(error).toMatchObject({ kind: 'timeout' });
    } finally {
      vi.useRealTimers();
    }
  });

  it('requires a key, and says so if it is missing', () => {
    expect(() => getInfo(work)).toThrow(
      'Work: No API key is set. Set it with the command “Context Condenser: Manage Models”.',
    );
  });

  it('reports the actual error of a connection test', async () => {
    const result = await testConnection(
      createProfileHandler({ ...local, timeoutSeconds: 5 }, undefined, { counter }),
      AbortSignal.timeout(3_000),
    );
    expect(result.ok).toBe(false);
    expect(!result.ok && isApiError(result.error)).toBe(true);
  });
});

describe('the summarizer of a profile', () => {
  it("knows price, window and token factor, and prefers the profile's own values", async () => {
    const store = secrets();
    await storeApiKey(store, work, 'sk-1');
    const parts = { counter, secrets: store };
    const summarizer = await createProfileSummarizer(work, parts);
    expect(summarizer).toMatchObject({
      model: {
        profile: 'Work',
        vendor: 'anthropic',
        contextWindow: 200_000,
        tokenFactor: 1.18,
        prices: { input: { base: 3 } },
      },
    });
    const own = { ...work, prices: { input: 1 }, contextWindow: 9_000, cacheLifetime: '1h' } as const;
    expect(await createProfileSummarizer(own, { ...parts, tokenFactor: () => 1.3 })).toMatchObject({
      model: {
        contextWindow: 9_000,
        tokenFactor: 1.3,
        cacheLifetime: '1h',
        prices: { input: { base: 1 }, output: { base: 15 } },
      },
    });
  });

  it("treats a third party's endpoint as another vendor with unknown prices", async () => {
    const elsewhere = { ...local, baseUrl: 'https://models.example.com/v1' };
    const summarizer = await createProfileSummarizer(elsewhere, { counter, secrets: secrets() });
    expect(summarizer).toMatchObject({ model: { vendor: 'models.example.com', billing: 'per-token' } });
    expect('model' in summarizer && summarizer.model.prices).toBeUndefined();
  });

  it('treats an endpoint on this machine as another vendor that costs nothing', async () => {
    const summarizer = await createProfileSummarizer(local, { counter, secrets: secrets() });
    expect(summarizer).toMatchObject({ model: { vendor: '127.0.0.1:9', prices: { input: { base: 0 } } } });
  });

  it('counts VS Code’s models as paid per token, so that the cost limit applies', async () => {
    const models: LanguageModels = { selectChatModels: () => Promise.resolve([]) };
    expect(
      await createProfileSummarizer({ ...work, vendor: 'vscode' }, { counter, secrets: secrets(), models }),
    ).toMatchObject({
      model: { billing: 'per-token' },
    });
  });

  it('says why a profile can’t be used', async () => {
    const store = secrets();
    expect(await createProfileSummarizer(work, { counter, secrets: store })).toEqual({
      profile: 'Work',
      reason: 'No API key is set. Set it with the command “Context Condenser: Manage Models”.',
    });
    await storeApiKey(store, work, 'sk-1');
    expect(
      await createProfileSummarizer({ ...work, baseUrl: 'https://other.example' }, { counter, secrets: store }),
    ).toEqual({
      profile: 'Work',
      reason: expect.stringContaining('Set the key again'),
    });
  });
});

it('vendor fields of a profile can’t override parts of a request', () => {
  const profile = { id: 'a', name: 'A', vendor: 'openai', model: 'm' };
  const { problems } = parseProfiles([{ ...profile, extraBody: { reasoning_effort: 'low', messages: [] } }]);
  expect(problems).toEqual([{ path: '0.extraBody.messages', message: expect.stringContaining('itself') as string }]);
});

describe('the prices of a model', () => {
  const profile = (baseUrl: string | undefined, prices?: object): ApiProfile =>
    parseProfiles([
      {
        id: 'a',
        name: 'A',
        vendor: 'openai',
        model: 'llama3.1',
        ...(baseUrl !== undefined && { baseUrl }),
        ...(prices && { prices }),
      },
    ]).profiles[0] as ApiProfile;

  it.each([
    ['http://127.0.0.1:11434/v1', 0],
    ['http://localhost:1234/v1', 0],
    ['http://[::1]:8000', 0],
    ['https://127.8.9.1/v1', 0],
    ['https://models.example.com/v1', undefined],
    ['http://127.0.0.1.example.com/v1', undefined],
    [undefined, undefined],
  ])('are at the address %s: %s per million input tokens', async (baseUrl, price) => {
    expect(getModelOfProfile(profile(baseUrl), await loadPriceTable()).prices?.input.base).toBe(price);
  });

  it('are at a local address those of the profile, if it has any', async () => {
    const own = profile('http://127.0.0.1:4000', { input: 3, output: 15 });
    expect(getModelOfProfile(own, await loadPriceTable()).prices).toMatchObject({
      input: { base: 3 },
      output: { base: 15 },
    });
  });
});
