// Builds, condenses the bundled sample with the default provider (no API key needed) and prints the
// report; in a terminal it then opens VS Code.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { getNode24Path } from './vscode.mjs';

// `npm start` may itself run on the machine's Node, from before the packages installed their own.
const node = getNode24Path();
const sample = 'sample/conversation.jsonl';
execFileSync(node, ['esbuild.mjs', '--production'], { stdio: ['ignore', 2, 2] });
const store = mkdtempSync(join(tmpdir(), 'context-condenser-start-'));
console.log(`Condensing ${sample} with the default, which needs no API key:\n`);
const { status } = spawnSync(
  node,
  ['dist/cli.cjs', 'condense', sample, '--store', store, '--out', join(store, 'condensed.json')],
  {
    stdio: ['ignore', 'inherit', 'inherit'],
  },
);
if (status !== 0) process.exit(status ?? 1);
const page = join(store, 'report.html');
const reported = spawnSync(node, ['dist/cli.cjs', 'report', sample, '--store', store, '--out', page]);
if (reported.status === 0) console.log(`\nReport of this condensation: ${pathToFileURL(page).href}`);
console.log(
  `
To condense a conversation of your own: npx context-condenser condense <file>
Claude Code keeps them in ~/.claude/projects, Codex in ~/.codex/sessions; docs/formats.md has the other agents.
npx context-condenser --help explains the commands.`,
);
if (process.stdout.isTTY && !process.argv.includes('--no-open')) {
  const { openVsCode } = await import('./open.mjs');
  await openVsCode();
}
