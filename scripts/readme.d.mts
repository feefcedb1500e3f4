export function packagedReadme(text: string): string;
export function writeReadme(path: string): void;
