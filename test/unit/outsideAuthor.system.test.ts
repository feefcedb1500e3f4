/**
 * Tests what an external author experiences: a provider in its own folder, made from
 * docs/guide/extensions.md and the two shipped files, is type-checked and run without this
 * repository.
 */
import { execFile } from 'node:child_process';
import { copyFileSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { expect, inject, it } from 'vitest';
import { temporaryFolder } from '../support/temporaryFolder';
import { typeProblems } from '../support/typeProblems';

const root = join(import.meta.dirname, '..', '..');

/** The author's files: a provider that folds old stack traces, and its test. */
const FILES = {
  'package.json': JSON.stringify({
    name: 'shorter-traces',
    publisher: 'somebody',
    version: '0.1.0',
    engines: { vscode: '^1.106.0' },
    main: './out/extension.js',
    activationEvents: ['onStartupFinished'],
    extensionDependencies: ['context-condenser.context-condenser'],
  }),
  'src/traces.ts': `
import type { Change, Provider } from './condenserApi';

interface Config {
  readonly frames: number;
}

/** The frames after the first few of each run of lines that begin with "at". */
function cutsIn(text: string, frames: number): { start: number; end: number; count: number }[] {
  const cuts: { start: number; end: number; count: number }[] = [];
  for (const run of text.matchAll(/(?:^[ \\t]+at .*(?:\\n|$))+/gm)) {
    const lines = run[0].split('\\n').filter((line) => line !== '');
    if (lines.length <= frames + 1) continue;
    const kept = lines.slice(0, frames).join('\\n').length + (frames > 0 ? 1 : 0);
    const start = run.index + kept;
    const end = run.index + lines.join('\\n').length;
    cuts.push({ start, end, count: lines.length - frames });
  }
  return cuts;
}

export const shorterTraces: Provider = {
  id: 'somebody.shorter-traces',
  name: 'Shorter stack traces',
  description: 'Keeps the first frames of the stack traces in old results.',
  version: '0.1.0',
  configSchema: {
    type: 'object',
    properties: { frames: { type: 'integer', minimum: 0, default: 3, title: 'Frames', description: 'Frames that stay.' } },
    additionalProperties: false,
  },
  condense({ messages, config }) {
    const { frames } = config as Config;
    const changes: Change[] = [];
    for (const [message, { content }] of messages.slice(0, -2).entries()) {
      if (typeof content === 'string') continue;
      for (const [block, { type, content: result }] of content.entries()) {
        if (type !== 'tool_result' || typeof result !== 'string') continue;
        for (const { start, end, count } of cutsIn(result, frames)) {
          const path = ['content', block, 'content'];
          changes.push({ kind: 'cut', message, path, start, end, what: count + ' frames', reason: 'an old stack trace' });
        }
      }
    }
    return Promise.resolve({ changes });
  },
};
`,
  'src/extension.ts': `
import * as vscode from 'vscode';
import type { ContextCondenserExports } from './condenserApi';
import { shorterTraces } from './traces';

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const id = 'context-condenser.context-condenser';
  const extension = vscode.extensions.getExtension<ContextCondenserExports>(id);
  const api = (await extension?.activate())?.getApi(1);
  if (api) context.subscriptions.push(api.registerProvider(shorterTraces));
}
`,
  'src/traces.test.ts': `
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { test } from 'node:test';
import type { Message, ProviderBench } from './condenserApi';
import { shorterTraces } from './traces';

const bench = createRequire(process.env['CONDENSER'] + '/')('./dist/providerBench.cjs') as ProviderBench;
const frames = Array.from({ length: 40 }, (_, index) => '    at step' + index + ' (/app/src/file' + index + '.js:10:5)');
const trace = ['TypeError: x is not a function', ...frames, 'Node.js v22'].join('\\n');
const messages: Message[] = [
  { role: 'user', content: 'Mend the crash.' },
  { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'Bash', input: { command: 'node app.js' } }] },
  { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: trace }] },
  { role: 'assistant', content: [{ type: 'tool_use', id: 'b', name: 'Bash', input: { command: 'node app.js' } }] },
  { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'b', content: trace }] },
];

test('old traces keep their first frames, the newest stays whole', async () => {
  const outcome = await bench.condense(shorterTraces, { id: 'c', messages });
  assert.equal(outcome.kind, 'condensed', JSON.stringify(outcome));
  if (outcome.kind !== 'condensed') return;
  const [, , old, , newest] = outcome.view.map((message) => JSON.stringify(message));
  assert.match(old ?? '', /TypeError.*step2 .*37 frames.*Node\\.js v22/);
  assert.ok(!old?.includes('step3 '));
  assert.ok(newest?.includes('step39 '));
});

test('a wrong setting is refused with its name', async () => {
  const outcome = await bench.condense(shorterTraces, { id: 'c', messages }, { config: { frames: -1 } });
  assert.match(JSON.stringify(outcome), /frames/);
});
`,
} as const;

it('an outside author’s provider compiles and runs in a folder of its own', async () => {
  const folder = temporaryFolder();
  const installed = temporaryFolder();
  symlinkSync(inject('bundles'), join(installed, 'dist'), 'junction');
  for (const [name, text] of Object.entries(FILES)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  copyFileSync(join(root, 'src', 'extensionApi', 'api.ts'), join(folder, 'src', 'condenserApi.d.ts'));

  const sources = ['traces.ts', 'extension.ts', 'traces.test.ts'].map((name) => join(folder, 'src', name));
  const outDir = join(folder, 'out');
  const problems = typeProblems(folder, sources, {
    noUncheckedIndexedAccess: true,
    module: 'commonjs',
    rootDir: 'src',
    outDir: 'out',
  });
  expect(problems).toEqual([]);

  const run = promisify(execFile)(process.execPath, ['--test', join(outDir, 'traces.test.js')], {
    cwd: folder,
    env: { PATH: process.env['PATH'], CONDENSER: installed, NODE_NO_WARNINGS: '1' },
  });
  const { stdout } = await run;
  expect(stdout).toMatch(/pass 2\b/);
  expect(stdout).toMatch(/fail 0\b/);
});
