import type { SmartConfig } from './config';
import { passOperations } from './passOperations';

/** Whether a configuration may call a model at all. */
export const asksModels = ({ passes }: SmartConfig): boolean =>
  passes.some((pass) => {
    if (!pass.enabled) return false;
    if (pass.mode === 'batch') return pass.batchConfig.operation === 'summarize';
    return passOperations(pass).some(({ operation }) => operation === 'summarize');
  });
