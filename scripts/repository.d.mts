export interface RepositoryLinks {
  readonly bugs: { readonly url: string };
  readonly homepage: string;
  /** Markdown. */
  readonly badges: string;
  /** The page of a file, by its path in the repository. */
  readonly file: (path: string) => string;
  /** The address of a picture's bytes, by its path in the repository. */
  readonly picture: (path: string) => string;
}

export function repositoryLinks(manifest: {
  readonly repository?: string | { readonly url?: string };
}): RepositoryLinks | undefined;
export function withRepositoryLinks<Manifest extends object>(manifest: Manifest): Manifest;
