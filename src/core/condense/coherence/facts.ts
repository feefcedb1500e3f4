import type { PlacedContent, ToolExchange } from '../../messages/exchanges';
import { getToolRule, type ToolTable } from '../../messages/tools';
import { copyWithoutSpareCapacity } from '../../keptList';
import { listOriginalExchanges } from '../conversationMemory';
import { memoizeByObject } from '../../memoizeByObject';
import type { ApiMessage } from '../../messages/types';
import { listFileParts } from '../../messages/fileParts';
import { NUMBER_FORMS, readNumberAt } from '../../messages/numberForms';
import type { Slice } from '../../slice';
import { findErrorLines } from '../operations/errorLines';
import { listTouchedPaths } from '../../messages/filesTouched';
import { collectInstructions } from '../summary/instructions';
import { findLatestPlan } from '../summary/planState';

export const FACT_KINDS = ['files', 'errors', 'instructions', 'todos'] as const;
export type FactKind = (typeof FACT_KINDS)[number];

export interface Fact {
  readonly kind: FactKind;
  /** Exactly as in the conversation; may have several lines. */
  readonly text: string;
  readonly messages: readonly number[];
}

/** Only the newest facts of each kind are collected. */
const MAX_FACTS = 2_000;

const errorLinesByContent = new WeakMap<PlacedContent, readonly Slice[]>();

function getErrorLines(content: PlacedContent): readonly Slice[] {
  const cachedLines = errorLinesByContent.get(content);
  if (cachedLines) return cachedLines;
  const { text } = content;
  const errorLines = findErrorLines(text).filter((line) => !isLineOfNumberedFile(text, line));
  errorLinesByContent.set(content, errorLines);
  return errorLines;
}

/**
 * A line whose neighbor has the next or previous number belongs to a file, so error words in it are
 * code.
 */
function isLineOfNumberedFile(text: string, { start, end }: Slice): boolean {
  const lineBefore = start > 0 ? text.lastIndexOf('\n', start - 2) + 1 : undefined;
  const lineAfter = end < text.length ? end + 1 : undefined;
  return NUMBER_FORMS.some((form) => {
    const number = readNumberAt(text, start, form)?.number;
    if (number === undefined) return false;
    // Only numbered lines look like `12→`.
    if (form === 'arrow') return true;
    const hasNumberAt = (at: number | undefined, other: number): boolean =>
      at !== undefined && readNumberAt(text, at, form)?.number === other;
    return hasNumberAt(lineBefore, number - 1) || hasNumberAt(lineAfter, number + 1);
  });
}

function listFactErrors(tools: ToolTable, exchange: ToolExchange, isCommand: boolean, result: PlacedContent): string[] {
  const fileParts = isCommand ? listFileParts(tools, exchange, result) : [];
  return getErrorLines(result)
    .filter(({ start }) => !fileParts.some((part) => start >= part.start && start < part.end))
    .map(({ start, end }) => result.text.slice(start, end));
}

interface ExchangeFacts {
  readonly files: readonly string[];
  readonly errors: readonly string[];
}

const exchangeFactsByTools = memoizeByObject<ToolTable, WeakMap<ToolExchange, ExchangeFacts>>(() => new WeakMap());

function getExchangeFacts(tools: ToolTable, exchange: ToolExchange): ExchangeFacts {
  const kind = getToolRule(tools, exchange)?.kind;
  const files = kind === 'read' || kind === 'write' || kind === 'edit' ? listTouchedPaths(tools, exchange) : [];
  const errors: string[] = [];
  // Error words in the result of a successful read or search are file content.
  if ((kind !== 'read' && kind !== 'search') || exchange.isError) {
    for (const result of exchange.results) errors.push(...listFactErrors(tools, exchange, kind === 'command', result));
  }
  return { files: copyWithoutSpareCapacity(files), errors: copyWithoutSpareCapacity(errors) };
}

export function collectFacts(messages: readonly ApiMessage[], tools: ToolTable): Fact[] {
  const exchanges = listOriginalExchanges(messages);
  const messagesByFact: Record<FactKind, Map<string, number[]>> = {
    files: new Map(),
    errors: new Map(),
    instructions: new Map(),
    todos: new Map(),
  };
  const addFact = (kind: FactKind, text: string, message: number): void => {
    const trimmedText = text.trim();
    if (trimmedText === '') return;
    const messagesWithFact = messagesByFact[kind].get(trimmedText);
    if (messagesWithFact) messagesWithFact.push(message);
    else messagesByFact[kind].set(trimmedText, [message]);
  };
  const factsByExchange = exchangeFactsByTools(tools);
  for (const exchange of exchanges) {
    const { callMessage, resultMessage } = exchange;
    const facts = factsByExchange.get(exchange) ?? getExchangeFacts(tools, exchange);
    factsByExchange.set(exchange, facts);
    for (const path of facts.files) addFact('files', path, callMessage);
    if (resultMessage !== undefined) for (const line of facts.errors) addFact('errors', line, resultMessage);
  }
  for (const { message, text } of collectInstructions(messages, exchanges)) addFact('instructions', text, message);
  const plan = findLatestPlan(exchanges, tools);
  const planItems =
    plan && 'text' in plan ? plan.text.split('\n').map((text) => ({ text, message: plan.message })) : (plan ?? []);
  for (const { text, message } of planItems) addFact('todos', text, message);
  return FACT_KINDS.flatMap((kind) =>
    [...messagesByFact[kind]].slice(-MAX_FACTS).map(([text, places]): Fact => ({ kind, text, messages: places })),
  );
}
