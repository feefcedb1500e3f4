import { readFile } from 'node:fs/promises';
import type { CondensationProvider } from '../core/condense';
import { errorCode, errorMessage } from '../core/errors';
import { isRecord } from '../core/messages/blocks';
import { UsageError, type Arguments } from './args';

/**
 * The provider's settings: the name from `--preset`, or from `--config` a name that the provider knows, JSON itself, or a
 * file that holds it.
 * @param note is told, in a sentence, which fields this version does not know: the presets of a newer one may have some.
 * @throws UsageError that names the field, what was found and what is allowed.
 */
export async function readConfig(
  { config: text, preset }: Pick<Arguments, 'config' | 'preset'>,
  provider: CondensationProvider,
  note: (sentence: string) => void,
): Promise<unknown> {
  if (preset !== undefined) return checked(preset, '--preset', provider);
  if (text === undefined) return undefined;
  if (provider.validateConfig(text).valid) return text;
  const isJson = text.trimStart().startsWith('{');
  const config = parse(isJson ? text : await readText(text), isJson ? '--config' : text);
  const strange = unknownFields(config, provider);
  if (strange.length > 0)
    note(`--config: ${provider.id} does not know ${strange.join(', ')}, and does nothing with it.`);
  return checked(config, '--config', provider);
}

function unknownFields(config: unknown, provider: CondensationProvider): readonly string[] {
  const { properties } = provider.getConfigSchema();
  if (!isRecord(config) || !isRecord(properties)) return [];
  return Object.keys(config).filter((name) => !Object.hasOwn(properties, name));
}

function checked(config: unknown, option: string, provider: CondensationProvider): unknown {
  const result = provider.validateConfig(config);
  if (result.valid) return config;
  const problems = result.problems.map(({ path, message }) => (path === '' ? `  ${message}` : `  ${path}: ${message}`));
  throw new UsageError(`${option} does not fit the provider ${provider.id}:\n${problems.join('\n')}`);
}

async function readText(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw new UsageError(
      `--config takes JSON, the path of a JSON file or the name of a built-in strategy; ${file} is no such name, and as a file it can't be read (${errorCode(error) ?? 'unknown error'}).`,
    );
  }
}

function parse(text: string, where: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new UsageError(`${where} is no JSON: ${errorMessage(error)}`);
  }
}
