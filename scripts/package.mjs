// npm run package: builds and packages dist/context-condenser.vsix.
import { execFileSync } from 'node:child_process';
import { packExtension, root, vsix } from './vscode.mjs';

execFileSync(process.execPath, ['esbuild.mjs', '--production'], { cwd: root, stdio: 'inherit' });
packExtension();
console.log(vsix);
