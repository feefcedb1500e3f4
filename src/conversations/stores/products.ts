import { dirname, join } from 'node:path';
import type { FindConversationsOptions } from './types';

const VSCODE_PRODUCT_FOLDERS = [
  'Code',
  'Code - Insiders',
  'Code - OSS',
  'VSCodium',
  'Cursor',
  'Windsurf',
  'Antigravity',
  'Trae',
  'Kiro',
  'Positron',
];

/**
 * On remote servers (SSH, WSL, containers) these folders have the content of a local settings
 * folder.
 */
const VSCODE_SERVER_FOLDERS = [
  '.vscode-server',
  '.vscode-server-insiders',
  '.vscode-server-oss',
  '.vscode-remote',
  '.vscodium-server',
  '.cursor-server',
  '.windsurf-server',
  '.openvscode-server',
];

const SANDBOX_CONFIG_FOLDERS = [
  ['.var', 'app', 'com.visualstudio.code', 'config'],
  ['.var', 'app', 'com.vscodium.codium', 'config'],
  ['snap', 'code', 'current', '.config'],
];

export function listVsCodeUserFolders(options: FindConversationsOptions): string[] {
  const { platform, env, homedir, globalStorage } = options;
  const settings = getConfigFolder(options);
  const portable = env['VSCODE_PORTABLE'];
  const folders = [
    ...VSCODE_PRODUCT_FOLDERS.map((product) => join(settings, product, 'User')),
    ...VSCODE_SERVER_FOLDERS.map((server) => join(homedir, server, 'data', 'User')),
    ...(platform === 'linux'
      ? SANDBOX_CONFIG_FOLDERS.flatMap((parts) =>
          ['Code', 'VSCodium'].map((product) => join(homedir, ...parts, product, 'User')),
        )
      : []),
    join(getDataFolder(options), 'code-server', 'User'),
    ...(portable ? [join(portable, 'user-data', 'User')] : []),
    ...(globalStorage === undefined ? [] : [dirname(globalStorage)]),
  ];
  return [...new Set(folders)];
}

function getConfigFolder({ platform, env, homedir }: FindConversationsOptions): string {
  if (platform === 'darwin') return join(homedir, 'Library', 'Application Support');
  if (platform === 'win32') return env['APPDATA'] || join(homedir, 'AppData', 'Roaming');
  return env['XDG_CONFIG_HOME'] || join(homedir, '.config');
}

/** Agents from Linux use `XDG_DATA_HOME` on every system. */
export const getDataFolder = ({ env, homedir }: FindConversationsOptions): string =>
  env['XDG_DATA_HOME'] || join(homedir, '.local', 'share');

/** Empty on systems other than macOS and Windows. */
export function getLocalFolders({ platform, env, homedir }: FindConversationsOptions): string[] {
  if (platform === 'darwin') return [join(homedir, 'Library', 'Application Support')];
  return platform === 'win32' ? [env['LOCALAPPDATA'] || join(homedir, 'AppData', 'Local')] : [];
}
