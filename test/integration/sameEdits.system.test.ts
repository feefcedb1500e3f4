/**
 * Checks that the same conversation and settings give the same edits in the preview, Condense Now,
 * agent mode, the gateway and the command line. Engines run as in production: in threads and
 * processes of the bundles, with files, pipes and HTTP.
 */
import { execFile, spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import * as http from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { RunningConversations } from '../../src/gateway/runningConversations';
import { anthropicWire } from '../../src/gateway/wires/anthropic';
import type { RequestBody } from '../../src/gateway/wires/wire';
import { readConversationFile } from '../../src/conversations/readFile';
import { getErrorMessage } from '../../src/core/errors';
import { applyEdits } from '../../src/core/condense/edits/applyEdits';
import type { Edit } from '../../src/core/condense/edits/edits';
import {
  FOLD_TEXT_IN_PREVIEW,
  renderDiffOfViews,
  FOLD_TEXT_WHEN_APPLIED,
} from '../../src/core/condense/report/foldedTexts';
import type { ApiMessage } from '../../src/core/messages/types';
import { makeToolExchange, user } from '../../src/core/testing';
import { createCounter } from '../../src/core/testingCounter';
import { createRequest, createModel } from '../../src/live/testing';
import { openLedger } from '../../src/storage/ledgerStore';
import { sessionFiles } from '../bench/corpus';
import { convertToSentForm } from '../bench/liveReplay';
import { makeConversationWith, HOSTILE_TEXTS } from '../generators/hostileTexts';
import { openChatEngine } from '../support/chatEngine';
import { isLong, shouldTry } from '../support/long';
import { temporaryFolder } from '../support/temporaryFolder';

const CHOICES = [
  { provider: 'lossless', config: undefined },
  { provider: 'truncation', config: undefined },
  { provider: 'smart', config: 'file-aware' },
] as const;
type Choice = (typeof CHOICES)[number];

const TARGET_PERCENT = 50;
/** The window is never full, so only user actions condense. */
const WINDOW = 1_000_000_000;
const SYSTEM = 'You are an agent.';
const TOOLS = [{ name: 'Read', input_schema: { type: 'object' } }];

/** Folders outside the repository that contain real sessions. */
const CORPORA = ['corpus', 'corpus-2', 'corpus-wide'].map((name) => `../shared/${name}`);
const SAMPLE = join(import.meta.dirname, '../../sample/conversation.jsonl');
/** One in this many sessions is tested; `npm run test:long` tests all. */
const ONE_OF = 16;
/**
 * Length of a hostile text in UTF-16 code units. A file may have at most 32 MB; three of these
 * texts fit, even with six bytes per unit.
 */
const SIZE = isLong ? 1_500_000 : 60_000;
/**
 * Length of the largest conversation in UTF-16 code units, within the limit of 32 MB. Each text is
 * a single line.
 */
const LARGEST = 30_000_000;

/**
 * Maximum time until a gateway has read and listed a conversation, for the largest one on a busy
 * machine.
 */
const LISTED_MS = 900_000;

/** A conversation in a file, with the messages that are read from it. */
interface Input {
  readonly name: string;
  readonly path: string;
  readonly messages: readonly ApiMessage[];
}

/** Result of one way to condense. `edits` and `view` are JSON; they are absent if unknown. */
interface Result {
  readonly edits?: string;
  readonly view?: string;
  /** The condensed conversation in the diff editor. */
  readonly text?: string;
  readonly editCount?: number;
}

/** A way to condense. @returns `undefined` if nothing was condensed */
type Road = (input: Input, choice: Choice) => Promise<Result | undefined>;

/**
 * Converts messages to what the gateway reads from requests to Anthropic: content as lists, without
 * cache breakpoints. Every way uses this form, because edits state a place in a list differently
 * from one in a string.
 */
function asRead(messages: readonly ApiMessage[]): readonly ApiMessage[] {
  const body = JSON.parse(JSON.stringify({ messages })) as RequestBody;
  const read = anthropicWire.read(body);
  if (!read) throw new Error('The wire does not read the messages.');
  return read.messages;
}

/** Writes messages to a file, as they are in a request. */
function makeInput(name: string, messages: readonly ApiMessage[], folder: string): Input {
  const path = join(folder, `${name.replaceAll(/\W+/g, '-')}.json`);
  writeFileSync(path, JSON.stringify({ system: SYSTEM, messages: asRead(messages) }));
  return { name, path, messages: readConversationFile(path).messages };
}

const json = (value: unknown): string => JSON.stringify(value);

const makeResult = ({ messages }: Input, edits: readonly Edit[]): Result => {
  const view = applyEdits(messages, edits);
  return {
    edits: json(edits),
    view: json(view.messages),
    text: renderDiffOfViews(view).after,
    editCount: edits.length,
  };
};

const lastEdits = async (store: string, id: string): Promise<readonly Edit[]> =>
  (await openLedger(store, { id })).ledger.condensations.at(-1)?.edits ?? [];

/** Runs preview and Condense Now in an engine's thread, as a window does. */
function openWindow(folder: string): { readonly preview: Road; readonly run: Road; readonly live: Road } {
  const chats = join(folder, 'chat');
  const { live, thread } = openChatEngine(chats, {
    // New results are condensed by a rule of their own, which is turned off here, so that it
    // doesn't change the edits.
    settings: { newResults: 'off', largeResultPercent: 0 },
  });
  const { signal } = new AbortController();
  const store = join(folder, 'window');
  const where = (path: string) => ({ path, history: 'active', store }) as const;
  return {
    async preview({ path }, choice) {
      const setup = { ...choice, presets: [], targetPercent: TARGET_PERCENT, maxCost: 0, models: [], summaries: store };
      const conversation = { kind: 'file', ...where(path) } as const;
      const question = { conversation, setup, excluded: [] };
      const { editCount, notes } = await thread.engine.previews.ask({ kind: 'preview', ...question }, signal);
      // A preview also shows changes that are too small to condense, and says so.
      const isTooLittle = notes.some((note) => note.includes('condensing leaves the conversation as it is'));
      if (editCount === 0 || isTooLittle) return undefined;
      const { after } = await thread.engine.previews.ask({ kind: 'texts', ...question }, signal);
      // If long ranges are folded, the preview doesn't name the command that the condensed view
      // names.
      const text = after.replaceAll(FOLD_TEXT_IN_PREVIEW, FOLD_TEXT_WHEN_APPLIED);
      return { text, editCount };
    },
    async run(input, choice) {
      const task = { kind: 'condense', ...where(input.path), ...choice, targetPercent: TARGET_PERCENT } as const;
      const run = await thread.engine.perform(task, () => undefined, signal);
      if (run.kind !== 'condensed') return undefined;
      return {
        ...makeResult(input, await lastEdits(store, run.conversation.id)),
        text: run.after,
        editCount: run.edits,
      };
    },
    async live(input, choice) {
      const model = createModel({ contextWindow: WINDOW });
      const asked = createRequest(input.messages, {
        conversationId: `${input.name} ${choice.provider}`,
        system: SYSTEM,
        model,
      });
      const { conversation } = await live.prepare(asked);
      const { kind } = await live.condenseNow(conversation, { ...choice, targetPercent: TARGET_PERCENT }, signal);
      if (kind !== 'condensed') return undefined;
      const { messages: sent } = await live.prepare(asked);
      return { ...makeResult(input, await lastEdits(chats, conversation)), view: json(sent) };
    },
  };
}

/** Runs the command line as users do. */
function openCommandLine(folder: string): Road {
  const store = join(folder, 'command-line');
  return async ({ path, messages }, { provider, config }) => {
    const out = join(folder, 'out.json');
    const target = Math.ceil((createCounter().countMessages(messages) * TARGET_PERCENT) / 100);
    const preset = config === undefined ? [] : ['--preset', config];
    const options = ['--provider', provider, ...preset, '--target-tokens', String(target), '--store', store];
    const cli = join(inject('bundles'), 'cli.cjs');
    const code = await new Promise<unknown>((resolve, reject) => {
      execFile(process.execPath, [cli, 'condense', path, ...options, '--out', out], (error, _stdout, stderr) => {
        if (error && error.code !== 1) reject(new Error(stderr));
        else resolve(error?.code ?? 0);
      });
    });
    if (code === 1) return undefined;
    const { messages: view } = JSON.parse(readFileSync(out, 'utf8')) as { readonly messages: unknown };
    const { id } = readConversationFile(path);
    const edits = await lastEdits(store, id);
    return { edits: json(edits), view: json(view), editCount: edits.length };
  };
}

/** Starts a vendor that accepts everything and keeps the last body. */
async function openVendor(): Promise<{ readonly url: string; readonly last: () => string }> {
  let last = '';
  const server = http.createServer((asked, response) => {
    const parts: Buffer[] = [];
    asked.on('data', (part: Buffer) => parts.push(part));
    asked.on('end', () => {
      last = Buffer.concat(parts).toString('utf8');
      response.setHeader('content-type', 'application/json');
      response.end('{"type":"message","role":"assistant","content":[{"type":"text","text":"Done."}]}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, last: () => last };
}

/**
 * Starts a gateway process, an agent that uses it, and a window that condenses the agent's
 * conversation.
 */
async function openGateway(folder: string): Promise<Road> {
  const vendor = await openVendor();
  const announce = join(folder, 'running');
  const store = join(folder, 'gateway');
  const options = {
    '--store': store,
    '--announce': announce,
    '--address-file': join(folder, 'address.json'),
    '--upstream': `anthropic=${vendor.url}`,
    '--window': String(WINDOW),
    // If the user requests Lossless, it also removes what the agent can't recall.
    '--provider': 'lossless',
    '--on-arrival': 'off',
    '--large-result': '0',
  };
  const cli = join(inject('bundles'), 'cli.cjs');
  const gateway = spawn(process.execPath, [cli, 'gateway', ...Object.entries(options).flat()], { stdio: 'ignore' });
  const window = new RunningConversations({ folder: announce, onChange: () => undefined });
  onTestFinished(() => {
    window.dispose();
    gateway.kill();
  });
  const address = await expect
    .poll(async () => {
      await window.refresh();
      return window.shared?.addresses?.['anthropic'];
    })
    .toBeDefined()
    .then(() => window.shared?.addresses?.['anthropic'] ?? '');
  const known = new Set<string>();
  return async (input, choice) => {
    const body = json({
      model: 'claude-sonnet-4-5',
      max_tokens: 1_000,
      system: SYSTEM,
      tools: TOOLS,
      messages: input.messages,
    });
    const headers = {
      'x-claude-code-session-id': encodeURIComponent(`${input.name} ${choice.provider}`),
      // A connection that was idle while the other ways kept this thread busy may have been closed.
      connection: 'close',
    };
    const send = async (): Promise<RequestBody> => {
      const answer = await fetch(`${address}/v1/messages`, { method: 'POST', headers, body });
      expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining('Done.')]);
      return JSON.parse(vendor.last()) as RequestBody;
    };
    expect(json((await send())['messages']) === json(input.messages), 'nothing is condensed unasked').toBe(true);
    await expect.poll(() => window.list().some(({ id }) => !known.has(id)), { timeout: LISTED_MS }).toBe(true);
    const conversation = window.list().find(({ id }) => !known.has(id))!.id;
    known.add(conversation);
    const { kind } = await window.condenseNow(conversation, { ...choice, targetPercent: TARGET_PERCENT });
    if (kind !== 'condensed') return undefined;
    const edits = await lastEdits(store, conversation);
    return { ...makeResult(input, edits), view: json(anthropicWire.read(await send())?.messages) };
  };
}

/**
 * Compares the edits of all ways with those of the first. It doesn't use `toEqual`, whose message
 * would print a user's session.
 * @returns the number of condensed conversations
 */
async function compare(
  inputs: Iterable<() => Input>,
  choice: Choice,
  roads: Readonly<Record<string, Road>>,
): Promise<number> {
  let condensed = 0;
  const differences: string[] = [];
  for (const read of inputs) {
    const input = read();
    const [[name, first] = ['', undefined], ...others] = Object.entries(roads);
    const on = async (road: string, ask?: Road): Promise<Result | undefined> => {
      try {
        return await ask?.(input, choice);
      } catch (error) {
        throw new Error(`${input.name}, ${road}: ${getErrorMessage(error)}`, { cause: error });
      }
    };
    const expected = await on(name, first);
    if (expected) condensed++;
    for (const [other, road] of others) {
      const result = await on(other, road);
      const differs = (part: keyof Result): boolean =>
        result?.[part] !== undefined && result[part] !== expected?.[part];
      const parts = (['editCount', 'edits', 'view', 'text'] as const).filter(differs);
      if (!result !== !expected) differences.push(`${input.name}, ${other}: ${result ? 'condensed' : 'not condensed'}`);
      else if (parts.length > 0) differences.push(`${input.name}, ${other}: other ${parts.join(', ')}`);
    }
  }
  expect(differences).toEqual([]);
  return condensed;
}

async function openRoads(folder: string) {
  const { run, preview, live } = openWindow(folder);
  const commandLine = openCommandLine(folder);
  return { run, preview, live, commandLine, gateway: await openGateway(folder) };
}

/** True if the file is a conversation, which some recorded files are not. */
function isReadable(path: string): boolean {
  try {
    return readConversationFile(path).messages.length > 0;
  } catch {
    return false;
  }
}

/** Creates call parameters that are nested as deeply as programs write them. */
const nested = (depth: number): unknown => (depth === 0 ? 'end' : [nested(depth - 1)]);

describe.each(CHOICES)(
  'a preview, Condense Now, agent mode, a gateway and the command line make the same edits with $provider',
  (choice) => {
    it('if the conversation has huge and unusual texts', { timeout: isLong ? 7_200_000 : 1_800_000 }, async () => {
      const folder = temporaryFolder();
      const texts = Object.entries(HOSTILE_TEXTS)
        .filter((_text, at) => shouldTry(at, CHOICES.indexOf(choice), CHOICES.length))
        .map(([name, make]) => [name, () => make(SIZE)] as const);
      if (isLong) {
        texts.push(['lines of 10 million characters', () => HOSTILE_TEXTS['one line of code']!(LARGEST / 3)]);
        texts.push(['a million short lines', () => 'ab\n'.repeat(1_000_000)]);
      }
      const inputs = texts.map(
        ([name, make]) =>
          () =>
            makeInput(name, makeConversationWith(make()), folder),
      );
      inputs.push(() => {
        const deep = makeToolExchange('deep', 'Bash', { tree: nested(300), text: 'x\n'.repeat(5_000) }, 'ok');
        return makeInput('deeply nested parameters', [user('Go.'), ...deep, ...makeConversationWith('ok')], folder);
      });
      const condensed = await compare(inputs, choice, await openRoads(folder));
      expect(condensed).toBeGreaterThan(0);
      console.info(
        `${choice.provider}: ${condensed} of ${inputs.length} hostile conversations condensed, equal on all roads`,
      );
    });

    it('if the conversation is a recorded session', { timeout: 3_600_000 }, async () => {
      const folder = temporaryFolder();
      const sessions = sessionFiles(CORPORA).filter((_session, at) => isLong || at % ONE_OF === 0);
      if (sessions.length === 0) console.warn(`NOT TESTED: no real conversations at ${CORPORA.join(', ')}`);
      const files = [{ name: 'sample', path: SAMPLE }, ...sessions].filter(({ path }) => isReadable(path));
      const sent = files.map(
        ({ name, path }) =>
          () =>
            makeInput(name, convertToSentForm(readConversationFile(path).messages), folder),
      );
      const roads = await openRoads(folder);
      const condensed = await compare(sent, choice, roads);
      expect(condensed).toBeGreaterThan(0);
      console.info(`${choice.provider}: ${condensed} of ${files.length} sessions condensed, equal on all roads`);

      // Agents' own files contain additional information, which only ways that read files can use.
      const { run, preview, commandLine } = roads;
      const stored = files.map((file) => () => ({ ...file, messages: readConversationFile(file.path).messages }));
      expect(await compare(stored, choice, { run, preview, commandLine })).toBeGreaterThan(0);
    });
  },
);
