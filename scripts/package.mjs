// npm run package: builds what ships and packs it into dist/context-condenser.vsix.
import { execFileSync } from 'node:child_process';
import { packExtension, root, vsix } from './vscode.mjs';

execFileSync(process.execPath, ['esbuild.mjs', '--production'], { cwd: root, stdio: 'inherit' });
packExtension();
console.log(vsix);
