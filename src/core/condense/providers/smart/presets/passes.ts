import type { SmartConfigInput } from '../config';
import type { ContentFilter } from '../passSchema';

type PassInput = NonNullable<SmartConfigInput['passes']>[number];
type IndividualInput = Extract<PassInput, { mode: 'individual' }>;
type OperationsInput = NonNullable<NonNullable<IndividualInput['individualConfig']>['defaults']>;
type ThresholdsInput = NonNullable<NonNullable<IndividualInput['individualConfig']>['messageTokenThresholds']>;
type PassFieldsInput = Pick<PassInput, 'id' | 'name' | 'selection'> &
  Partial<Pick<PassInput, 'description' | 'execution'>>;

/** Content types that `defaults` does not name stay unchanged. */
export const createIndividualPass = (
  passFields: PassFieldsInput,
  defaults: OperationsInput,
  messageTokenThresholds: ThresholdsInput = {},
): IndividualInput => ({ ...passFields, mode: 'individual', individualConfig: { defaults, messageTokenThresholds } });

export const createBatchPass = (
  passFields: PassFieldsInput,
  keep: { readonly keepFirst?: number; readonly keepLast?: number } = {},
): PassInput => ({
  ...passFields,
  mode: 'batch',
  batchConfig: { operation: 'summarize', ...keep },
});

export const selectExceptNewest = (count: number) => ({ type: 'preserve_recent', count }) as const;
export const selectExceptNewestPercent = (percentage: number) => ({ type: 'preserve_percent', percentage }) as const;

export const createFilterSelection = (filter: ContentFilter) => ({ type: 'custom', filter }) as const;

/** Runs only if the messages have more o200k tokens than this. */
export const createTokenThresholdExecution = (tokenThreshold: number) =>
  ({ type: 'conditional', condition: { tokenThreshold } }) as const;

/** Runs only if a target is set and not met. */
export const EXECUTION_WHILE_OVER_TARGET = { type: 'conditional', condition: { overTarget: 1 } } as const;

export const makeSummarizeOperation = (maxTokens: number) => ({ operation: 'summarize', maxTokens }) as const;
export const makeTruncateLinesOperation = (maxLines: number) => ({ operation: 'truncate', maxLines }) as const;
export const makeTruncateCharsOperation = (maxChars: number) => ({ operation: 'truncate', maxChars }) as const;
export const suppressOperation = { operation: 'suppress' } as const;
