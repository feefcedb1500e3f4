import { join } from 'node:path';

export const getSamplePath = (extensionPath: string): string => join(extensionPath, 'sample', 'conversation.jsonl');
