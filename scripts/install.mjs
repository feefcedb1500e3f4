// Installs missing packages for `npm start` and `npm test`. Requires Node 20 and no packages.
import { execSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';

const stampFile = 'node_modules/.context-condenser-installed';
const lockfileText = readFileSync('package-lock.json', 'utf8');
if (!existsSync(stampFile) || readFileSync(stampFile, 'utf8') !== lockfileText) {
  console.error('Installing packages (once) …');
  const command = 'npm ci --no-audit --no-fund --loglevel=error';
  try {
    execSync(command, { stdio: ['ignore', 2, 2] });
  } catch {
    console.error(`The packages could not be installed; what npm said stands above. Once it is mended: ${command}`);
    process.exit(1);
  }
  writeFileSync(stampFile, lockfileText);
}
