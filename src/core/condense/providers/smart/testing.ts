import { getValueAt } from '../../../messages/path';
import type { ApiMessage } from '../../../messages/types';
import { makeToolExchange, makeLines, user, shortenMarkers } from '../../../testing';
import { createCounter } from '../../../testingCounter';
import { applyEdits } from '../../edits/applyEdits';
import type { TestSummarizer } from '../../summary/testing';
import type { CondensationOptions, CondensationProvider, ConversationContext, ProviderResult } from '../../types';
import type { SmartConfig, SmartConfigInput } from './config';
import { createSmartProvider, type SmartOptions } from './index';

export type PassInput = NonNullable<SmartConfigInput['passes']>[number];
type IndividualConfigInput = NonNullable<Extract<PassInput, { mode: 'individual' }>['individualConfig']>;

export const TASK_MESSAGE = user('Fix the tests.');

export const LONG_TEXT = makeLines('a', 40);

/** Creates calls with distinct results. */
export const createMessagesWithCalls = (count: number): ApiMessage[] => [
  TASK_MESSAGE,
  ...Array.from({ length: count }, (_, index) =>
    makeToolExchange(`id${index}`, 'Bash', { command: `run ${index}` }, makeLines(`r${index}`, 40)),
  ).flat(),
];

/** The path of a call's result. */
export const RESULT_PATH = ['content', 0, 'content'] as const;

/** Returns the path of a call's parameter. */
export const makeInputPath = (name: string) => ['content', 0, 'input', name] as const;

export const SUPPRESS_OPERATION = { operation: 'suppress' } as const;
export const SUMMARIZE_OPERATION = { operation: 'summarize', maxTokens: 40 } as const;

/** Creates a pass over all single contents. */
export const createPass = (
  defaults: IndividualConfigInput['defaults'],
  more: Partial<PassInput> = {},
  config: IndividualConfigInput = {},
): PassInput =>
  // `more` may contain fields of other kinds of passes, for tests of wrong configurations.
  ({
    id: 'one',
    name: 'One',
    selection: { type: 'preserve_recent', count: 0 },
    mode: 'individual',
    individualConfig: { ...config, defaults },
    ...more,
  }) as PassInput;

export const createOptionsWithModel = (summarizer: TestSummarizer): SmartOptions => ({
  select: () => ({ summarizer, chosen: 'condensing-profile' }),
});

/** A provider with a checked configuration and a conversation to run it on. */
export interface PreparedRun {
  readonly provider: CondensationProvider<SmartConfig>;
  readonly config: SmartConfig;
  readonly context: ConversationContext;
}

/** @throws Error if the configuration is wrong */
export function preparePass(
  messages: readonly ApiMessage[],
  passes: readonly PassInput[],
  { smart = {}, config = {} }: { readonly smart?: SmartOptions; readonly config?: Partial<SmartConfigInput> } = {},
): PreparedRun {
  const provider = createSmartProvider(smart);
  const checkedConfig = provider.validateConfig({ version: 1, losslessPrelude: { enabled: false }, ...config, passes });
  if (!checkedConfig.valid) throw new Error(JSON.stringify(checkedConfig.problems));
  return { provider, config: checkedConfig.config, context: { messages, edits: [], counter: createCounter() } };
}

/**
 * What differs from the default run, which has no model, no options, and no settings except the
 * passes.
 */
interface RunSetup {
  readonly smart?: SmartOptions;
  readonly options?: CondensationOptions;
  readonly config?: Partial<SmartConfigInput>;
  readonly context?: Partial<ConversationContext>;
}

export interface RunResult {
  readonly result: ProviderResult;
  readonly view: readonly ApiMessage[];
  /** Returns the text at a place of the view, with markers as `[what]`. */
  readonly getTextAt: (message: number, ...path: (string | number)[]) => string;
}

/** Runs the passes without the lossless prelude. */
export async function runPasses(
  messages: readonly ApiMessage[],
  passes: readonly PassInput[],
  { options = {}, context = {}, ...setup }: RunSetup = {},
): Promise<RunResult> {
  const { provider, config, context: own } = preparePass(messages, passes, setup);
  const result = await provider.condense({ ...own, ...context }, config, options);
  const { messages: view } = applyEdits(messages, result.edits);
  const formatPlace = (message: number, ...path: (string | number)[]): string =>
    shortenMarkers(getValueAt(view[message], path) as string);
  return { result, view, getTextAt: formatPlace };
}
