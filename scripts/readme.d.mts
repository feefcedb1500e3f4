import type { RepositoryLinks } from './repository.mjs';

export function createPackagedReadme(text: string, links?: RepositoryLinks): string;
export function writeReadme(path: string): void;
