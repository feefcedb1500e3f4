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
  const repositoryUrl = typeof repository === 'string' ? repository : repository.url;
  const [, name] =
    /^(?:git\+)?https:\/\/github\.com\/([\w.-]+\/[\w.-]+?)(?:\.git)?\/?$/.exec(repositoryUrl ?? '') ?? [];
  if (name === undefined)
    throw new Error(
      `package.json, repository: found ${JSON.stringify(repositoryUrl)}; expected "https://github.com/OWNER/NAME.git".`,
    );
  const webUrl = `https://github.com/${name}`;
  return {
    bugs: { url: `${webUrl}/issues` },
    homepage: `${webUrl}#readme`,
    badges: `[![CI](${webUrl}/actions/workflows/ci.yml/badge.svg)](${webUrl}/actions/workflows/ci.yml)`,
    file: (path) => `${webUrl}/blob/HEAD/${path}`,
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
  const ownEntries = Object.entries(manifest).filter(([key]) => key !== 'bugs' && key !== 'homepage');
  return Object.fromEntries(
    ownEntries.flatMap(([key, value]) =>
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
