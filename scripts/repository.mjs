// Derives links from the repository's address, which is defined only in package.json's
// `repository`.

/**
 * @param {{ repository?: string | { url?: string } }} manifest package.json
 * @returns {import('./repository.mjs').RepositoryLinks | undefined} undefined if there is no
 *   address
 * @throws Error if the address is not on GitHub, where the workflows and issue templates are
 */
export function getRepositoryLinks({ repository }) {
  if (repository === undefined) return undefined;
  const address = typeof repository === 'string' ? repository : repository.url;
  const [, name] = /^(?:git\+)?https:\/\/github\.com\/([\w.-]+\/[\w.-]+?)(?:\.git)?\/?$/.exec(address ?? '') ?? [];
  if (name === undefined)
    throw new Error(
      `package.json, repository: found ${JSON.stringify(address)}; expected "https://github.com/OWNER/NAME.git".`,
    );
  const web = `https://github.com/${name}`;
  return {
    bugs: { url: `${web}/issues` },
    homepage: `${web}#readme`,
    badges: `[![CI](${web}/actions/workflows/ci.yml/badge.svg)](${web}/actions/workflows/ci.yml)`,
    file: (path) => `${web}/blob/HEAD/${path}`,
    picture: (path) => `https://raw.githubusercontent.com/${name}/HEAD/${path}`,
  };
}

/**
 * @template {object} Manifest
 * @param {Manifest} manifest package.json
 * @returns {Manifest} the manifest with the fields derived from its `repository` right after it,
 *   or without these fields if it has none
 */
export function addRepositoryLinks(manifest) {
  const links = getRepositoryLinks(manifest);
  const own = Object.entries(manifest).filter(([key]) => key !== 'bugs' && key !== 'homepage');
  return Object.fromEntries(
    own.flatMap(([key, value]) =>
      key === 'repository' && links
        ? [
            [key, value],
            ['bugs', links.bugs],
            ['homepage', links.homepage],
          ]
        : [[key, value]],
    ),
  );
}
