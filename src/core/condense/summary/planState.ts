import type { ToolExchange } from '../../messages/exchanges';
import { isRecord } from '../../messages/blocks';
import { getToolRule, type ToolTable } from '../../messages/tools';

export interface PlanItem {
  readonly text: string;
  /** The agent's own word, such as `completed`. */
  readonly status: string;
  /** Index of the message whose call has this wording. */
  readonly message: number;
}

export interface WrittenPlan {
  readonly text: string;
  readonly message: number;
}

export type PlanState = readonly PlanItem[] | WrittenPlan;

/** Claude Code has used one call per task since 2.1. */
const TASK_CREATE = 'TaskCreate';
const TASK_UPDATE = 'TaskUpdate';

/** Undefined if the agent kept no plan. */
export function findPlan(exchanges: readonly ToolExchange[], tools: ToolTable): PlanState | undefined {
  let state: PlanState | undefined;
  const tasks = new Map<string, PlanItem>();
  for (const exchange of exchanges) {
    if (exchange.isError) continue;
    if (exchange.tool === TASK_CREATE || exchange.tool === TASK_UPDATE) {
      recordTask(tasks, exchange);
      state = [...tasks.values()].filter(({ status }) => status !== 'deleted');
    } else if (getToolRule(tools, exchange)?.kind === 'plan') {
      state = parsePlan(exchange) ?? state;
    }
  }
  return state && 'length' in state && state.length === 0 ? undefined : state;
}

function recordTask(
  tasks: Map<string, PlanItem>,
  { tool, input, resultText, callMessage: message }: ToolExchange,
): void {
  if (tool === TASK_CREATE) {
    const id = /#(\w+)/.exec(resultText)?.[1] ?? `${tasks.size + 1}`;
    tasks.set(id, { text: findText(input, ['subject', 'description']), status: 'pending', message });
    return;
  }
  const id = findText(input, ['taskId']);
  const known = tasks.get(id);
  if (!known) return;
  const text = findText(input, ['subject']);
  tasks.set(id, {
    ...(text === '' ? known : { text, message }),
    status: typeof input['status'] === 'string' ? input['status'] : known.status,
  });
}

function parsePlan({ input, callMessage: message }: ToolExchange): PlanState | undefined {
  for (const value of [input['todos'], input['plan'], input['todoList'], input['items']]) {
    if (typeof value === 'string' && value.trim() !== '') return { text: value.trim(), message };
    if (!Array.isArray(value)) continue;
    return (value as unknown[]).flatMap((item) => {
      if (!isRecord(item)) return [];
      const text = findText(item, ['content', 'step', 'title', 'task', 'text']);
      const { status } = item;
      return text === '' ? [] : [{ text, status: typeof status === 'string' ? status : 'pending', message }];
    });
  }
  return undefined;
}

function findText(record: Readonly<Record<string, unknown>>, keys: readonly string[]): string {
  for (const key of keys) {
    const value = record[key];
    if (typeof value === 'string' && value.trim() !== '') return value.trim();
  }
  return '';
}
