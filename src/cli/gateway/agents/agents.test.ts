import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parse as parseYaml } from 'yaml';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { temporaryFolder } from '../../../../test/support/temporaryFolder';
import type { GatewayCommand } from '../../../core/agents';
import type { AgentLaunch, PreparedAgent } from './agent';
import { SECRET_HEADER_NAME } from '../../../gateway/access';
import { findGatewayAgent } from './index';

interface Setup {
  /**
   * Files below the home folder; the agent runs in `work`. In texts, arguments and values, `HOME`
   * stands for the home folder's path.
   */
  readonly files?: Readonly<Record<string, string>>;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly platform?: NodeJS.Platform;
  readonly runs?: string;
}

async function prepared(name: GatewayCommand, { files = {}, args = [], env = {}, ...rest }: Setup) {
  const homedir = temporaryFolder();
  const here = (text: string): string => text.replaceAll('HOME', homedir);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(homedir, path)), { recursive: true });
    writeFileSync(join(homedir, path), here(text));
  }
  const home = { homedir, cwd: join(homedir, 'work'), platform: 'linux', runs: homedir, ...rest } as const;
  const said = Object.fromEntries(Object.entries(env).map(([variable, value]) => [variable, here(value)]));
  return findGatewayAgent(name)!.prepare(args.map(here), { ...home, env: said });
}

const listAddresses = ({ routes }: PreparedAgent): string[] => [...routes.values()].map(String);

async function launched(ready: PreparedAgent): Promise<AgentLaunch & { readonly files: Record<string, string> }> {
  const files: Record<string, string> = {};
  const launch = await ready.launch({
    url: (route) => `http://127.0.0.1:1/secret/${route}`,
    ticketUrl: (route) => `http://127.0.0.1:1/ticket/${route}`,
    file: (name, text) => {
      files[name] = text;
      return Promise.resolve(`/run/${name}`);
    },
    recall: {
      name: 'condenser',
      command: '/node',
      args: ['cli.cjs', 'mcp'],
      env: { CONTEXT_CONDENSER_RECALL: 'http://127.0.0.1:1/secret/recall', ELECTRON_RUN_AS_NODE: '1' },
    },
  });
  return { ...launch, files };
}

const DIRECT = { NO_PROXY: '127.0.0.1,localhost', no_proxy: '127.0.0.1,localhost' };
const OWN = '[model_providers.mine]\nname = "mine"\nbase_url = "https://own.example/v1"\n';
const KEY_SIGN_IN = '{"security":{"auth":{"selectedType":"openai","baseUrl":"https://said.example/v1"}}}';
const PROVIDERS = JSON.stringify({
  lastUsedProvider: 'deepseek',
  providers: { deepseek: { settings: { apiKey: 'k' } }, anthropic: { settings: { apiKey: 'k' } } },
});

describe("the address that an agent's requests go to", () => {
  it.each<[string, GatewayCommand, Setup, string | readonly string[]]>([
    // Codex: "-c" overrides a profile, which overrides config.toml; a value that isn't TOML is a
    // string.
    [
      'a provider by -c without quotes',
      'codex',
      { files: { '.codex/config.toml': OWN }, args: ['-c', 'model_provider=mine'] },
      'https://own.example/v1',
    ],
    [
      'a provider made of several -c',
      'codex',
      {
        files: { '.codex/config.toml': OWN },
        args: [
          '--config=model_provider="mine"',
          '-c',
          'model_providers.mine.name="x"',
          '--config',
          'model_providers.mine.base_url=https://line.example/v1',
          '-c',
        ],
      },
      'https://line.example/v1',
    ],
    [
      'a profile over config.toml',
      'codex',
      {
        files: {
          '.codex/config.toml': `model_provider = "openai"\n${OWN}`,
          '.codex/work.config.toml': 'model_provider = "mine"',
        },
        args: ['--profile=work'],
      },
      'https://own.example/v1',
    ],
    [
      'the address of the built-in provider',
      'codex',
      { files: { 'c/config.toml': 'openai_base_url = "https://eu.example/v1"' }, env: { CODEX_HOME: 'HOME/c' } },
      'https://eu.example/v1',
    ],
    ['a key in the environment', 'codex', { env: { CODEX_API_KEY: 'k' } }, 'https://api.openai.com/v1'],
    [
      'no setting in a -c without "="',
      'codex',
      { args: ['-c', 'model_provider_'], env: { CODEX_API_KEY: 'k' } },
      'https://api.openai.com/v1',
    ],
    [
      'a sign-in by key, though tokens are left',
      'codex',
      { files: { '.codex/auth.json': '{"auth_mode":"ApiKey","tokens":{}}' } },
      'https://api.openai.com/v1',
    ],
    [
      'a sign-in that says nothing but tokens',
      'codex',
      { files: { '.codex/auth.json': '{"OPENAI_API_KEY":null,"tokens":{}}' } },
      'https://chatgpt.com/backend-api/codex',
    ],
    // Cases for Qwen Code
    [
      'the address of its sign-in',
      'qwen',
      { files: { '.qwen/settings.json': KEY_SIGN_IN } },
      'https://said.example/v1',
    ],
    [
      'the command line before the settings',
      'qwen',
      { files: { 'q/settings.json': KEY_SIGN_IN }, env: { QWEN_HOME: 'HOME/q' }, args: ['--auth-type', 'anthropic'] },
      'https://api.anthropic.com/',
    ],
    [
      'models without an address of their own',
      'qwen',
      {
        files: { 'work/.qwen/settings.json': '{"modelProviders":{"gemini":[{"id":"m"},null]}}' },
        args: ['--auth-type=gemini'],
      },
      'https://generativelanguage.googleapis.com/',
    ],
    ['a key alone', 'qwen', { env: { OPENAI_API_KEY: 'k' }, platform: 'darwin' }, 'https://api.openai.com/v1'],
    [
      'system settings of Windows before those of the user',
      'qwen',
      {
        files: {
          'qwen-code/settings.json': '{"security":{"auth":{"selectedType":"anthropic"}}}',
          '.qwen/settings.json': KEY_SIGN_IN,
        },
        env: { ProgramData: 'HOME' },
        platform: 'win32',
      },
      'https://api.anthropic.com/',
    ],
    // Cases for Continue
    [
      'models of known providers, and none of what is no model',
      'cn',
      {
        files: {
          'g/config.yaml':
            'models:\n  - just a text\n  - provider: anthropic\n    model: a\n  - uses: hub/model\n  - provider: openrouter\n    model: b\n',
        },
        env: { CONTINUE_GLOBAL_DIR: 'HOME/g' },
      },
      ['https://api.anthropic.com/v1', 'https://openrouter.ai/api/v1'],
    ],
    [
      'a configuration named on the command line, from the folder of the work',
      'cn',
      {
        files: { 'work/my.yaml': 'models: [{ provider: any, model: m, apiBase: "https://my.example/v1" }]' },
        args: ['--config=my.yaml'],
      },
      'https://my.example/v1',
    ],
    // Cases for OpenCode
    [
      'keys in the environment and in its sign-ins, not what signs in by a plugin',
      'opencode',
      {
        files: { 'data/opencode/auth.json': '{"openrouter":{"type":"api"},"openai":{"type":"oauth"},"anthropic":7}' },
        env: { XDG_DATA_HOME: 'HOME/data', DEEPSEEK_API_KEY: 'k' },
      },
      ['https://openrouter.ai/api/v1', 'https://api.deepseek.com/'],
    ],
    [
      'the model of the command line before that of its settings',
      'opencode',
      {
        files: { '.config/opencode/opencode.json': '{"model":"github-copilot/gpt-5"}' },
        args: ['--model=deepseek/deepseek-chat'],
        env: { DEEPSEEK_API_KEY: 'k' },
      },
      'https://api.deepseek.com/',
    ],
    [
      'a key if its environment selects no other way',
      'gemini',
      { env: { GEMINI_API_KEY: 'k' } },
      'https://generativelanguage.googleapis.com/',
    ],
    [
      'a key in a project above, and settings of the environment over its file',
      'opencode',
      {
        files: {
          'work/.opencode/opencode.jsonc':
            '{"provider":{"google":{"options":{"apiKey":"k",},},"none":{"options":{"apiKey":"k"}}}}',
          'own.json': '{"provider":{"x":{"options":{"baseURL":"https://file.example"}}}}',
        },
        env: {
          OPENCODE_CONFIG: 'HOME/own.json',
          XDG_CONFIG_HOME: 'HOME/xdg',
          OPENCODE_CONFIG_CONTENT: '{"provider":{"x":{"options":{"baseURL":"https://over.example"}}}}',
        },
      },
      ['https://over.example/', 'https://generativelanguage.googleapis.com/v1beta'],
    ],
    // Cases for Cline
    [
      'the last used provider',
      'cline',
      { files: { '.cline/data/settings/providers.json': PROVIDERS } },
      'https://api.deepseek.com/',
    ],
    [
      'a provider of the command line, in a data folder of its own',
      'cline',
      { files: { 'd/settings/providers.json': PROVIDERS }, args: ['--data-dir', 'HOME/d', '-P', 'anthropic'] },
      'https://api.anthropic.com/v1',
    ],
    [
      'a data folder of the environment',
      'cline',
      { files: { 'd/settings/providers.json': PROVIDERS }, env: { CLINE_DATA_DIR: 'HOME/d' } },
      'https://api.deepseek.com/',
    ],
    [
      'a folder of the environment',
      'cline',
      { files: { 'c/data/settings/providers.json': PROVIDERS }, env: { CLINE_DIR: 'HOME/c' } },
      'https://api.deepseek.com/',
    ],
    // Cases for Gemini CLI
    [
      'the older name of the sign-in',
      'gemini',
      { files: { '.gemini/settings.json': '{"selectedAuthType":"gemini-api-key"}' }, platform: 'darwin' },
      'https://generativelanguage.googleapis.com/',
    ],
    [
      'system settings of Windows',
      'gemini',
      {
        files: { 'gemini-cli/settings.json': '{"security":{"auth":{"selectedType":"gemini-api-key"}}}' },
        env: { ProgramData: 'HOME' },
        platform: 'win32',
      },
      'https://generativelanguage.googleapis.com/',
    ],
    // Cases for Claude Code
    [
      'settings on the command line, and a cloud that is switched off',
      'claude',
      {
        args: ['--settings', '{"env":{"ANTHROPIC_BASE_URL":"https://line.example"}}'],
        env: { CLAUDE_CODE_USE_BEDROCK: '0', ANTHROPIC_BASE_URL: 'https://env.example' },
      },
      'https://line.example/',
    ],
    [
      'settings in a file, from the folder of the work',
      'claude',
      {
        files: { 'work/s.json': '{"env":{"ANTHROPIC_BASE_URL":"https://file.example"}}' },
        args: ['--settings=s.json'],
        env: { CLAUDE_CONFIG_DIR: 'HOME/none' },
      },
      'https://file.example/',
    ],
    ['what stands behind -- is no option', 'claude', { args: ['--', '--settings', '{'] }, 'https://api.anthropic.com/'],
  ])('is taken from the right setting: %s (%s)', async (_, name, setup, addresses) => {
    expect(listAddresses(await prepared(name, setup))).toEqual([addresses].flat());
  });

  it("is for Pi the address of the user's own provider if the project's settings choose that provider", async () => {
    const ready = await prepared('pi', {
      files: {
        'p/models.json':
          '{"providers":{"mine":{"baseUrl":"https://own.example","models":[{"contextWindow":9},7]},"other":{}}}',
        'work/.pi/settings.json': '{"defaultProvider":"mine"}',
      },
      env: { PI_CODING_AGENT_DIR: 'HOME/p' },
    });
    expect(listAddresses(ready)).toContain('https://own.example/');
  });
});

describe('an agent whose requests cannot be redirected', () => {
  it.each<[GatewayCommand, Setup, RegExp]>([
    ['codex', { args: ['--oss'] }, /"oss" takes no other address/],
    ['codex', { args: ['-c', 'model_provider=7'] }, /is not a name/],
    ['codex', { args: ['-c', 'model_provider=mine'] }, /"mine" has no base_url/],
    [
      'codex',
      { files: { '.codex/config.toml': `model_provider = "mine"\n${OWN}wire_api = "chat"\n` } },
      /no longer speaks the "chat" wire/,
    ],
    ['codex', { files: { '.codex/config.toml/x': '' } }, /config\.toml can't be read \(EISDIR\)/],
    [
      'codex',
      { files: { '.codex/config.toml': 'openai_base_url = "file:///x"' } },
      /base_url of Codex is not an address/,
    ],
    ['qwen', {}, /signed in with "nothing yet"/],
    ['qwen', { env: { OPENAI_API_KEY: 'k' }, args: ['--openai-base-url=https://e.example'] }, /set OPENAI_BASE_URL/],
    [
      'qwen',
      {
        files: { '.qwen/settings.json': '{"modelProviders":{"openai":[{"id":"m","baseUrl":"https://e.example"}]}}' },
        env: { OPENAI_API_KEY: 'k' },
      },
      /modelProviders/,
    ],
    ['cn', { files: { '.continue/config.yaml': 'models:\n  - uses: hub/model\n' } }, /models of its hub/],
    ['copilot', {}, /GitHub's own models/],
    [
      'copilot',
      { env: { COPILOT_PROVIDER_BASE_URL: 'https://x.example', COPILOT_PROVIDER_TYPE: 'azure' } },
      /"azure" is not supported/,
    ],
    ['copilot', { env: { COPILOT_PROVIDER_BASE_URL: 'x.example/v1' } }, /COPILOT_PROVIDER_BASE_URL is not an address/],
    [
      'cn',
      { files: { '.continue/config.yaml': 'models: [{ apiBase: nowhere }]' } },
      /apiBase of model 1 is not an address/,
    ],
    [
      'opencode',
      { env: { OPENCODE_CONFIG_CONTENT: '{"provider":{"x":{"options":{"baseURL":"{env:UNSET}/v1"}}}}' } },
      /baseURL of "x" is not an address/,
    ],
    ['gemini', {}, /signed in with "nothing yet"/],
    // The environment may select another way to sign in, although a key exists.
    ['gemini', { env: { GEMINI_API_KEY: 'k', GOOGLE_GENAI_USE_GCA: 'true' } }, /signed in with "oauth-personal"/],
    ['gemini', { env: { GEMINI_API_KEY: 'k', GOOGLE_GENAI_USE_VERTEXAI: 'true' } }, /signed in with "vertex-ai"/],
    // There is a key, but the selected model authenticates by plugin.
    [
      'opencode',
      {
        files: { '.config/opencode/opencode.json': '{"model":"github-copilot/gpt-5"}' },
        env: { ANTHROPIC_API_KEY: 'k' },
      },
      /The provider of its model "github-copilot\/gpt-5" has no key and no address known here;/,
    ],
    ['kilo', { args: ['-m', 'groq/x'], env: { ANTHROPIC_API_KEY: 'k' } }, /model "groq\/x" has no key and no address/],
    ['pi', { args: ['--model', 'openai-codex/gpt-5'] }, /"openai-codex" can't be routed/],
    [
      'cline',
      { files: { '.cline/data/settings/providers.json': PROVIDERS }, args: ['-P', 'gemini'] },
      /"gemini" is not one with a key/,
    ],
    ['claude', { args: ['--settings', '{'] }, /not a JSON object/],
    ['pi', { args: ['--provider', 'github-copilot'] }, /"github-copilot" can't be routed/],
  ])('is rejected with the reason: %s %j', async (name, setup, message) => {
    await expect(prepared(name, setup)).rejects.toThrow(message);
  });
});

describe('the temporary configuration that an agent gets', () => {
  it("for Codex puts the secret into a header for a custom provider, and only a ticket into the built-in one's address", async () => {
    const files = {
      '.codex/config.toml': `model = "m"\nmodel_context_window = 1000\n${OWN}`,
      '.codex/auth.json': '{"auth_mode":"apikey"}',
    };
    const ready = await prepared('codex', { files, args: ['-c', 'model_provider=mine'] });
    expect([...ready.windows!]).toEqual([['m', 1000]]);
    const own = await launched(ready);
    expect(own.args).toContain('model_providers.mine.base_url="http://127.0.0.1:1/openai"');
    expect(own.args).toContain('mcp_servers.condenser.env.ELECTRON_RUN_AS_NODE="1"');
    expect(own.args.join(' ')).not.toContain('secret/');
    expect(Object.values(own.env)).toEqual(['http://127.0.0.1:1/secret/recall', 'secret']);
    const builtIn = await launched(await prepared('codex', { files }));
    expect(builtIn.args).toContain('openai_base_url="http://127.0.0.1:1/ticket/openai"');
    expect(Object.keys(builtIn.env)).toEqual(['CONTEXT_CONDENSER_RECALL']);
  });

  it('for Qwen Code keeps the system settings and adds our MCP server', async () => {
    const system =
      '{"theme":"x","mcpServers":{"a":{"command":"b"}},"tools":{"core":["c"],"toolSearch":{"enabled":true}}}';
    const ready = await prepared('qwen', {
      files: { 'system.json': system },
      env: { QWEN_CODE_SYSTEM_SETTINGS_PATH: 'HOME/system.json', OPENAI_API_KEY: 'k' },
    });
    const { files, env } = await launched(ready);
    expect(env).toEqual({
      OPENAI_BASE_URL: 'http://127.0.0.1:1/secret/qwen',
      QWEN_CODE_SYSTEM_SETTINGS_PATH: '/run/qwen.json',
    });
    expect(JSON.parse(files['qwen.json']!)).toMatchObject({
      theme: 'x',
      mcpServers: { a: { command: 'b' }, condenser: { command: '/node' } },
      tools: { core: ['c'], toolSearch: { enabled: false } },
    });
  });

  it("for Copilot CLI adds the secret to the user's headers, our MCP server from a file, and a larger prompt limit", async () => {
    const ready = await prepared('copilot', {
      args: ['--model', 'mine', '-p', 'go'],
      env: {
        COPILOT_PROVIDER_BASE_URL: 'https://own.example/v1',
        COPILOT_PROVIDER_HEADERS: 'X-Tenant: a',
        COPILOT_PROVIDER_MAX_PROMPT_TOKENS: '90000',
        COPILOT_PROVIDER_TRANSPORT: 'websockets',
      },
    });
    expect(listAddresses(ready)).toEqual(['https://own.example/v1']);
    expect([...ready.windows!]).toEqual([['mine', 90_000]]);
    const { args, env, files } = await launched(ready);
    expect(args).toEqual(['--additional-mcp-config=@/run/mcp.json', '--model', 'mine', '-p', 'go']);
    expect(env).toEqual({
      COPILOT_PROVIDER_BASE_URL: 'http://127.0.0.1:1/provider',
      COPILOT_PROVIDER_HEADERS: `X-Tenant: a\n${SECRET_HEADER_NAME}: secret`,
      COPILOT_PROVIDER_MAX_PROMPT_TOKENS: '720000',
      COPILOT_PROVIDER_TRANSPORT: 'http',
    });
    expect(JSON.parse(files['mcp.json']!)).toMatchObject({
      mcpServers: { condenser: { command: '/node', tools: ['*'] } },
    });
  });

  it.each([
    ['--config my.yaml', ['--config', 'HOME/my.yaml', '-p', 'go']],
    ['--config=my.yaml', ['--config=HOME/my.yaml', '-p', 'go']],
  ])('for Continue with %s replaces the named configuration file', async (_, args) => {
    const ready = await prepared('cn', {
      files: {
        'my.yaml': `
name: n
mcpServers: [{ name: a, command: b }]
models:
  - { provider: openai, model: m, defaultCompletionOptions: { contextLength: 1000, temperature: 0 } }
  - { provider: openai, defaultCompletionOptions: { contextLength: 2000 } }
  - { uses: hub/model }
`,
      },
      args,
    });
    expect([...ready.windows!]).toEqual([
      ['m', 1000],
      ['', 2000],
    ]);
    const launch = await launched(ready);
    expect(launch.args).toEqual(['--config', '/run/config.yaml', '-p', 'go']);
    expect(parseYaml(launch.files['config.yaml']!)).toMatchObject({
      name: 'n',
      mcpServers: [{ name: 'a' }, { name: 'condenser', command: '/node' }],
      models: [
        { apiBase: 'http://127.0.0.1:1/secret/m-0', defaultCompletionOptions: { contextLength: 8000, temperature: 0 } },
        { apiBase: 'http://127.0.0.1:1/secret/m-1' },
        { uses: 'hub/model' },
      ],
    });
  });

  it('for OpenCode keeps the settings in its environment variable, and gives each provider our address', async () => {
    const over = {
      theme: 'x',
      mcp: { a: { type: 'remote' } },
      provider: {
        x: {
          npm: 'p',
          options: { baseURL: 'https://e.example', apiKey: 'k' },
          models: { m: { limit: { context: 9 } }, n: {} },
        },
      },
    };
    const ready = await prepared('opencode', { env: { OPENCODE_CONFIG_CONTENT: JSON.stringify(over) } });
    expect([...ready.windows!]).toEqual([['m', 9]]);
    const { env } = await launched(ready);
    expect(JSON.parse(env['OPENCODE_CONFIG_CONTENT']!)).toMatchObject({
      theme: 'x',
      mcp: { a: { type: 'remote' }, condenser: { type: 'local', command: ['/node', 'cli.cjs', 'mcp'], enabled: true } },
      provider: { x: { npm: 'p', options: { baseURL: 'http://127.0.0.1:1/secret/p-0', apiKey: 'k' } } },
    });
  });

  it('for Cline turns compaction off unless the command line has a compaction option', async () => {
    const files = { '.cline/data/settings/providers.json': PROVIDERS };
    const asked = await launched(await prepared('cline', { files, args: ['--compaction', 'basic'] }));
    expect(asked.args).toEqual(['--compaction', 'basic']);
    const unasked = await launched(await prepared('cline', { files, args: ['go'] }));
    expect(unasked.args).toEqual(['--compaction', 'off', 'go']);
    expect(JSON.parse(unasked.files['providers.json']!)).toMatchObject({
      providers: {
        deepseek: { settings: { apiKey: 'k', baseUrl: 'http://127.0.0.1:1/secret/cline' } },
        anthropic: { settings: { apiKey: 'k' } },
      },
    });
  });

  it('for Claude Code keeps the settings from its command line, and allows our tools', async () => {
    const given = '{"env":{"A":"b"},"permissions":{"allow":["Bash"],"deny":["Write"]}}';
    const { args, files } = await launched(await prepared('claude', { args: ['--settings', given, '-p'] }));
    expect(args).toEqual(['--settings=/run/settings.json', '--mcp-config=/run/mcp.json', '-p']);
    expect(JSON.parse(files['settings.json']!)).toEqual({
      env: { A: 'b', ...DIRECT, ANTHROPIC_BASE_URL: 'http://127.0.0.1:1/secret/anthropic' },
      permissions: { allow: ['Bash', 'mcp__condenser'], deny: ['Write'] },
    });
  });

  it("for Claude Code ignores a project's proxy, and keeps the user's proxy exceptions", async () => {
    const proxies = '"HTTP_PROXY":"http://other.example","NO_PROXY":"other.example","no_proxy":""';
    const files = {
      'work/.claude/settings.json': `{"env":{${proxies}}}`,
      '.claude/settings.json': '{"env":{"NO_PROXY":"own.example"}}',
    };
    const ready = await prepared('claude', { files, env: { NO_PROXY: 'shell.example', no_proxy: 'shell.example' } });
    const written = await launched(ready);
    expect(JSON.parse(written.files['settings.json']!)).toMatchObject({
      env: { NO_PROXY: 'own.example,127.0.0.1,localhost', no_proxy: 'shell.example,127.0.0.1,localhost' },
    });
  });

  it.runIf(process.platform !== 'win32')(
    'for Gemini CLI adds our MCP server to the system settings if Gemini CLI will read that file',
    async () => {
      const user = vi.spyOn(process, 'getuid').mockReturnValue(0);
      onTestFinished(() => {
        user.mockRestore();
      });
      const ready = await prepared('gemini', {
        files: { 'system.json': '{"theme":"x","mcpServers":{"a":{"command":"b"}}}' },
        env: { GEMINI_CLI_SYSTEM_SETTINGS_PATH: 'HOME/system.json', GEMINI_API_KEY: 'k' },
        runs: '/etc/not-there/runs',
      });
      expect(ready.canRecall).toBe(true);
      const { files, env } = await launched(ready);
      expect(env['GEMINI_CLI_SYSTEM_SETTINGS_PATH']).toBe('/run/gemini.json');
      expect(JSON.parse(files['gemini.json']!)).toMatchObject({
        theme: 'x',
        mcpServers: { a: { command: 'b' }, condenser: { command: '/node', trust: true } },
      });
    },
  );
});
