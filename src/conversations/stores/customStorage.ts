/**
 * Users of the Roo family choose task folders in settings.json: `<extension>.customStoragePath`.
 */
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { AGENT_LIST, type AgentName } from '../../core/agents';
import type { FindConversationsOptions } from './types';

const AGENT_BY_SETTING_PREFIX: ReadonlyMap<string, AgentName> = new Map(
  AGENT_LIST.flatMap(({ settings, name }) => (settings === undefined ? [] : [[settings, name] as const])),
);

const CUSTOM_STORAGE_SETTING = new RegExp(
  `"(${[...AGENT_BY_SETTING_PREFIX.keys()].join('|')})\\.customStoragePath"\\s*:\\s*("(?:[^"\\\\\\n]|\\\\.)*")`,
  'g',
);

/** Settings are JSON with comments, so a text search finds the setting. */
export function findCustomStoragePaths(settings: string): { agent: AgentName; folder: string }[] {
  return [...settings.matchAll(CUSTOM_STORAGE_SETTING)].flatMap(([, prefix = '', quoted = '']) => {
    const agent = AGENT_BY_SETTING_PREFIX.get(prefix);
    const folder = parseJsonString(quoted);
    return agent === undefined || folder.trim() === '' ? [] : [{ agent, folder }];
  });
}

function parseJsonString(text: string): string {
  try {
    return String(JSON.parse(text));
  } catch {
    return '';
  }
}

const MAX_SETTINGS_BYTES = 4 * 1024 ** 2;

export async function readCustomStorageFolders(
  user: string,
  { homedir }: FindConversationsOptions,
): Promise<{ agent: AgentName; folder: string }[]> {
  const files = [join(user, 'settings.json'), join(user, '..', 'Machine', 'settings.json')];
  const texts = await Promise.all(files.map(readSettingsText));
  return texts.flatMap(findCustomStoragePaths).map(({ agent, folder }) => ({
    agent,
    folder: folder.startsWith('~') ? join(homedir, folder.slice(1)) : folder,
  }));
}

async function readSettingsText(file: string): Promise<string> {
  try {
    const { size } = await stat(file);
    return size > MAX_SETTINGS_BYTES ? '' : await readFile(file, 'utf8');
  } catch {
    return '';
  }
}
