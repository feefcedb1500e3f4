import { readFile } from 'node:fs/promises';
import type { CondensationProvider } from '../core/condense';
import { parsePresetFile, type Preset } from '../core/condense/providers/smart/presets';
import { BUILT_IN_STRATEGIES } from '../core/condense/providers/strategy/builtIn';
import type { ConfigProblem } from '../core/condense/types';
import { getErrorCode, getErrorMessage } from '../core/errors';
import { isRecord } from '../core/messages/blocks';
import { UsageError, type SessionArguments } from './args';

/**
 * `--preset` is a preset's name or file; `--config` is a name, JSON or a JSON file.
 * @param note receives a sentence about unknown fields
 * @throws UsageError that names the field, its value and what is allowed
 */
export async function readConfig(
  { config: text, preset }: Pick<SessionArguments, 'config' | 'preset'>,
  provider: CondensationProvider,
  note: (sentence: string) => void,
): Promise<unknown> {
  if (preset !== undefined)
    return isPresetFile(preset)
      ? (await readPreset(preset)).config
      : validateConfigOption(preset, '--preset', provider);
  if (text === undefined) return undefined;
  if (provider.validateConfig(text).valid) return text;
  const isJson = text.trimStart().startsWith('{');
  const config = dropSchemaField(
    parseJson(isJson ? text : await readOptionFile('--config', text), isJson ? '--config' : text),
  );
  const validConfig = validateConfigOption(config, '--config', provider);
  // Validation by the provider also migrates fields of older versions.
  const migratedConfig = provider.validateConfig(validConfig);
  const warnings = migratedConfig.valid ? (migratedConfig.warnings ?? []) : [];
  for (const { path, message } of warnings) note(`--config: ${path} ${message} and is ignored.`);
  return validConfig;
}

/** @throws UsageError */
export const readPresetFileName = async ({ preset }: Pick<SessionArguments, 'preset'>): Promise<string | undefined> =>
  preset !== undefined && isPresetFile(preset) ? (await readPreset(preset)).name : undefined;

const isPresetFile = (preset: string): boolean => preset.endsWith('.json');

/** @throws UsageError */
async function readPreset(file: string): Promise<Preset> {
  const parsedPreset = parsePresetFile(await readOptionFile('--preset', file));
  if (parsedPreset.valid) return parsedPreset.config;
  throw new UsageError(`${file} is not a preset:\n${formatProblemLines(parsedPreset.problems)}`);
}

const formatProblemLines = (problems: readonly ConfigProblem[]): string =>
  problems.map(({ path, message }) => (path === '' ? `  ${message}` : `  ${path}: ${message}`)).join('\n');

/** Drops the field `$schema`, which is only for editors. */
const dropSchemaField = (config: unknown): unknown =>
  isRecord(config) ? Object.fromEntries(Object.entries(config).filter(([name]) => name !== '$schema')) : config;

function validateConfigOption(config: unknown, option: string, provider: CondensationProvider): unknown {
  const result = provider.validateConfig(config);
  if (result.valid) return config;
  const [first, second] = result.problems;
  if (first?.path === '' && second === undefined) throw new UsageError(`${option}: ${first.message}`);
  throw new UsageError(`${option} does not fit the provider ${provider.id}:\n${formatProblemLines(result.problems)}`);
}

async function readOptionFile(option: '--config' | '--preset', file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    const explanation =
      option === '--preset'
        ? `--preset takes a preset's name or its file`
        : `--config takes JSON, the path of a JSON file or the name of a built-in strategy (${BUILT_IN_STRATEGIES.map(({ id }) => id).join(', ')})`;
    throw new UsageError(
      `${explanation}; ${file} is not such a name, and can't be read as a file (${getErrorCode(error) ?? 'unknown error'}).`,
    );
  }
}

function parseJson(text: string, label: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new UsageError(`${label} is not JSON: ${getErrorMessage(error)}`);
  }
}
