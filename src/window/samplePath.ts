import { join } from 'node:path';

/** Path of the bundled sample conversation. */
export const getSamplePath = (extensionPath: string): string => join(extensionPath, 'sample', 'conversation.jsonl');
