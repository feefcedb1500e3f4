import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createO200kCounter } from './counter';
import { shouldTry } from '../../../../test/support/long';
import { countWithReference, rankTableBytes } from './testing';

const counter = createO200kCounter(rankTableBytes);

function textsBelow(folder: string): { path: string; text: string }[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .map((path) => ({ path, text: readFileSync(path, 'utf8') }));
}

/** Adds all strings of a JSON text; a line that isn't JSON is a string itself. */
function addStrings(json: string, strings: Set<string>): void {
  try {
    JSON.parse(json, (_, value: unknown) => {
      if (typeof value === 'string') strings.add(value);
      return value;
    });
  } catch {
    strings.add(json);
  }
}

describe('the o200k token counter agrees with js-tiktoken on', () => {
  const corpus = resolve(import.meta.dirname, '../../../../../shared/corpus');
  if (!existsSync(corpus)) console.warn(`SKIPPED: no conversations to compare token counts on, ${corpus} is absent`);
  it.skipIf(!existsSync(corpus))('all files of the real conversations and all strings in them', () => {
    const strings = new Set<string>();
    for (const { path, text } of textsBelow(corpus)) {
      for (const json of path.endsWith('.jsonl') ? text.split('\n') : [text]) addStrings(json, strings);
      const sample = text.slice(0, 20_000);
      expect(counter.count(sample), path).toBe(countWithReference(sample));
    }
    expect(strings.size).toBeGreaterThan(1000);
    // Compares eight consecutive strings of every 32, or all strings in `npm run test:long`.
    for (const [index, text] of [...strings].entries()) {
      if (!shouldTry(index >> 3, 0, 4)) continue;
      const tokens = counter.count(text);
      if (tokens !== countWithReference(text)) expect(tokens, text.slice(0, 200)).toBe(countWithReference(text));
    }
  });
});
