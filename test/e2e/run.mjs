// Runs the tests in a real VS Code, on the packaged extension: node test/e2e/run.mjs [--only TEXT]…
// [--smoke] [--probe] [--electron]. Requires Node 20 or later.
//   --only TEXT   only tests whose name contains TEXT
//   --smoke       only the few scenarios of `npm test`
//   --long        only the scenarios of `npm run test:long`, which no other run has
//   --repeat N    each scenario N times, to find one that fails now and then
//   --probe       tests the bed itself, with a small extension (test/e2e/probe), not the product
//   --electron    only the in-host suite, in a desktop VS Code that @vscode/test-electron downloads
import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { listFindings, inspectMachine } from '../../scripts/preflight.mjs';
import { environment, getNode24Path, root } from '../../scripts/vscode.mjs';

const here = join(root, 'test', 'e2e');
const usage = () =>
  /^(?:\/\/.*\n)+/
    .exec(readFileSync(join(here, 'run.mjs'), 'utf8'))[0]
    .replace(/^\/\/ ?/gm, '')
    .trimEnd();
const text = { type: 'string' };
const flag = { type: 'boolean', default: false };
const options = {
  only: { ...text, multiple: true, default: [] },
  repeat: text,
  smoke: flag,
  long: flag,
  probe: flag,
  electron: flag,
  help: flag,
};
let values;
try {
  ({ values } = parseArgs({ options }));
  if (values.repeat !== undefined && !(Number(values.repeat) >= 1))
    throw new Error('--repeat takes a number from 1 on');
} catch (error) {
  console.error(`${error.message}\n\n${usage()}`);
  process.exit(2);
}
if (values.help) {
  console.log(usage());
  process.exit(0);
}
if (Number(process.versions.node.split('.')[0]) < 24) {
  const { status } = spawnSync(getNode24Path(), [join(here, 'run.mjs'), ...process.argv.slice(2)], {
    stdio: 'inherit',
    env: environment(),
  });
  process.exit(status ?? 1);
}
const { bundleProgram, bundleSample, bundleSuite, outputFolder } = await import('./build.mjs');
const target = values.probe ? join(here, 'probe') : here;
const outdir = outputFolder();
process.on('exit', () => rmSync(outdir, { recursive: true, force: true }));
const suite = await bundleSuite(target, outdir);
const sample = target === here ? await bundleSample(outdir) : undefined;
const program = await bundleProgram(values.electron ? 'electron' : 'run', target, outdir);
process.setSourceMapsEnabled(true);
const { main } = await import(program);
process.exitCode = await main({
  extension: values.probe ? target : root,
  suite,
  sample,
  scenarios: join(outdir, 'scenarios'),
  only: values.only,
  isSmoke: values.smoke,
  isLong: values.long,
  repeat: Number(values.repeat ?? 1),
  missing: listFindings(await inspectMachine()),
});
