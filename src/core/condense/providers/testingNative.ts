import type { ApiMessage } from '../../messages/types';
import { assistant, makeToolExchange, makeLines, user } from '../../testing';
import { createCounter } from '../../testingCounter';
import type { CondensationRequest } from '../condensation';
import { CondensationManager } from '../manager';
import { selectSummarizer, type Summarizer, type SummarizerModel, type SummaryReply } from '../summarizer';
import { createTestSummarizer, type TestSummarizer } from '../summary/testing';
import { createNativeProvider } from './native';

export const SUMMARY_REPLY = '## Goal\nMake the tests pass.\n## Done\nThe parser reads lists.\n## Next steps\nNone';

export const makeConversation = (size = 30): ApiMessage[] => [
  user('Make the tests pass.'),
  assistant('I look at the parser first.'),
  ...Array.from({ length: size }, (_, index) =>
    makeToolExchange(`t${index}`, 'Read', { file_path: `/w/src/file${index}.ts` }, makeLines(`file${index}`, 40)),
  ).flat(),
  user('Use tabs, please.'),
  ...makeToolExchange('edit', 'Edit', { file_path: '/w/src/file1.ts', old_string: 'a', new_string: 'b' }, 'ok'),
  assistant('The parser is done.'),
  user('Now the printer.'),
  ...makeToolExchange('last', 'Bash', { command: 'npm test' }, 'Exit code 1\nprinter fails', { is_error: true }),
];

export interface TestBed {
  readonly summarizer: TestSummarizer;
  readonly manager: CondensationManager;
  readonly condense: (request?: Partial<CondensationRequest>) => ReturnType<CondensationManager['condense']>;
}

export function createTestBed(
  messages: readonly ApiMessage[],
  script: Parameters<typeof createTestSummarizer>[0] = [SUMMARY_REPLY],
  model: Partial<SummarizerModel> = {},
  changeReply: (reply: SummaryReply) => SummaryReply = (reply) => reply,
): TestBed {
  const summarizer = createTestSummarizer(script, model);
  const condensing: Summarizer = {
    ...summarizer,
    summarize: async (request, options) => changeReply(await summarizer.summarize(request, options)),
  };
  const provider = createNativeProvider({ select: () => selectSummarizer({ condensing }) });
  const manager = new CondensationManager(createCounter(), [provider]);
  const baseRequest = { conversation: 'c', messages, trigger: 'manual', vendor: 'anthropic' } as const;
  return { summarizer, manager, condense: (request = {}) => manager.condense({ ...baseRequest, ...request }) };
}

export async function condenseScripted(messages: readonly ApiMessage[], request: Partial<CondensationRequest> = {}) {
  const { condense, summarizer } = createTestBed(messages);
  const outcome = await condense(request);
  if (outcome.kind !== 'condensed') throw new Error(JSON.stringify(outcome));
  return { outcome, summarizer, view: outcome.view };
}

export const getMessageText = (message: ApiMessage | undefined): string =>
  typeof message?.content === 'string'
    ? message.content
    : ((message?.content[0]?.['text'] as string | undefined) ?? '');
