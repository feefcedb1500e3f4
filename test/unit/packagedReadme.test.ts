import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { createPackagedReadme } from '../../scripts/readme.mjs';

const readme = readFileSync('README.md', 'utf8');

it('the README on VS Code’s details page has no images, only absolute links, and no text for developers', () => {
  const packed = createPackagedReadme(readme);
  expect(packed).not.toMatch(/!\[|<img/);
  expect([...packed.matchAll(/\]\(([^)]+)\)/g)].map(([, target]) => target)).toEqual(
    [...packed.matchAll(/\]\((https:[^)]+)\)/g)].map(([, target]) => target),
  );
  expect(packed).not.toMatch(/npm (?:start|test)|dist\/cli\.cjs|\(\)/);
  for (const kept of ['# Context Condenser', '## In VS Code', '### In the chat', '## How it condenses', '## Privacy'])
    expect(packed).toContain(kept);
});

it('links removed from the packaged README in the middle of a sentence leave their words', () => {
  const head = '## Two commands\nx\n## On the command line\nx\n## More\nx\n';
  const text =
    '## Kept\n![p](a.png)\n\nSee [the guide](docs/a.md) ([how](b.md)). [More](c.md)\n[out](https://example.com)\n';
  expect(createPackagedReadme(head + text)).toBe('## Kept\nSee the guide.\n[out](https://example.com)\n');
});

it('a section missing in the packaged README is reported', () => {
  expect(() => createPackagedReadme('# Only this')).toThrow('no section "Two commands"');
});
