import { execFileSync, spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { beforeEach, describe, expect, inject, it } from 'vitest';
import { shouldTry } from '../support/long';
import { temporaryFolder } from '../support/temporaryFolder';
import { version } from '../../package.json';
import { SESSION_COMMANDS, formatHelp, STANDALONE_COMMANDS } from '../../src/cli/help';
import { runCommandLine } from '../../src/cli/run';
import { makeReadingSession } from '../../src/account/testing';
import { readConversation } from '../../src/conversations/read';
import { makeToolExchange, makeLines, user } from '../../src/core/testing';
import { writeDatabase, writeHome } from '../fixtures/conversations/home';
import { FILE_AWARE_PRESET } from '../../src/core/condense/providers/smart/presets';
import { nothingToGain, makeTranscript, writeTranscript } from '../support/transcript';
import { findMarkers, MARKER_START } from '../../src/core/messages/markers';

let folder: string;
let file: string;
let stdout: string;
let stderr: string;
let abort: AbortController;

beforeEach(() => {
  folder = temporaryFolder();
  file = writeTranscript(folder);
  abort = new AbortController();
});

async function cli(...argv: string[]): Promise<number> {
  stdout = '';
  stderr = '';
  return runCommandLine(argv, {
    stdout: (text) => (stdout += text),
    stderr: (text) => (stderr += text),
    assets: inject('bundles'),
    signal: abort.signal,
    now: () => new Date('2026-01-02T03:04:05Z'),
    version: '1.2.3',
    platform: 'linux',
    env: { XDG_STATE_HOME: join(folder, 'state') },
    homedir: folder,
  });
}

const json = (): Record<string, unknown> => JSON.parse(stdout) as Record<string, unknown>;
const originalMessages = (): unknown => readConversation(makeTranscript(), { path: file }).messages;
const messagesIn = (path: string): unknown =>
  (JSON.parse(readFileSync(path, 'utf8')) as { messages: unknown }).messages;

describe('condense-context run', () => {
  it('prints a report: each step with tokens before and after, total, cost and time', async () => {
    expect(await cli('condense', file)).toBe(0);
    expect(stdout).toMatch(/^Context condensed using Lossless:$/m);
    expect(stdout).toMatch(/^ - .*: [\d,]+ → [\d,]+ tokens \(−\d+%\)$/m);
    expect(stdout).toMatch(/^ - Total reduction: \d+% \([\d,]+ → [\d,]+ tokens\)$/m);
    expect(stdout).toMatch(/^ - Cost: \$0$/m);
    expect(stdout).toMatch(/^ - Time: \d+/m);
  });

  it('prints one JSON object and nothing else on stdout with --json', async () => {
    const out = join(folder, 'out.json');
    expect(await cli('condense', file, '--json', '--out', out)).toBe(0);
    expect(json()).toMatchObject({ outcome: 'condensed', provider: 'lossless', cost: 0, violations: 0 });
    const { originalTokens, condensedTokens, reductionPercent, steps, edits, timeMs } = json() as Record<
      string,
      number
    > & { steps: unknown[] };
    expect(condensedTokens).toBeLessThan(originalTokens!);
    expect(reductionPercent).toBeCloseTo((1 - condensedTokens! / originalTokens!) * 100, 1);
    expect(steps).toContainEqual(expect.objectContaining({ name: expect.any(String), outcome: 'done' }));
    expect(edits).toBeGreaterThan(0);
    expect(timeMs).toBeGreaterThan(0);
    expect(stderr).toContain(`Written: ${out}`);
  });

  it('writes the condensed conversation as Anthropic messages and never changes the original', async () => {
    const out = join(folder, 'out.json');
    await cli('condense', file, '--out', out);
    const text = JSON.stringify(messagesIn(out));
    expect(text).toContain(MARKER_START);
    expect(readFileSync(file, 'utf8')).toBe(makeTranscript());
  });

  it('keeps numbers in parameters as written, and unedited Anthropic messages byte for byte', async () => {
    const raw = '"input":{"n":12345678901234567890,"n":1e400,';
    const out = join(folder, 'out.json');
    writeFileSync(file, readFileSync(file, 'utf8').replaceAll('"input":{"', `${raw}"`));
    for (const argv of [['condense'], ['export', '--to', 'anthropic']]) {
      expect(await cli(...argv, file, '--out', out)).toBe(0);
      const text = readFileSync(out, 'utf8').replaceAll('"input": {', '"input":{');
      expect(text.split('"input":{').length).toBe(3);
      expect(text.split('"input":{').length).toBe(text.split(raw).length);
    }
    expect(await cli('export', file, '--to', 'openai', '--out', out)).toBe(0);
    expect(readFileSync(out, 'utf8')).toContain('{\\"n\\":12345678901234567890,\\"n\\":1e400,');

    const document = JSON.stringify({ model: 'x', messages: originalMessages() })
      .replaceAll(',"content":', ', "x": 1e400,"x":12345678901234567890,\n"content":')
      .replace('"model"', ' "seed" : 12345678901234567890 , "model"');
    const own = join(folder, 'messages.json');
    writeFileSync(own, document);
    expect(await cli('condense', own, '--out', out)).toBe(0);
    const made = readFileSync(out, 'utf8');
    // Only the shortened results differ; all other bytes are the same.
    const results = /(?<="tool_result","tool_use_id":"\w+"[^]*?"content":")(?:[^"\\]|\\.)*/g;
    expect(made.length).toBeLessThan(document.length);
    expect(made.trimEnd().replace(results, '')).toBe(document.replace(results, ''));
    expect(await cli('expand', out, '--out', join(folder, 'back.json'))).toBe(0);
    expect(readFileSync(join(folder, 'back.json'), 'utf8').trimEnd()).toBe(document);
  });

  it('is deterministic and finds nothing more in its own result', async () => {
    const [first, second] = [join(folder, '1.json'), join(folder, '2.json')];
    await cli('condense', file, '--out', first);
    await cli('condense', file, '--out', second);
    expect(readFileSync(second, 'utf8')).toBe(readFileSync(first, 'utf8'));
    expect(await cli('condense', first, '--out', second)).toBe(1);
    expect(stdout).toContain(`Not written: ${second}`);
  });

  it('exits with 1 and writes nothing if there is nothing to gain', async () => {
    writeFileSync(file, makeTranscript(nothingToGain()));
    const out = join(folder, 'out.json');
    expect(await cli('condense', file, '--json', '--out', out)).toBe(1);
    expect(json()).toMatchObject({
      outcome: 'unchanged',
      reductionPercent: 0,
      edits: 0,
      reason: expect.stringContaining('nothing'),
    });
    expect(readdirSync(folder)).toEqual(['session-1.jsonl']);
  });

  it('accepts a provider and its settings as JSON or from a file', async () => {
    const settings = { preserveRecentCount: 0, toolResults: { mode: 'suppress' } };
    const config = join(folder, 'config.json');
    writeFileSync(config, JSON.stringify(settings));
    expect(await cli('condense', file, '--provider', 'truncation', '--config', config, '--json')).toBe(0);
    const fromFile = json();
    expect(
      await cli('condense', file, '--provider', 'truncation', '--config', JSON.stringify(settings), '--json'),
    ).toBe(0);
    expect({ ...json(), timeMs: 0, steps: [] }).toEqual({ ...fromFile, timeMs: 0, steps: [] });
    expect(fromFile['reductionPercent']).toBeGreaterThan(80);
  });

  it('stops at the target', async () => {
    await cli('estimate', file, '--json');
    const { originalTokens } = json() as { originalTokens: number };
    expect(await cli('condense', file, '--target-tokens', String(originalTokens + 1))).toBe(1);
    expect(stdout).toContain('within the target');
  });

  it('counts tokens as the model does', async () => {
    await cli('condense', file, '--json');
    const plain = json() as Record<string, number>;
    await cli('condense', file, '--json', '--model', 'claude-sonnet-4-5');
    expect(json()['originalTokens']).toBe(Math.round(plain['originalTokens']! * 1.18));
    expect(json()['reductionPercent']).toBeCloseTo(plain['reductionPercent']!, 1);
    expect(stderr).toBe('');
    expect(await cli('inspect', file, '--model', 'claud-sonnet')).toBe(0);
    expect(stderr).toContain('The tokenizer of the model "claud-sonnet" is not known: tokens are counted with o200k.');
  });

  it('reports a missed target and by how much', async () => {
    expect(await cli('condense', file, '--target-tokens', '10')).toBe(0);
    expect(stdout).toMatch(/^ - Target: 10 tokens, missed by [\d,]+$/m);
  });

  it('reports a provider that would call a model in a program without models', async () => {
    for (const command of ['condense', 'estimate']) {
      await cli(command, file, '--preset', 'conservative');
      expect(stderr).toContain('can call a model, but the command line calls none');
      await cli(command, file, '--preset', 'speed');
      expect(stderr).toBe('');
    }
  });

  it('reports missing summaries once, without suggesting a model that it would not call', async () => {
    const long = join(folder, 'long.json');
    const reads = Array.from({ length: 12 }, (_, at) =>
      makeToolExchange(`r${at}`, 'Read', { file_path: `/src/part${at}.ts` }, makeLines(`part${at}`, 1_000)),
    );
    writeFileSync(long, JSON.stringify({ messages: [user('Mend the parts'), ...reads.flat()] }));
    expect(await cli('condense', long, '--preset', 'conservative')).toBe(0);
    expect(stdout).toMatch(/ - Note: (\d+) of \1 summaries were not written: No model is called here\. Their content /);
    expect(stdout.match(/No model/g)).toHaveLength(1);
  });

  it('reports a store that is not a folder, and writes nothing', async () => {
    const blocked = join(folder, 'blocked');
    writeFileSync(blocked, 'a file where a folder should be');
    const out = join(folder, 'out.json');
    for (const store of [blocked, join(blocked, 'below')]) {
      expect(await cli('condense', file, '--store', store, '--out', out)).toBe(2);
      expect(stderr).toContain(`The store ${store} is not a folder. Nothing was done`);
      expect(await cli('account', '--store', store)).toBe(2);
    }
    expect(await cli('condense', file, '--store', '')).toBe(2);
    expect(stderr).toContain('--store is empty');
    expect(readdirSync(folder)).not.toContain('out.json');
  });

  it('refuses to overwrite the conversation, also through a link', async () => {
    const link = join(folder, 'link.json');
    symlinkSync(file, link);
    for (const out of [file, link]) {
      expect(await cli('condense', file, '--out', out)).toBe(2);
      expect(stderr).toContain('never overwritten');
    }
    expect(readFileSync(file, 'utf8')).toBe(makeTranscript());
  });

  it('refuses to overwrite another session of an agent', async () => {
    const sessions = join(folder, '.claude', 'projects', 'here');
    mkdirSync(sessions, { recursive: true });
    const other = join(sessions, 'other.jsonl');
    writeFileSync(other, 'another conversation');
    const link = join(folder, 'link.jsonl');
    symlinkSync(other, link);
    for (const argv of [['condense', file], ['export', file, '--to', 'openai'], ['report', file], ['account']]) {
      expect(await cli(...argv, '--out', other)).toBe(2);
      expect(stderr).toContain(`--out: ${other} is among the sessions of an agent`);
      expect(await cli(...argv, '--out', link)).toBe(2);
      expect(stderr).toContain(`--out: ${link} is a link to ${other}; name that file itself.`);
    }
    expect(readFileSync(other, 'utf8')).toBe('another conversation');
    // A file that doesn't exist belongs to no agent, so it may be written.
    expect(await cli('condense', file, '--out', join(sessions, 'new.json'))).toBe(0);
  });

  it('reports why --out was not written', async () => {
    expect(await cli('condense', file, '--out', join(folder, 'x'.repeat(300)))).toBe(3);
    expect(stderr).toContain('The file was not written, but the condensation is kept in the store.');
    expect(await cli('undo', file, '--out', join(folder, 'x'.repeat(300)))).toBe(3);
    expect(stderr).toContain('The file was not written, but the condensation was undone.');
    expect(await cli('export', file, '--to', 'markdown', '--out', join(folder, 'x'.repeat(300)))).toBe(3);
    expect(stderr).toContain('The file was not written.');
    expect(await cli('condense', file, '--out', folder)).toBe(2);
    expect(stderr).toContain(`--out: ${folder} is a folder; name a file in it. Nothing was done.`);
  });

  it('does nothing if --out is a pipe or a device, which a rename would replace', async () => {
    const pipe = join(folder, 'pipe');
    execFileSync('mkfifo', [pipe]);
    expect(await cli('condense', file, '--out', pipe)).toBe(2);
    expect(stderr).toContain(`--out: ${pipe} is not a file. Nothing was done.`);
    expect(statSync(pipe).isFIFO()).toBe(true);
    expect(existsSync(join(folder, 'state'))).toBe(false);
  });

  it('does nothing if the folder of --out is missing', async () => {
    expect(await cli('condense', file, '--out', join(folder, 'no', 'such', 'folder.json'))).toBe(2);
    expect(stderr).toContain(`there is no folder ${join(folder, 'no', 'such')}. Nothing was done.`);
    expect(await cli('undo', file)).toBe(2);
  });

  it('exits with 130 and writes nothing if it is cancelled', async () => {
    abort.abort(new Error('cancelled'));
    expect(await cli('condense', file, '--out', join(folder, 'out.json'))).toBe(130);
    expect(readdirSync(folder)).toEqual(['session-1.jsonl']);
  });
});

describe('the expand and undo commands', () => {
  it('restore every byte of the original from the condensed conversation', async () => {
    const [view, original] = [join(folder, 'view.json'), join(folder, 'original.json')];
    await cli('condense', file, '--out', view);
    expect(await cli('expand', view, '--out', original)).toBe(0);
    expect(JSON.stringify(messagesIn(original))).toBe(JSON.stringify(originalMessages()));
    expect(await cli('expand', view)).toBe(0);
    expect(stdout).toBe(readFileSync(original, 'utf8'));
  });

  it('expand a reference to the text that its marker replaced', async () => {
    const view = join(folder, 'view.json');
    await cli('condense', file, '--out', view);
    const [found] = findMarkers(readFileSync(view, 'utf8'));
    for (const known of [view, file]) {
      expect(await cli('expand', known, found!.reference)).toBe(0);
      expect(makeTranscript()).toContain(JSON.stringify(stdout).slice(1, -1));
      expect(stdout.length).toBeGreaterThan(100);
    }
    // A condensed conversation that was continued is no longer recognized, but its references still
    // work.
    const grown = join(folder, 'grown.json');
    const messages = messagesIn(view) as readonly unknown[];
    writeFileSync(grown, JSON.stringify([...messages, { role: 'assistant', content: 'One more.' }]));
    expect(await cli('expand', grown, found!.reference)).toBe(0);
    expect(makeTranscript()).toContain(JSON.stringify(stdout).slice(1, -1));
    expect(await cli('expand', view, 'ffffff')).toBe(2);
    expect(stderr).toContain('Reference ffffff was not found');
  });

  it('undo condensations until the conversation equals its file byte for byte', async () => {
    const [view, out] = [join(folder, 'view.json'), join(folder, 'out.json')];
    await cli('condense', file, '--provider', 'truncation', '--config', '{"preserveRecentCount":0}');
    await cli('condense', file, '--out', view);
    expect(await cli('undo', view, '--out', out)).toBe(0);
    expect(stdout).toMatch(/^Undone: Lossless, \d+ edits/);
    expect(JSON.stringify(messagesIn(out))).toBe(JSON.stringify(originalMessages()));
    expect(await cli('undo', file, '--json')).toBe(1);
    expect(json()).toEqual({ undone: null, condensationsLeft: 0 });
  });

  it('name the preset or strategy in their output, in the report and in undo', async () => {
    const [out, preset] = [join(folder, 'report.html'), join(folder, 'own.condense.json')];
    writeFileSync(preset, JSON.stringify({ id: 'own', name: 'My own', config: FILE_AWARE_PRESET.config }));
    for (const [argv, name, words] of [
      [['--provider', 'smart'], 'Smart (File-Aware)', 'Smart (File-Aware)'],
      [['--preset', 'speed'], 'Smart (Speed)', 'Smart (Speed)'],
      [['--preset', preset], 'Smart (My own)', 'Smart (My own)'],
      [['--provider', 'strategy'], 'Strategy (Pipeline)', 'the Pipeline strategy'],
    ] as const) {
      // At first, nothing is stored, so the report is a preview.
      expect(await cli('report', file, '--out', out, ...argv)).toBe(0);
      expect(readFileSync(out, 'utf8')).toContain(` with ${name}, cost`);
      expect(await cli('condense', file, ...argv)).toBe(0);
      expect(stdout).toContain(`Context condensed using ${words}:\n`);
      expect(await cli('report', file, '--out', out)).toBe(0);
      expect(readFileSync(out, 'utf8')).toMatch(
        new RegExp(`with ${name.replace(/[()]/g, '\\$&')}, cost[^]*Condensed on `),
      );
      expect(await cli('undo', file)).toBe(0);
      expect(stdout).toContain(`Undone: ${name}, `);
    }
  });

  it('report a conversation without condensations', async () => {
    for (const command of ['expand', 'undo']) {
      expect(await cli(command, file)).toBe(2);
      expect(stderr).toContain('No condensation of');
    }
  });
});

describe('the inspect and estimate commands', () => {
  it('show the contents of a conversation', async () => {
    expect(await cli('inspect', file)).toBe(0);
    expect(stdout).toContain('Read: 2 calls');
    expect(await cli('inspect', file, '--json')).toBe(0);
    expect(json()).toMatchObject({
      format: 'claude-code',
      violations: [],
      tools: [{ tool: 'Read', calls: 2, errors: 0 }],
    });
    const { tokens, messageText, toolResults } = json() as Record<string, number>;
    expect(messageText! + toolResults!).toBeLessThan(tokens!);
  });

  it('name its invalid parts', async () => {
    const messages = [
      { role: 'user', content: 'x' },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'gone', content: 'y' }] },
    ];
    writeFileSync(file, JSON.stringify(messages));
    expect(await cli('inspect', file)).toBe(0);
    expect(stdout).toContain('result-has-call');
  });

  it('estimate what condensing then does, without writing anything', async () => {
    expect(await cli('estimate', file, '--json')).toBe(0);
    const estimate = json();
    expect(readdirSync(folder)).toEqual(['session-1.jsonl']);
    await cli('condense', file, '--json');
    expect(json()['condensedTokens']).toBe(estimate['condensedTokens']);
    expect(await cli('estimate', file)).toBe(0);
    expect(stdout).toContain('With Lossless: ');
    writeFileSync(file, makeTranscript(nothingToGain()));
    expect(await cli('estimate', file)).toBe(1);
  });
});

describe('the export command', () => {
  /** Converts string content to blocks, as the export writes it. */
  const inBlocks = (messages: unknown): unknown =>
    (messages as { role: string; content: unknown }[]).map(({ role, content }) => ({
      role,
      content: typeof content === 'string' ? [{ type: 'text', text: content }] : content,
    }));

  it('writes each format and lists on stderr what could not be exported', async () => {
    expect(await cli('export', file, '--to', 'anthropic')).toBe(0);
    expect(json()).toMatchObject({ tools: [{ name: 'Read' }], messages: inBlocks(originalMessages()) });
    expect(stderr).toContain('Note: 1 tool: declared as taking any parameters');
    expect(await cli('export', file, '--to', 'openai')).toBe(0);
    expect(json()).toMatchObject({
      messages: [{ role: 'user', content: 'Rename value7 in src/values.ts' }, {}, { role: 'tool' }, {}, {}, {}, {}, {}],
    });
    expect(await cli('export', file, '--to', 'markdown')).toBe(0);
    expect(stdout).toMatch(/^# Rename value7 in src\/values\.ts\n/);
    const out = join(folder, 'prompt.md');
    expect(await cli('export', file, '--to', 'handover', '--out', out)).toBe(0);
    expect(stdout).toBe('');
    expect(stderr).toContain(`Written: ${out}`);
    expect(readFileSync(out, 'utf8')).toContain('You are taking over a task');
  });

  it('writes the condensed conversation if requested', async () => {
    expect(await cli('export', file, '--to', 'anthropic', '--condensed')).toBe(2);
    expect(stderr).toContain('No condensation');
    const view = join(folder, 'view.json');
    await cli('condense', file, '--out', view);
    expect(await cli('export', file, '--to', 'anthropic', '--condensed')).toBe(0);
    expect(json()['messages']).toEqual(inBlocks(messagesIn(view)));
  });

  it('requires a known format', async () => {
    expect(await cli('export', file)).toBe(2);
    expect(stderr).toContain('one of anthropic, openai, markdown, handover');
    expect(await cli('export', file, '--to', 'pdf')).toBe(2);
    expect(stderr).toContain('not "pdf"');
  });
});

describe('the report command', () => {
  it('writes a page about a stored condensation, or a preview if there is none', async () => {
    const out = join(folder, 'report.html');
    expect(await cli('report', file, '--out', out)).toBe(0);
    expect(stderr).toContain('the report is a preview');
    expect(readFileSync(out, 'utf8')).toContain('A preview');
    const view = join(folder, 'view.json');
    await cli('condense', file, '--out', view);
    for (const path of [file, view]) {
      expect(await cli('report', path, '--out', out)).toBe(0);
      expect(readFileSync(out, 'utf8')).toMatch(/Condensed on 2026-01-02 at 03:04 UTC/);
    }
    expect(await cli('report', file, '--out', out, '--without-content')).toBe(0);
    expect(readFileSync(out, 'utf8')).toContain('left out of this report');
  });

  it('requires an output path other than the conversation’s', async () => {
    expect(await cli('report', file)).toBe(2);
    expect(stderr).toContain('--out');
    expect(await cli('report', file, '--out', file)).toBe(2);
    expect(stderr).toContain('never overwritten');
  });
});

const EVERY_AGENT_MS = 300_000;

describe('every agent’s conversation', () => {
  it(
    'can be inspected, condensed and exported',
    async () => {
      const home = join(folder, 'home');
      for (const [index, { path, format }] of writeHome(home).entries()) {
        expect(await cli('inspect', path, '--json'), path).toBe(0);
        expect(json()).toMatchObject({ format, violations: [] });
        if (path.includes('subagents')) continue;
        // These conversations contain nothing to remove: Cursor stores no results, and the two
        // other sessions contain no repetition.
        if (['cursor', 'qwen', 'continue'].includes(format)) {
          expect(await cli('condense', path), path).toBe(1);
          continue;
        }
        expect(await cli('condense', path, '--json'), `${path}: ${stderr}`).toBe(0);
        expect(json()).toMatchObject({ outcome: 'condensed', violations: 0 });
        // Exports don't depend on the agent's format, so each one is tested with every fourth
        // conversation.
        for (const [row, form] of ['anthropic', 'openai', 'markdown', 'handover'].entries()) {
          if (!shouldTry(index, row, 4)) continue;
          expect(await cli('export', path, '--to', form, '--condensed'), path).toBe(0);
          expect(stdout).toContain('src/values.ts');
        }
      }
    },
    EVERY_AGENT_MS,
  );

  it('in a database is never written to', async () => {
    const database = join(folder, 'kilo.db');
    writeDatabase(database, 'ses_1');
    const before = readFileSync(database);
    expect(await cli('export', `${database}#ses_1`, '--to', 'markdown', '--out', database)).toBe(2);
    expect(stderr).toContain('never overwritten');
    expect(readFileSync(database).equals(before)).toBe(true);
  });
});

describe('wrong use of the command line', () => {
  const cases: [string, string[], RegExp][] = [
    ['no command', [], /^context-condenser: Missing command\. The commands are .*\. See --help\.\n$/],
    ['an unknown command', ['shrink', 'x'], /Unknown command "shrink"/],
    ['no file', ['condense'], /Missing file: /],
    ['two files', ['condense', 'a', 'b'], /takes one file/],
    ['an option before the command', ['--store', 'a', 'account'], /account comes first/],
    ['a model’s provider', ['condense', 'a', '--provider', 'native'], /Summary needs a model, and this command calls/],
    [
      'a preset of another provider',
      ['judge', 'a', '--provider', 'lossless', '--preset', 'speed'],
      /--preset needs the/,
    ],
    ['no folder', ['judge'], /^context-condenser: Missing folder: context-condenser judge <folder> …\n$/],
    [
      'an option of another command',
      ['inspect', 'a', '--out', 'b'],
      /inspect has no --out; condense, expand, .* have it/,
    ],
    ['a switch of another command', ['condense', 'a', '--condensed'], /condense has no --condensed; export has it/],
    ['an option without its value', ['condense', 'a', '--out'], /: --out needs a value\.\n$/],
    [
      'a negative target',
      ['condense', 'a', '--target-tokens', '-5'],
      /: --target-tokens needs a value\. Write one that begins with "-" as --target-tokens=<value>\.\n$/,
    ],
    ['an unknown option of mcp', ['mcp', '--fast'], /: Unknown option '--fast'\. --help lists the options\.\n$/],
    ['a folder that is not there', ['judge', '/no-such'], /: \/no-such: no such folder or file\. Check the path\.\n$/],
    ['no port', ['gateway', '--port', '99999'], /--port must be a number from 1 to 65535, not "99999"/],
    ['a log in no folder', ['gateway', '--log', '/no-such/x'], /--log: \/no-such\/x can't be written \(ENOENT\)/],
    ['an unknown option', ['condense', 'a', '--fast'], /'--fast'\. --help lists the options\.\n$/],
    ['a target that is no number', ['condense', 'a', '--target-tokens', 'many'], /whole number.*"many"/],
    ['a target of nothing', ['condense', 'a', '--target-tokens', '0'], /at least 1/],
    ['an unknown history', ['condense', 'a', '--history', 'some'], /active or all/],
    ['a file that is not there', ['condense', 'no-such-file.jsonl'], /no-such-file\.jsonl/],
  ];
  it.each(cases)('is reported for %s', async (_name, argv, message) => {
    expect(await cli(...argv)).toBe(2);
    expect(stderr).toMatch(message);
    expect(stdout).toBe('');
  });

  it('with an unknown provider lists the known ones', async () => {
    expect(await cli('condense', file, '--provider', 'magic')).toBe(2);
    expect(stderr).toMatch(/"magic".*lossless, smart, truncation/);
  });

  it('with an invalid configuration names the field', async () => {
    expect(await cli('condense', file, '--config', '{"keep":"middle"}')).toBe(2);
    expect(stderr).toMatch(/keep: .*"latest"/);
    expect(await cli('condense', file, '--config', '{"keep":')).toBe(2);
    expect(stderr).toContain('is not JSON');
    expect(await cli('condense', file, '--config', 'nowhere.json')).toBe(2);
    expect(stderr).toContain('ENOENT');
    expect(await cli('condense', file, '--config', '{"nonsense":1}')).toBe(2);
    expect(stderr).toContain('nonsense');
  });

  it('with unknown fields of Smart names them and uses the other fields', async () => {
    expect(await cli('estimate', file, '--provider', 'smart', '--config', '{"pases":[],"theme":1}')).toBe(0);
    expect(stderr).toContain('Note: --config: pases is not a known field (did you mean passes?) and is ignored.');
    expect(stderr).toContain('Note: --config: theme is not a known field and is ignored.');
    await cli('estimate', file, '--provider', 'smart', '--config', '{"version":1,"passes":[]}');
    expect(stderr).not.toContain('not a known field');
  });

  it.each(['lossless', 'truncation', 'smart', 'strategy'])(
    'ignores an editor’s schema in a file: %s',
    async (provider) => {
      const steps = provider === 'strategy' ? { id: 'mine', name: 'Mine', steps: [{ provider: 'lossless' }] } : {};
      const config = JSON.stringify({ $schema: './mine.schema.json', ...steps });
      expect(await cli('estimate', file, '--provider', provider, '--config', config)).not.toBe(2);
      expect(stderr).not.toContain('$schema');
    },
  );

  it('with an unknown strategy names what --config accepts', async () => {
    expect(await cli('estimate', file, '--provider', 'strategy', '--config', 'pipeline')).toBe(0);
    expect(await cli('estimate', file, '--provider', 'strategy', '--config', 'no-such')).toBe(2);
    expect(stderr).toContain('the name of a built-in strategy (pipeline, adaptive-threshold, ');
  });

  it('with an unreadable conversation names file and line, and writes nothing', async () => {
    writeFileSync(
      file,
      makeTranscript().replaceAll(/^.*$/gm, (line) => line.slice(0, 50)),
    );
    expect(await cli('condense', file, '--out', join(folder, 'out.json'))).toBe(2);
    expect(stderr).toContain(`${file}:1`);
    expect(readdirSync(folder)).toEqual(['session-1.jsonl']);
  });

  it('with a damaged line names it and condenses the other lines', async () => {
    const lines = makeTranscript().split('\n');
    lines[2] = lines[2]!.slice(0, 50);
    writeFileSync(file, lines.join('\n'));
    expect(await cli('condense', file, '--out', join(folder, 'out.json'))).toBe(0);
    expect(stderr).toContain('Line 3 is damaged');
  });

  it('with a file that it may not read is reported', async () => {
    if (process.getuid?.() === 0) return; // root can read every file; the reader's tests simulate the error
    chmodSync(file, 0);
    expect(await cli('condense', file)).toBe(2);
    expect(stderr).toContain(file);
  });
});

describe('the installed program', () => {
  it('has a first line that runs it with Node, so that its name on the path starts it', () => {
    expect(readFileSync(join(inject('bundles'), 'cli.cjs'), 'utf8')).toMatch(/^#!\/usr\/bin\/env node\n/);
  });

  it('prints help and its version', async () => {
    expect(await cli('--help')).toBe(0);
    expect(stdout).toContain('Usage: context-condenser');
    expect(await cli('--version')).toBe(0);
    expect(stdout).toBe('1.2.3\n');
    for (const command of [...SESSION_COMMANDS, ...STANDALONE_COMMANDS]) {
      expect(await cli(command, '--help')).toBe(0);
      expect(stdout).toBe(formatHelp(command));
      expect(stdout).toContain(`Usage: context-condenser ${command} `);
      expect(await cli('help', command)).toBe(0);
      expect(stdout).toBe(formatHelp(command));
    }
    expect(await cli('help')).toBe(0);
    expect(stdout).toBe(formatHelp());
  });

  it('reports a port in use and starts nothing', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    expect(await cli('gateway', '--port', String(port))).toBe(2);
    expect(stderr).toContain(`Port ${port} of 127.0.0.1 is taken by another program. Nothing was started`);
    other.close();
  });

  it('lists all commands if the command is unknown', async () => {
    for (const argv of [[], ['list']]) {
      expect(await cli(...argv)).toBe(2);
      expect(stderr).toContain(
        'inspect, estimate, condense, expand, undo, export, report, run, gateway, account, judge, mcp',
      );
    }
  });

  it('runs as a process of its own', async () => {
    mkdirSync(join(folder, 'home'));
    const child = spawn(process.execPath, [join(inject('bundles'), 'cli.cjs'), 'condense', file, '--json'], {
      env: { ...process.env, HOME: join(folder, 'home'), XDG_STATE_HOME: join(folder, 'state') },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let out = '';
    child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
    const code = await new Promise((done) => child.on('close', done));
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ outcome: 'condensed' });
  });

  it('prints version, help and usage errors without loading the commands’ bundle', () => {
    copyFileSync(join(inject('bundles'), 'cli.cjs'), join(folder, 'cli.cjs'));
    const alone = (...argv: string[]) =>
      spawnSync(process.execPath, [join(folder, 'cli.cjs'), ...argv], { encoding: 'utf8' });
    expect(alone('--version')).toMatchObject({ status: 0, stdout: `${version}\n` });
    expect(alone('--help')).toMatchObject({ status: 0, stdout: formatHelp() });
    expect(alone('shrink', 'x')).toMatchObject({ status: 2 });
    expect(alone('inspect', file)).toMatchObject({ status: 3 });
  });
});

describe('the account command', () => {
  it('prints what this machine’s sessions cost, for people and as JSON', async () => {
    writeHome(folder);
    expect(await cli('account')).toBe(0);
    expect(stdout).toMatch(/^All time: [\d,]+ sessions?, [\d,]+ requests?: /);
    expect(stdout).toMatch(/\n[\d.<]+% of these tokens had already been sent at least 10 times; /);
    expect(await cli('account', '--json', '--by', 'model')).toBe(0);
    expect(json()).toMatchObject({
      by: 'model',
      rows: expect.any(Array) as unknown,
      sessions: expect.any(Array) as unknown,
    });
    expect(await cli('account', '--csv', '--by', 'day')).toBe(0);
    expect(stdout).toMatch(/^day,label,sessions,requests,replayed,/);
  });

  it('counts requests of the last days, including today, and no others', async () => {
    writeHome(folder);
    const countRequests = async (...argv: readonly string[]): Promise<number> => {
      expect(await cli('account', '--json', ...argv)).toBe(0);
      return (json() as { total: { requests: number } }).total.requests;
    };
    const all = await countRequests();
    // Days are counted by the times in the sessions, not by those of their files.
    expect(await countRequests('--days', '1')).toBeLessThan(all);
    expect(await countRequests('--days', '36500')).toBe(all);
  });

  it('estimates what one session would have cost and lost with a provider', async () => {
    expect(await cli('account', file, '--with', 'lossless', '--window', '2000', '--json')).toBe(0);
    const result = json() as { condensations: number; needed: number; missing: number };
    expect(result.condensations).toBeGreaterThan(0);
    expect(result.missing).toBeLessThanOrEqual(result.needed);
    expect(await cli('account', file, '--with', 'lossless', '--window', '200000')).toBe(0);
    expect(stdout).toMatch(
      /^\d+ requests?, replayed from the conversation: \S+ without condensing, \S+ with lossless\n/,
    );
    expect(stdout).toContain('Nothing would have been condensed; condensing starts at ');
    expect(stdout).toContain('Lines that edits of the next 20 turns quoted: none from before a condensation');
    expect(await cli('account', file, '--with', 'nothing')).toBe(2);
    expect(stderr).toMatch(/that calls no model, such as lossless or file-aware, not "nothing"/);
  });

  it('reports where it looked if there are no sessions', async () => {
    expect(await cli('account', '--days', '7')).toBe(0);
    expect(stdout).toMatch(/^The last 7 days: no requests .* docs\/formats\.md .*\n$/);
  });

  it('writes a page or a data file, but never over a session', async () => {
    const project = join(folder, '.claude', 'projects', 'p');
    const claude = join(project, 'session-1.jsonl');
    mkdirSync(project, { recursive: true });
    copyFileSync(file, claude);
    const out = join(folder, 'account');
    expect(await cli('account', '--out', out)).toBe(0);
    expect(readFileSync(out, 'utf8')).toMatch(/^<!doctype html>/i);
    expect(await cli('account', '--csv', '--out', out)).toBe(0);
    expect(readFileSync(out, 'utf8')).toMatch(/^agent,label,/);
    expect(await cli('account', '--json', '--out', out)).toBe(0);
    expect(JSON.parse(readFileSync(out, 'utf8'))).toHaveProperty('total');
    expect(await cli('account', '--out', claude)).toBe(2);
    expect(stderr).toContain('never overwritten');
    expect(readFileSync(claude, 'utf8')).toBe(makeTranscript());
    expect(await cli('account', '--out', folder)).toBe(2);
    expect(stderr).toContain('is a folder');
  });

  it('estimates what all sessions would have cost and lost with a preset', async () => {
    writeHome(folder);
    expect(await cli('account', '--with', 'file-aware')).toBe(0);
    expect(stdout).toMatch(
      /^All time: \$[\d.]+; with File-Aware: \$[\d.]+; .*\n - It would never have condensed: no session .* was long enough\. 19 sessions are counted unchanged/,
    );
    expect(stdout).toContain(' - Assumptions: the agent says and does the same');
    expect(await cli('account', '--with', 'lossless', '--json')).toBe(0);
    expect(json()).toMatchObject({ with: 'lossless', sessions: expect.any(Number) as unknown, condensations: 0 });
  });

  it('labels a session’s recorded and replayed costs', async () => {
    const session = join(folder, 'recorded.jsonl');
    const at = (record: number): Date => new Date(Date.UTC(2026, 0, 2, 2, 0, record));
    writeFileSync(session, makeReadingSession(145_000, 4_000, at));
    expect(await cli('account', session, '--with', 'lossless')).toBe(0);
    expect(stdout).toMatch(
      /, replayed from the conversation: \$[\d.]+ without condensing, \$[\d.]+( to \$[\d.]+)? with lossless\n/,
    );
    expect(stdout).toMatch(
      /\n - Cost by the usage that the agent recorded: \$[\d.]+\. Replaying estimates tokens and cache use/,
    );
    expect(stdout).toMatch(/\n - \d+ condensations? at 150,000 tokens of a window of 200,000; /);
  });

  it('replays a session once, whatever the number of days', async () => {
    const sessions = join(folder, '.claude/projects/p');
    mkdirSync(sessions, { recursive: true });
    // The requests are from two weeks ago, and from the day of these tests.
    const at = (record: number): Date => new Date(Date.UTC(2026, 0, record < 8 ? -12 : 2, 2, 0, record));
    writeFileSync(join(sessions, '00000000-0000-4000-8000-000000000001.jsonl'), makeReadingSession(145_000, 4_000, at));
    const cost = async (...argv: readonly string[]): Promise<number> => {
      expect(await cli('account', '--with', 'lossless', '--json', ...argv)).toBe(0);
      expect(json()).toMatchObject({ sessions: 1, condensed: 1 });
      return json()['cost'] as number;
    };
    const all = await cost();
    const kept = join(folder, 'state/context-condenser/whatIf.json');
    const once = readFileSync(kept, 'utf8');
    expect(await cost('--days', '7')).toBeLessThan(all);
    expect(readFileSync(kept, 'utf8')).toBe(once);
  });

  it.each([
    [['--by', 'month'], /--by must be one of agent, .*, session, not "month"/],
    [['--json', '--csv'], /use one of them/],
    [['--days', 'x'], /--days must be a whole number of at least 1, not "x"/],
    [['--with', 'nothing'], /calls no model, such as lossless or file-aware, not "nothing"/],
    [['--with', 'conservative'], /calls no model, such as lossless or file-aware, not "conservative"/],
    [['x.jsonl', '--with', 'lossless', '--out', 'x.html'], /--out, --csv and --days do not apply/],
    [['--days', '-1'], /--days needs a value/],
    [['--with', 'lossless', '--csv'], /use --json, not --csv/],
    [['--with', 'lossless', '--window', '2000'], /--window is for one session/],
    [['x.jsonl'], /A file is only for --with, which then replays that one session/],
  ])('with %j is rejected, and the error says what is expected', async (argv, words) => {
    expect(await cli('account', ...argv)).toBe(2);
    expect(stderr).toMatch(words);
  });
});
