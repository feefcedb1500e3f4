export function parseVersion(version: string): [major: number, minor: number, patch: number];
export function channel(version: string): 'stable' | 'pre-release';
export function isLater(version: string, other: string): boolean;
export function releaseNotes(changelog: string, version: string): string;
export function releasedChangelog(changelog: string, version: string, day: string): string;
