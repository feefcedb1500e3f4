// Installs what is missing, so that `npm start` and `npm test` are enough on a fresh machine. Needs Node 20 and no package.
import { execSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';

const stamp = 'node_modules/.context-condenser-installed';
const lock = readFileSync('package-lock.json', 'utf8');
if (!existsSync(stamp) || readFileSync(stamp, 'utf8') !== lock) {
  console.error('Installing packages (once) …');
  execSync('npm ci --no-audit --no-fund --loglevel=error', { stdio: ['ignore', 2, 2] });
  writeFileSync(stamp, lock);
}
