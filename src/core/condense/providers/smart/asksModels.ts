import type { SmartConfig } from './config';

/** Whether a configuration may call a model at all. */
export const asksModels = ({ passes }: SmartConfig): boolean =>
  passes.some((pass) => {
    if (!pass.enabled) return false;
    if (pass.mode === 'batch') return pass.batchConfig.operation === 'summarize';
    const { defaults, overrides } = pass.individualConfig;
    return [defaults, ...overrides.map(({ operations }) => operations)].some(
      ({ messageText, toolParameters, toolResults }) =>
        [messageText, toolParameters, toolResults].some((operation) => operation?.operation === 'summarize'),
    );
  });
