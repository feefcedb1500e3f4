import * as fc from 'fast-check';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { fake } from '../../test/support/vscode';
import { CLAUDE_CODE_CLOUD_VARIABLES } from '../core/agents/claudeCodeClouds';
import { CLAUDE_CODE_EXTENSION_ID, readClaudeCodeAddress, setClaudeCodeAddress } from './claudeCodeAddress';

const NAME = 'claudeCode.environmentVariables';
const ADDRESS = `http://127.0.0.1:4567/${'s3cret-'.repeat(4)}/anthropic`;
const gateway = vi.fn(() => Promise.resolve<string | undefined>(ADDRESS));
const last = () => fake.shown.at(-1)!;
let folder: string;

beforeEach(() => {
  fake.reset();
  folder = mkdtempSync(join(tmpdir(), 'claude-code-'));
  vi.stubEnv('CLAUDE_CONFIG_DIR', folder);
  fake.extensions.set(CLAUDE_CODE_EXTENSION_ID, {});
  gateway.mockClear();
});

afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true });
});

const variable = fc.record({
  name: fc.string().filter((name) => name !== 'ANTHROPIC_BASE_URL' && !CLAUDE_CODE_CLOUD_VARIABLES.includes(name)),
  value: fc.string(),
  more: fc.option(fc.string(), { nil: undefined }),
});

describe('the gateway’s address for the Claude Code extension', () => {
  it('is added to the existing variables of that extension, and removed without a trace', async () => {
    await fc.assert(
      fc.asyncProperty(fc.option(fc.array(variable), { nil: undefined }), async (before) => {
        fake.settings = before === undefined ? {} : { [NAME]: before };
        fake.answers = ['Set', 'Take It Back'];
        await setClaudeCodeAddress(gateway);
        expect(fake.settings[NAME]).toEqual([...(before ?? []), { name: 'ANTHROPIC_BASE_URL', value: ADDRESS }]);
        await setClaudeCodeAddress(gateway);
        expect(fake.settings[NAME]).toEqual(before?.length === 0 ? undefined : before);
        expect(fake.shown.map(({ message }) => message).join('\n')).not.toContain('s3cret');
      }),
    );
  });

  it('is not set before the user confirms, nor if no gateway runs', async () => {
    fake.answers = [undefined];
    await setClaudeCodeAddress(gateway);
    expect(last().choices).toEqual(['Set']);
    gateway.mockResolvedValueOnce(undefined);
    await setClaudeCodeAddress(gateway);
    expect(fake.settings[NAME]).toBeUndefined();
  });

  it('replaces the address of an earlier gateway', async () => {
    const old = { name: 'ANTHROPIC_BASE_URL', value: ADDRESS.replace('4567', '4321') };
    fake.settings[NAME] = [old];
    fake.answers = ['Start the Gateway'];
    await setClaudeCodeAddress(gateway);
    expect(fake.settings[NAME]).toEqual([{ ...old, value: ADDRESS }]);
  });

  it.each([
    ['another address', [{ name: 'ANTHROPIC_BASE_URL', value: 'https://llm.example.com' }], '--upstream anthropic='],
    ['a cloud', [{ name: 'CLAUDE_CODE_USE_BEDROCK', value: '1' }], 'CLAUDE_CODE_USE_BEDROCK'],
    ['no list of names and values', { ANTHROPIC_MODEL: 'opus' }, 'is not a list of names and values'],
  ])('is not set if the setting has %s', async (_, value, words) => {
    fake.settings[NAME] = value;
    await setClaudeCodeAddress(gateway);
    expect(last()).toMatchObject({ kind: 'warning', message: expect.stringContaining(words) as string });
    expect(fake.settings[NAME]).toBe(value);
    expect(gateway).not.toHaveBeenCalled();
  });

  it.each([
    [{ ANTHROPIC_BASE_URL: 'https://llm.example.com' }, 'blocked'],
    [{ CLAUDE_CODE_USE_VERTEX: 'true' }, 'blocked'],
    [{ CLAUDE_CODE_USE_VERTEX: '0' }, 'free'],
  ])('is checked against Claude Code’s own variables: %j is %s', async (env, kind) => {
    writeFileSync(join(folder, 'settings.json'), JSON.stringify({ env, model: 'opus' }));
    expect(await readClaudeCodeAddress()).toMatchObject({ kind });
  });

  it('is not set if the workspace has its own value of the setting, which takes precedence', async () => {
    fake.workspaceSettings[NAME] = [];
    expect(await readClaudeCodeAddress()).toMatchObject({ kind: 'blocked' });
  });

  it('is not set in a desktop’s remote window, whose user settings also apply to another computer', async () => {
    fake.remoteName = 'ssh-remote';
    await setClaudeCodeAddress(gateway);
    expect(last().message).toContain('by hand');
    expect(fake.settings[NAME]).toBeUndefined();
  });

  it('is reported as not set if the extension is missing or VS Code refuses', async () => {
    fake.answers = ['Set'];
    fake.updateError = new Error('The file is read-only.');
    await setClaudeCodeAddress(gateway);
    expect(last()).toMatchObject({ kind: 'error', message: 'The address was not changed. The file is read-only.' });
    fake.extensions.clear();
    await setClaudeCodeAddress(gateway);
    expect(last().message).toContain('is not installed here');
  });
});
