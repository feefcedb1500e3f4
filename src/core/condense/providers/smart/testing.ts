import { getValueAt } from '../../../messages/path';
import type { ApiMessage } from '../../../messages/types';
import { exchange, lines, user, brief } from '../../../testing';
import { freshCounter } from '../../../testingCounter';
import { applyEdits } from '../../edits/applyEdits';
import type { TestSummarizer } from '../../summary/testing';
import type { CondensationOptions, CondensationProvider, ConversationContext, ProviderResult } from '../../types';
import type { SmartConfig, SmartConfigInput } from './config';
import { smartProvider, type SmartOptions } from './index';

export type PassInput = NonNullable<SmartConfigInput['passes']>[number];
type Individual = NonNullable<Extract<PassInput, { mode: 'individual' }>['individualConfig']>;

export const TASK = user('Fix the tests.');

/** A text of forty lines. */
export const LONG = lines('a', 40);

/** Calls with results that no two share. */
export const many = (count: number): ApiMessage[] => [
  TASK,
  ...Array.from({ length: count }, (_, index) =>
    exchange(`id${index}`, 'Bash', { command: `run ${index}` }, lines(`r${index}`, 40)),
  ).flat(),
];

/** Where the result of a call stands in its message. */
export const RESULT = ['content', 0, 'content'] as const;

/** Where a parameter of a call stands in its message. */
export const input = (name: string) => ['content', 0, 'input', name] as const;

export const SUPPRESS = { operation: 'suppress' } as const;
export const SUMMARIZE = { operation: 'summarize', maxTokens: 40 } as const;

/** A pass on all messages one by one. */
export const individual = (
  defaults: Individual['defaults'],
  more: Partial<PassInput> = {},
  config: Individual = {},
): PassInput =>
  // The rest may hold what belongs to another kind of pass: tests of wrong configurations use that.
  ({
    id: 'one',
    name: 'One',
    selection: { type: 'preserve_recent', count: 0 },
    mode: 'individual',
    individualConfig: { ...config, defaults },
    ...more,
  }) as PassInput;

export const withModel = (summarizer: TestSummarizer): SmartOptions => ({
  select: () => ({ summarizer, chosen: 'condensing-profile' }),
});

/** A provider with a configuration that it has checked, and a conversation to run it on. */
export interface Prepared {
  readonly provider: CondensationProvider<SmartConfig>;
  readonly config: SmartConfig;
  readonly context: ConversationContext;
}

/** @throws Error where the configuration is wrong. */
export function prepared(
  messages: readonly ApiMessage[],
  passes: readonly PassInput[],
  { smart = {}, config = {} }: { readonly smart?: SmartOptions; readonly config?: Partial<SmartConfigInput> } = {},
): Prepared {
  const provider = smartProvider(smart);
  const checked = provider.validateConfig({ version: 1, losslessPrelude: { enabled: false }, ...config, passes });
  if (!checked.valid) throw new Error(JSON.stringify(checked.problems));
  return { provider, config: checked.config, context: { messages, edits: [], counter: freshCounter() } };
}

/** How a run differs from one with no model, no options and no more than the passes configured. */
interface RunSetup {
  readonly smart?: SmartOptions;
  readonly options?: CondensationOptions;
  readonly config?: Partial<SmartConfigInput>;
  readonly context?: Partial<ConversationContext>;
}

export interface Ran {
  readonly result: ProviderResult;
  readonly view: readonly ApiMessage[];
  /** The text at a place of the view, markers as `[what]`. */
  readonly at: (message: number, ...path: (string | number)[]) => string;
}

/** Condenses with these passes, without the lossless prelude. */
export async function run(
  messages: readonly ApiMessage[],
  passes: readonly PassInput[],
  { options = {}, context = {}, ...setup }: RunSetup = {},
): Promise<Ran> {
  const { provider, config, context: own } = prepared(messages, passes, setup);
  const result = await provider.condense({ ...own, ...context }, config, options);
  const { messages: view } = applyEdits(messages, result.edits);
  const at = (message: number, ...path: (string | number)[]): string =>
    brief(getValueAt(view[message], path) as string);
  return { result, view, at };
}
