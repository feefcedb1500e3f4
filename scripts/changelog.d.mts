export function parseVersion(version: string): [major: number, minor: number, patch: number];
export function getChannel(version: string): 'stable' | 'pre-release';
export function isLater(version: string, other: string): boolean;
export function getReleaseNotes(changelog: string, version: string): string;
export function createReleasedChangelog(changelog: string, version: string, day: string): string;
