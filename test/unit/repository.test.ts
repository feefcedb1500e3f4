import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { createPackagedReadme } from '../../scripts/readme.mjs';
import { getRepositoryLinks, addRepositoryLinks } from '../../scripts/repository.mjs';

const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as { readonly repository?: string };

it('package.json has the fields derived from its repository, and no other such fields', () => {
  expect(JSON.stringify(addRepositoryLinks(manifest))).toBe(JSON.stringify(manifest));
});

it('package.json loses its old links if it has no repository address', () => {
  expect(getRepositoryLinks({})).toBeUndefined();
  expect(addRepositoryLinks({ name: 'x', bugs: { url: 'old' }, homepage: 'old' })).toEqual({ name: 'x' });
});

it.each([
  'https://github.com/some-one/the.name.git',
  'https://github.com/some-one/the.name',
  'https://github.com/some-one/the.name/',
  { type: 'git', url: 'git+https://github.com/some-one/the.name.git' },
])('all links in package.json are derived from the repository address %j', (repository) => {
  expect(addRepositoryLinks({ name: 'x', repository, main: 'y' })).toEqual({
    name: 'x',
    repository,
    bugs: { url: 'https://github.com/some-one/the.name/issues' },
    homepage: 'https://github.com/some-one/the.name#readme',
    main: 'y',
  });
  const links = getRepositoryLinks({ repository });
  expect(links?.badges).toContain('](https://github.com/some-one/the.name/actions/workflows/ci.yml)');
  const text =
    '## Two commands\nx\n## On the command line\nx\n## More\nx\n## Kept\n![p](a/b.webp)\n\nSee [it](docs/a.md#x).\n';
  expect(createPackagedReadme(text, links)).toBe(
    '## Kept\n![p](https://raw.githubusercontent.com/some-one/the.name/HEAD/a/b.webp)\n\n' +
      'See [it](https://github.com/some-one/the.name/blob/HEAD/docs/a.md#x).\n',
  );
});

it.each(['github:a/b', 'https://example.com/a/b', 'https://github.com/a', { url: 'a/b' }, {}])(
  'the repository address %j is rejected, and the error shows the expected form',
  (repository) => {
    expect(() => getRepositoryLinks({ repository })).toThrow('expected "https://github.com/OWNER/NAME.git"');
  },
);
