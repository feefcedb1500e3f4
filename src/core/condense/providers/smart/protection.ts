/** Recognizes content that no lossy operation touches. */
import { ruleFor, type ToolTable } from '../../../messages/tools';
import { isMachineMessage } from '../../../messages/personText';
import type { ToolExchange } from '../../../messages/exchanges';
import type { Draft } from '../../draft/draft';
import { instructionIn } from '../../summary/instructions';
import { isSummaryMessage } from '../../../messages/task';
import type { SmartConfig } from './config';
import type { Pass } from './passSchema';
import { ofFiles, ofTools, type ItemTest } from './selection';
import type { Item } from './items';

export interface ProtectionParts {
  readonly draft: Draft;
  readonly config: SmartConfig;
  readonly pass: Pass;
  readonly tools: ToolTable;
  readonly pinned: ReadonlySet<number>;
}

/** True for items that a pass on messages one by one leaves alone. */
export function protectedItems(parts: ProtectionParts): ItemTest {
  const isKept = keptWhole(parts);
  const { draft, config } = parts;
  return (item) => {
    const message = draft.messages[item.message];
    // A summary is all that is left of what it stands for.
    return (
      !message || isKept(item) || isSummaryMessage(message) || (config.protect.userMessages && isPersons(item, draft))
    );
  };
}

/** True for items that a summary of whole messages leaves alone, too; a person's words stand in it among the facts. */
export function keptWhole({ draft, config, pass, tools, pinned }: ProtectionParts): ItemTest {
  const plan = planMessages(draft.exchanges, tools);
  const protectedTools = [...config.protect.tools, ...pass.protect.tools];
  const protectedFiles = [...config.protect.files, ...pass.protect.files];
  const tests: ItemTest[] = [
    ({ message }) => message <= draft.task || pinned.has(message) || plan.has(message),
    ...(protectedTools.length > 0 ? [ofTools(protectedTools)] : []),
    ...(protectedFiles.length > 0 ? [ofFiles(protectedFiles, tools)] : []),
  ];
  return (item) => tests.some((test) => test(item));
}

/** Claude Code keeps its to-do list with one call per task since 2.1: all of them together are the list. */
const TASK_TOOLS: ReadonlySet<string> = new Set(['TaskCreate', 'TaskUpdate']);

/** Messages that hold the last to-do list. */
function planMessages(exchanges: readonly ToolExchange[], tools: ToolTable): ReadonlySet<number> {
  const last = exchanges.findLast((exchange) => !exchange.isError && ruleFor(tools, exchange)?.kind === 'plan');
  const tasks = exchanges.filter(({ tool }) => TASK_TOOLS.has(tool));
  return new Set(
    [...(last ? [last] : []), ...tasks].flatMap(({ callMessage, resultMessage = callMessage }) => [
      callMessage,
      resultMessage,
    ]),
  );
}

const isPersons = ({ type, role, message, contents }: Item, draft: Draft): boolean => {
  const holder = draft.messages[message];
  return (
    type === 'messageText' &&
    role === 'user' &&
    holder !== undefined &&
    !isMachineMessage(holder) &&
    contents.some(({ text }) => instructionIn(text) !== '')
  );
};
