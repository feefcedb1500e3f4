import { join } from 'node:path';

/** The conversation that comes with the extension, to try it on. */
export const samplePath = (extensionPath: string): string => join(extensionPath, 'sample', 'conversation.jsonl');
