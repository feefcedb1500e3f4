/**
 * Writes sample/conversation.jsonl, which `npm start` and “Try it with the sample” condense. Run:
 * npx esbuild test/generators/writeSample.ts --bundle --platform=node --format=esm | node
 * --input-type=module
 */
import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { Random } from './random';
import { sampleTranscript } from './sample/transcript';

const file = resolve('sample/conversation.jsonl');
const text = sampleTranscript(new Random(7));
writeFileSync(file, text);
console.log(`${file}: ${Buffer.byteLength(text)} bytes`);
