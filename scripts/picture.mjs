// npm run picture: records the README's two pictures in VS Code: the animation
// (test/e2e/scenarios/movingPicture.ts) and the diff with details (test/e2e/scenarios/condense.ts).
import { execFileSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import sharp from 'sharp';

const FRAMES_FOLDER = 'test-results/picture';
const PICTURE = 'media/walkthrough/while-an-agent-works.webp';
const DIFF_SCREENSHOT = 'test-results/screenshots/details-dark.png';
const DIFF_PICTURE = 'docs/images/condense-context-now.png';
/** Width of the animation in pixels. */
const WIDTH = 1000;

const runNode = (...args) => execFileSync(process.execPath, args, { stdio: 'inherit' });
if (!process.argv.includes('--recorded')) {
  runNode('esbuild.mjs', '--production');
  runNode('test/e2e/run.mjs', '--long', '--only', 'movingPicture');
  runNode('test/e2e/run.mjs', '--only', 'condenses a transcript');
}
/** @type {{ file: string, ms: number }[]} */
const frames = JSON.parse(readFileSync(join(FRAMES_FOLDER, 'frames.json'), 'utf8'));
const images = await Promise.all(
  frames.map(({ file }) => sharp(join(FRAMES_FOLDER, file)).resize({ width: WIDTH }).png().toBuffer()),
);
await sharp(images, { join: { animated: true } })
  .webp({ quality: 80, effort: 6, delay: frames.map(({ ms }) => ms), loop: 0, mixed: true })
  .toFile(PICTURE);
console.log(`${PICTURE}: ${frames.length} frames, ${(statSync(PICTURE).size / 1000).toFixed(0)} KB`);
await sharp(DIFF_SCREENSHOT).png({ palette: true, effort: 10 }).toFile(DIFF_PICTURE);
console.log(`${DIFF_PICTURE}: ${(statSync(DIFF_PICTURE).size / 1000).toFixed(0)} KB`);
