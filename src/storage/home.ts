import { join } from 'node:path';

/** The environment that decides where a user's data lies. */
export interface Home {
  readonly platform: NodeJS.Platform;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly homedir: string;
}

/** Folder of the command line's ledgers, by the habit of each system; `CONTEXT_CONDENSER_STORE` overrides it. */
export function defaultStore({ platform, env, homedir }: Home): string {
  const chosen = env['CONTEXT_CONDENSER_STORE'];
  if (chosen) return chosen;
  switch (platform) {
    case 'darwin':
      return join(homedir, 'Library', 'Application Support', 'context-condenser');
    case 'win32':
      return join(env['LOCALAPPDATA'] || join(homedir, 'AppData', 'Local'), 'context-condenser');
    default:
      return join(env['XDG_STATE_HOME'] || join(homedir, '.local', 'state'), 'context-condenser');
  }
}
