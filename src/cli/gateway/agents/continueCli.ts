import { join, resolve } from 'node:path';
import { isRecord } from '../../../core/messages/blocks';
import {
  UnsupportedError,
  getFieldAtPath,
  getOptionValue,
  getRecordAtPath,
  getTextAtPath,
  parseAddress,
  readSettingsFile,
  removeOption,
  type GatewayAgent,
} from './agent';
import { shortenPath } from './projectTrust';

/** By provider, the URL used if none is configured. */
const BUILT_IN_ADDRESSES: Readonly<Partial<Record<string, string>>> = {
  anthropic: 'https://api.anthropic.com/v1',
  openai: 'https://api.openai.com/v1',
  gemini: 'https://generativelanguage.googleapis.com/v1beta',
  openrouter: 'https://openrouter.ai/api/v1',
};
/**
 * Enlarges the window that we report to the agent, because its own compaction counts uncondensed
 * messages.
 */
const WINDOW_FACTOR = 8;

const makeRouteName = (at: number): string => `m-${at}`;

/**
 * Continue accepts a configuration file for one run. Models from its hub have no URL in the file.
 */
export const continueCli: GatewayAgent = {
  resumeArguments: ['--resume'],
  async prepare(args, home) {
    const { homedir, env, cwd } = home;
    const { parse, stringify } = await import('yaml');
    const configOption = getOptionValue(args, '--config');
    const configPath =
      configOption === undefined
        ? join(env['CONTINUE_GLOBAL_DIR'] ?? join(homedir, '.continue'), 'config.yaml')
        : resolve(cwd, configOption);
    const settings = await readSettingsFile(configPath, (text) => parse(text) as unknown);
    const models = (Array.isArray(settings['models']) ? (settings['models'] as readonly unknown[]) : []).filter(
      isRecord,
    );
    const addressByModel = new Map<number, URL>();
    const sourceByRoute = new Map<string, string>();
    const windowByModel = new Map<string, number>();
    for (const [index, model] of models.entries()) {
      const configuredAddress = getTextAtPath(model, 'apiBase');
      const address = configuredAddress ?? BUILT_IN_ADDRESSES[getTextAtPath(model, 'provider') ?? ''];
      if (address !== undefined) addressByModel.set(index, parseAddress(address, `The apiBase of model ${index + 1}`));
      if (configuredAddress !== undefined)
        sourceByRoute.set(makeRouteName(index), `apiBase in ${shortenPath(configPath, home)}`);
      const window = getFieldAtPath(model, 'defaultCompletionOptions', 'contextLength');
      if (typeof window === 'number') windowByModel.set(getTextAtPath(model, 'model') ?? '', window);
    }
    if (addressByModel.size === 0) {
      throw new UnsupportedError(
        `${configPath} has no model of a known provider or with an apiBase; models of its hub are not supported.`,
      );
    }
    return {
      routes: new Map([...addressByModel].map(([index, address]) => [makeRouteName(index), address])),
      sourceByRoute,
      canRecall: true,
      windows: windowByModel,
      async launch({ url, file, recall }) {
        const routedModels = models.map((model, index) => {
          const options = getRecordAtPath(model, 'defaultCompletionOptions');
          const window = options['contextLength'];
          return {
            ...model,
            ...(addressByModel.has(index) && { apiBase: url(makeRouteName(index)) }),
            ...(typeof window === 'number' && {
              defaultCompletionOptions: { ...options, contextLength: window * WINDOW_FACTOR },
            }),
          };
        });
        const { name, command, args: serverArgs, env: serverEnv } = recall;
        const servers = Array.isArray(settings['mcpServers']) ? (settings['mcpServers'] as unknown[]) : [];
        const overlay = {
          ...settings,
          models: routedModels,
          mcpServers: [...servers, { name, command, args: serverArgs, env: serverEnv }],
        };
        return {
          command: 'cn',
          args: [
            '--config',
            await file('config.yaml', stringify(overlay)),
            ...(configOption === undefined ? args : removeOption(args, '--config')),
          ],
          env: {},
        };
      },
    };
  },
};
