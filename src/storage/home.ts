import { join } from 'node:path';

export interface HomeEnvironment {
  readonly platform: NodeJS.Platform;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly homedir: string;
}

/**
 * Returns the command line's folder for ledgers; the variable `CONTEXT_CONDENSER_STORE` overrides
 * it.
 */
export function getDefaultStore({ platform, env, homedir }: HomeEnvironment): string {
  const chosenFolder = env['CONTEXT_CONDENSER_STORE'];
  if (chosenFolder) return chosenFolder;
  switch (platform) {
    case 'darwin':
      return join(homedir, 'Library', 'Application Support', 'context-condenser');
    case 'win32':
      return join(env['LOCALAPPDATA'] || join(homedir, 'AppData', 'Local'), 'context-condenser');
    default:
      return join(env['XDG_STATE_HOME'] || join(homedir, '.local', 'state'), 'context-condenser');
  }
}
