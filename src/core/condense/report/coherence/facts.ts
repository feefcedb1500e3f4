/** The facts that an agent must not lose sight of in a long task: files, errors, instructions, to-dos. */
import { Exchanges, type PlacedContent } from '../../../messages/exchanges';
import { ruleFor, type ToolTable } from '../../../messages/tools';
import type { ApiMessage } from '../../../messages/types';
import { memoizeByObject } from '../../../memoizeByObject';
import { prefixAt } from '../../lossless/prefixes';
import type { Pace } from '../../../pace';
import { errorLines } from '../../operations/errorLines';
import { pathsOf } from '../../summary/filesTouched';
import { instructionsOf } from '../../summary/instructions';
import { planState } from '../../summary/planState';

export const FACT_KINDS = ['files', 'errors', 'instructions', 'todos'] as const;
export type FactKind = (typeof FACT_KINDS)[number];

export interface Fact {
  readonly kind: FactKind;
  /** As it stands in the conversation; of several lines for what has them. */
  readonly text: string;
  /** Messages in which it stands, in order. */
  readonly messages: readonly number[];
}

/** Facts of one kind beyond this are too many to tell anybody about; the newest count. */
const MAX_FACTS = 2_000;

/**
 * The same result in the next condensation has the same error lines. A line with a number and an arrow is a file's, shown
 * after an edit: it is content that speaks of errors.
 */
const errorsIn = memoizeByObject(({ text }: PlacedContent) =>
  errorLines(text)
    .filter(({ start }) => !prefixAt(text, start, 'arrow'))
    .map(({ start, end }) => text.slice(start, end)),
);

/** The facts of a conversation, each once. */
export async function coherenceFacts(messages: readonly ApiMessage[], tools: ToolTable, pace: Pace): Promise<Fact[]> {
  const own = new Exchanges();
  await own.read(messages, pace);
  const exchanges = own.of(messages);
  const found: Record<FactKind, Map<string, number[]>> = {
    files: new Map(),
    errors: new Map(),
    instructions: new Map(),
    todos: new Map(),
  };
  const note = (kind: FactKind, text: string, message: number): void => {
    const plain = text.trim();
    if (plain === '') return;
    const known = found[kind].get(plain);
    if (known) known.push(message);
    else found[kind].set(plain, [message]);
  };
  let planned = 0;
  for (const exchange of exchanges) {
    await pace.yieldIfDue();
    const kind = ruleFor(tools, exchange)?.kind;
    if (kind === 'plan') planned = exchange.callMessage;
    if (kind === 'read' || kind === 'write' || kind === 'edit') {
      for (const path of pathsOf(tools, exchange)) note('files', path, exchange.callMessage);
    }
    // In a file that was read or found such lines are content.
    if (exchange.resultMessage === undefined || ((kind === 'read' || kind === 'search') && !exchange.isError)) continue;
    for (const result of exchange.results) {
      for (const line of errorsIn(result)) note('errors', line, exchange.resultMessage);
    }
  }
  await pace.yieldIfDue();
  for (const { message, text } of instructionsOf(messages, exchanges)) note('instructions', text, message);
  const plan = planState(exchanges, tools);
  const items = typeof plan === 'string' ? plan.split('\n') : (plan ?? []).map(({ text }) => text);
  for (const item of items) note('todos', item, planned);
  return FACT_KINDS.flatMap((kind) =>
    [...found[kind]].slice(-MAX_FACTS).map(([text, places]): Fact => ({ kind, text, messages: places })),
  );
}
