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

export type AgentPlan = readonly PlanItem[] | WrittenPlan;

/** Claude Code has used one call per task since 2.1. */
const TASK_CREATE_TOOL = 'TaskCreate';
const TASK_UPDATE_TOOL = 'TaskUpdate';

/** Undefined if the agent kept no plan. */
export function findLatestPlan(exchanges: readonly ToolExchange[], tools: ToolTable): AgentPlan | undefined {
  let latestPlan: AgentPlan | undefined;
  const tasks = new Map<string, PlanItem>();
  for (const exchange of exchanges) {
    if (exchange.isError) continue;
    if (exchange.tool === TASK_CREATE_TOOL || exchange.tool === TASK_UPDATE_TOOL) {
      recordTaskCall(tasks, exchange);
      latestPlan = [...tasks.values()].filter(({ status }) => status !== 'deleted');
    } else if (getToolRule(tools, exchange)?.kind === 'plan') {
      latestPlan = parsePlanCall(exchange) ?? latestPlan;
    }
  }
  return latestPlan && 'length' in latestPlan && latestPlan.length === 0 ? undefined : latestPlan;
}

function recordTaskCall(
  tasks: Map<string, PlanItem>,
  { tool, input, resultText, callMessage: message }: ToolExchange,
): void {
  if (tool === TASK_CREATE_TOOL) {
    const id = /#(\w+)/.exec(resultText)?.[1] ?? `${tasks.size + 1}`;
    tasks.set(id, { text: findFirstText(input, ['subject', 'description']), status: 'pending', message });
    return;
  }
  const id = findFirstText(input, ['taskId']);
  const task = tasks.get(id);
  if (!task) return;
  const text = findFirstText(input, ['subject']);
  tasks.set(id, {
    ...(text === '' ? task : { text, message }),
    status: typeof input['status'] === 'string' ? input['status'] : task.status,
  });
}

function parsePlanCall({ input, callMessage: message }: ToolExchange): AgentPlan | undefined {
  for (const value of [input['todos'], input['plan'], input['todoList'], input['items']]) {
    if (typeof value === 'string' && value.trim() !== '') return { text: value.trim(), message };
    if (!Array.isArray(value)) continue;
    return (value as unknown[]).flatMap((item) => {
      if (!isRecord(item)) return [];
      const text = findFirstText(item, ['content', 'step', 'title', 'task', 'text']);
      const { status } = item;
      return text === '' ? [] : [{ text, status: typeof status === 'string' ? status : 'pending', message }];
    });
  }
  return undefined;
}

function findFirstText(record: Readonly<Record<string, unknown>>, keys: readonly string[]): string {
  for (const key of keys) {
    const value = record[key];
    if (typeof value === 'string' && value.trim() !== '') return value.trim();
  }
  return '';
}
