import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const folder = fileURLToPath(new URL('.', import.meta.url));

it('loads no SDK before its first use: they are imported as types, or by import() within a function', () => {
  const sources = readdirSync(folder)
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
    .map((file) => readFileSync(join(folder, file), 'utf8'));
  const ofSdk = (before: string): RegExp =>
    new RegExp(`${before}'(?:@anthropic-ai/[\\w-]+|openai|google-auth-library)'`, 'g');
  const statics = sources.flatMap((source) => source.match(ofSdk('import [^;]* from ')) ?? []);
  const lazy = sources.flatMap((source) => source.match(ofSdk('import\\(')) ?? []);
  expect(lazy).toHaveLength(5);
  expect(statics.length).toBeGreaterThan(2);
  for (const line of statics) expect(line).toMatch(/import type \{[^}]*\} from '[^']*'$/);
});
