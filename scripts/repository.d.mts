export interface RepositoryLinks {
  readonly bugs: { readonly url: string };
  readonly homepage: string;
  /** The badges in Markdown. */
  readonly badges: string;
  /** Returns the address of a file's page, by the file's path in the repository. */
  readonly file: (path: string) => string;
  /** Returns the address of a picture's bytes, by the picture's path in the repository. */
  readonly picture: (path: string) => string;
}

export function getRepositoryLinks(manifest: {
  readonly repository?: string | { readonly url?: string };
}): RepositoryLinks | undefined;
export function addRepositoryLinks<Manifest extends object>(manifest: Manifest): Manifest;
