/**
 * Checks that the troubleshooting guide quotes actual messages and covers every kind of model
 * error.
 */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '..', '..');
const page = readFileSync(join(root, 'docs', 'guide', 'troubleshooting.md'), 'utf8');
const sources = globSync('src/**/*.ts', { cwd: root })
  .filter((file) => !file.endsWith('.test.ts'))
  .map((file) => readFileSync(join(root, file), 'utf8'))
  .join('\n');

/** First cells of the rows in tables with the header "the message". */
const messages = page
  .split(/\n(?=## )/)
  .filter((section) => section.includes('| the message |'))
  .flatMap((section) => [...section.matchAll(/^\| (?!the message)([^|]+?) \|/gm)].map(([, cell = '']) => cell));

describe('the guide on messages', () => {
  it.each(messages.flatMap((cell) => cell.split(' / ')))('quotes the message %s', (message) => {
    const parts = message.split('…').map((text) => text.trim());
    expect(parts.filter((part) => !sources.includes(part))).toEqual([]);
  });

  it('covers each failure of a call', () => {
    const errors = readFileSync(join(root, 'src', 'api', 'apiError.ts'), 'utf8');
    const said = [...errors.matchAll(/sentence: (?:'([^']+)'|"([^"]+)")/g)].map(([, a, b]) => a ?? b ?? '');
    expect(said.length).toBeGreaterThan(15);
    // Messages about a cancellation are left out, because the user requested it.
    const reported = said.filter((what) => !what.includes('canceled'));
    expect(reported.filter((what) => !page.includes(what.replace(/^(The answer broke off).*/, '$1')))).toEqual([]);
  });
});
