/** A preview shows what condensing would do: both are asked of one engine, with the same conversations and settings. */
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, inject, it } from 'vitest';
import { temporaryFolder } from '../../test/support/temporaryFolder';
import { exchange, lines, user } from '../core/testing';
import { loadTokenCounter } from '../storage/assets';
import { createEngine } from './engine';

const SAMPLE = join(import.meta.dirname, '../../sample/conversation.jsonl');
const CORPORA = ['corpus', 'corpus-2'].map((name) => join(import.meta.dirname, '../../../shared', name));
/** Real conversations, outside of the repository. */
const real = CORPORA.filter((folder) => existsSync(folder)).flatMap((folder) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.jsonl'))
    .map((name) => join(folder, name)),
);
if (real.length === 0) console.warn(`NOT TESTED: no real conversations at ${CORPORA.join(', ')}`);

const errors = Array.from(
  { length: 9_000 },
  (_, at) => `${at % 50 ? 'building' : 'error: failed'} module ${at} of many`,
).join('\n');
/** Results that careless work is slow on, or that a program could be tempted to read otherwise than another. */
const HOSTILE: Readonly<Record<string, readonly [string, string]>> = {
  'many short lines twice': [lines('line', 30_000), `${lines('line', 30_000)}\nend`],
  'megabytes in one line': ['if (request.retry > limit) return undefined; '.repeat(50_000), 'x'],
  'lone surrogates': ['\ud800 a \udc00\n'.repeat(20_000), '\ud800'.repeat(300_000)],
  errors: [errors, errors],
};

/** @returns the paths of conversations with hostile results, in a new folder */
function hostileFiles(): string[] {
  const folder = temporaryFolder();
  return Object.entries(HOSTILE).map(([name, texts]) => {
    const results = [...texts, 'ok', 'fine', 'done'].flatMap((text, at) => exchange(`${at}`, 'Bash', { at }, text));
    const path = join(folder, `${name}.json`);
    writeFileSync(path, JSON.stringify({ messages: [user('Look into the log.'), ...results, user('Go on.')] }));
    return path;
  });
}

const WAYS = [
  { provider: 'lossless', config: undefined },
  { provider: 'truncation', config: undefined },
  { provider: 'smart', config: 'file-aware' },
] as const;

it.each(WAYS)('a preview of $provider has the same messages as condensing by it', { timeout: 600_000 }, async (way) => {
  const tokens = await loadTokenCounter(inject('assets'));
  const engine = createEngine(() => Promise.resolve(tokens));
  const store = join(temporaryFolder(), 'store');
  const { signal } = new AbortController();
  const setup = { ...way, presets: [], targetPercent: 50, maxCost: 0, models: [], summaries: join(store, 'summaries') };
  let compared = 0;
  for (const path of [SAMPLE, ...hostileFiles(), ...real]) {
    const file = { path, history: 'active', store } as const;
    const task = { kind: 'condense', ...file, ...way, targetPercent: 50, isPreview: true } as const;
    const run = await engine.perform(task, () => undefined, signal).catch(() => undefined);
    // Not readable, or not worth condensing: there is nothing to compare.
    if (run?.kind !== 'condensed') continue;
    const conversation = { kind: 'file', ...file } as const;
    const preview = await engine.previews.ask({ kind: 'texts', conversation, setup, excluded: [] }, signal);
    // By equality alone: a difference would print a person's session.
    expect(preview.before === run.before && preview.after === run.after, `${path}: the preview differs`).toBe(true);
    compared++;
  }
  expect(compared).toBeGreaterThan(0);
  console.info(`${way.provider}: ${compared} conversations compared`);
});
