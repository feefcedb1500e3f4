import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { MEASURED } from './providerFacts';

it('is what the README says', () => {
  const readme = readFileSync('README.md', 'utf8');
  for (const [provider, { savedPercent, seconds, aloneSeconds }] of Object.entries(MEASURED)) {
    const row = readme.split('\n').find((line) => line.toLowerCase().startsWith(`| ${provider} |`));
    expect(row, provider).toContain(`| ${savedPercent} % less, ${seconds} s | ${aloneSeconds} s |`);
  }
});
