// Builds, condenses the bundled sample with the default provider (no API key needed) and prints the
// report; in a terminal it then opens VS Code.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { getNode24Path } from './vscode.mjs';

// `npm start` itself may run on an older Node of this machine; the installed packages include Node
// 24.
const node = getNode24Path();
const sampleFile = 'sample/conversation.jsonl';
execFileSync(node, ['esbuild.mjs', '--production'], { stdio: ['ignore', 2, 2] });
const storeFolder = mkdtempSync(join(tmpdir(), 'context-condenser-start-'));
console.log(`Condensing ${sampleFile} with the default, which needs no API key:\n`);
const { status } = spawnSync(
  node,
  ['dist/cli.cjs', 'condense', sampleFile, '--store', storeFolder, '--out', join(storeFolder, 'condensed.json')],
  {
    stdio: ['ignore', 'inherit', 'inherit'],
  },
);
if (status !== 0) process.exit(status ?? 1);
const reportFile = join(storeFolder, 'report.html');
const reportRun = spawnSync(node, ['dist/cli.cjs', 'report', sampleFile, '--store', storeFolder, '--out', reportFile]);
if (reportRun.status === 0) console.log(`\nReport of this condensation: ${pathToFileURL(reportFile).href}`);
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
