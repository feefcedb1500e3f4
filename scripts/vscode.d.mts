export const root: string;
export const cache: string;
export const codeServerVersion: string;
export function node24(): string;
export function packageArguments(vsix: string, extension?: string): string[];
export function readmeArguments(extension: string): string[];
export function environment(): NodeJS.ProcessEnv;
export function ensureCodeServer(log?: (line: string) => void): Promise<string>;
export function findChromium(log?: (line: string) => void): string | null;
