// npm run picture: the README's moving picture, recorded anew in the real VS Code (test/e2e/scenarios/movingPicture.ts).
import { execFileSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import sharp from 'sharp';

const FRAMES = 'test-results/picture';
const PICTURE = 'media/walkthrough/while-an-agent-works.webp';
/** Of the picture, in pixels: what a README shows at most. */
const WIDTH = 1000;

const run = (...args) => execFileSync(process.execPath, args, { stdio: 'inherit' });
if (!process.argv.includes('--recorded')) {
  run('esbuild.mjs', '--production');
  run('test/e2e/run.mjs', '--long', '--only', 'movingPicture');
}
/** @type {{ file: string, ms: number }[]} */
const frames = JSON.parse(readFileSync(join(FRAMES, 'frames.json'), 'utf8'));
const images = await Promise.all(
  frames.map(({ file }) => sharp(join(FRAMES, file)).resize({ width: WIDTH }).png().toBuffer()),
);
await sharp(images, { join: { animated: true } })
  .webp({ quality: 80, effort: 6, delay: frames.map(({ ms }) => ms), loop: 0, mixed: true })
  .toFile(PICTURE);
console.log(`${PICTURE}: ${frames.length} frames, ${(statSync(PICTURE).size / 1000).toFixed(0)} KB`);
