import { getToolRule, type ToolTable } from '../../../messages/tools';
import { isMachineMessage } from '../../../messages/personText';
import type { ToolExchange } from '../../../messages/exchanges';
import type { Draft } from '../../draft/draft';
import { listInstructions } from '../../summary/instructions';
import { isSummaryMessage } from '../../../messages/task';
import type { SmartConfig } from './config';
import type { Pass } from './passSchema';
import { createFileTest, createToolNameTest, type ItemTest } from './selection';
import type { ContentItem } from './items';

export interface ProtectionInput {
  readonly draft: Draft;
  readonly config: SmartConfig;
  readonly pass: Pass;
  readonly tools: ToolTable;
  readonly pinned: ReadonlySet<number>;
}

export function createProtectedItemTest(parts: ProtectionInput): ItemTest {
  const isProtectedFromSummary = createProtectedFromSummaryTest(parts);
  const { draft, config } = parts;
  return (item) => {
    const message = draft.messages[item.message];
    // A summary must stay, because it is all that is left of its messages.
    return (
      !message ||
      isProtectedFromSummary(item) ||
      isSummaryMessage(message) ||
      (config.protect.userMessages && isWrittenByPerson(item, draft))
    );
  };
}

/** Even summaries of whole messages must not replace these items. */
export function createProtectedFromSummaryTest({ draft, config, pass, tools, pinned }: ProtectionInput): ItemTest {
  const planMessages = findPlanMessages(draft.exchanges, tools);
  const protectedTools = [...config.protect.tools, ...pass.protect.tools];
  const protectedFiles = [...config.protect.files, ...pass.protect.files];
  const tests: ItemTest[] = [
    ({ message }) => message <= draft.task || pinned.has(message) || planMessages.has(message),
    ...(protectedTools.length > 0 ? [createToolNameTest(protectedTools)] : []),
    ...(protectedFiles.length > 0 ? [createFileTest(protectedFiles, tools)] : []),
  ];
  return (item) => tests.some((test) => test(item));
}

/**
 * Since 2.1, Claude Code writes its to-do list with one call per task, so the list consists of all
 * these calls.
 */
const TASK_TOOL_NAMES: ReadonlySet<string> = new Set(['TaskCreate', 'TaskUpdate']);

function findPlanMessages(exchanges: readonly ToolExchange[], tools: ToolTable): ReadonlySet<number> {
  const lastPlan = exchanges.findLast((exchange) => !exchange.isError && getToolRule(tools, exchange)?.kind === 'plan');
  const taskCalls = exchanges.filter(({ tool }) => TASK_TOOL_NAMES.has(tool));
  return new Set(
    [...(lastPlan ? [lastPlan] : []), ...taskCalls].flatMap(({ callMessage, resultMessage = callMessage }) => [
      callMessage,
      resultMessage,
    ]),
  );
}

const isWrittenByPerson = ({ type, role, message, contents }: ContentItem, draft: Draft): boolean => {
  const containingMessage = draft.messages[message];
  return (
    type === 'messageText' &&
    role === 'user' &&
    containingMessage !== undefined &&
    !isMachineMessage(containingMessage) &&
    listInstructions(containingMessage).some((own) =>
      contents.some(({ path, start }) => path === own.content.path && start === own.content.start),
    )
  );
};
