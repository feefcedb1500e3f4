import type { RepositoryLinks } from './repository.mjs';

export function packagedReadme(text: string, links?: RepositoryLinks): string;
export function writeReadme(path: string): void;
