/** Computes the cost of an agent's task on any vendor's API, compared with an ideal cache. */
import { createHash } from 'node:crypto';
import { isObject, objects, type Json } from './json';
import type { RecordedRequest } from './modelServer';
import type { TaskPrices } from './taskFigures';

export interface WireFigures {
  readonly requests: number;
  readonly refused: readonly string[];
  /** Maximum input tokens by the server's count. */
  readonly largest: number;
  /** Number of requests that don't extend the previous one. */
  readonly breaks: number;
  /** Share of the input tokens that were read from the cache. */
  readonly cached: number;
  readonly cost: number;
  /**
   * Cost with an ideal cache: unchanged items are read from it, and only changed and new ones are
   * written.
   */
  readonly idealCost: number;
}

/** @param tokensOf counts tokens as the server does. */
export function wireFigures(
  all: readonly RecordedRequest[],
  tokensOf: (text: string) => number,
  prices: TaskPrices,
): WireFigures {
  const answered = all.filter(({ status, usage }) => status === 200 && usage);
  let before: readonly Item[] = [];
  let [breaks, cost, idealCost, input, read, largest] = [0, 0, 0, 0, 0, 0];
  for (const { body, usage = {} } of answered) {
    const items = listItems(body, tokensOf);
    const differing = items.findIndex(({ hash }, index) => before[index]?.hash !== hash);
    const same = differing === -1 ? items.length : differing;
    if (same < before.length) breaks++;
    const spent = spentIn(usage);
    const stayed = items.slice(0, same).reduce((sum, { tokens }) => sum + tokens, 0);
    const whole = items.reduce((sum, { tokens }) => sum + tokens, 0);
    const ideal = before.length === 0 ? 0 : Math.round((spent.input * stayed) / whole);
    const written = { ...spent, read: ideal, written: spent.input - ideal };
    cost += price(spent, prices);
    idealCost += price(written, prices);
    input += spent.input;
    read += spent.read;
    largest = Math.max(largest, spent.input);
    before = items;
  }
  return {
    requests: answered.length,
    refused: all.flatMap(({ status, refusal }) => (status === 200 ? [] : [refusal ?? String(status)])),
    largest,
    breaks,
    cached: input === 0 ? 0 : read / input,
    cost,
    idealCost,
  };
}

export const wireFiguresText = (name: string, figures: WireFigures, condensations: number): string => {
  const { requests, refused, largest, breaks, cached, cost, idealCost } = figures;
  return (
    `${name}: ${requests} requests, ${refused.length} refused, largest ${largest} tokens, ${condensations} condensations, ` +
    `${breaks} prefix breaks, ${(100 * cached).toFixed(1)} % of the input from the cache, $${cost.toFixed(2)} ` +
    `(with an ideal cache $${idealCost.toFixed(2)})`
  );
};

interface Item {
  readonly hash: string;
  readonly tokens: number;
}

/** Lists tools, system prompt and messages in order, without breakpoints. */
function listItems(body: Json, tokensOf: (text: string) => number): Item[] {
  const { system, instructions, systemInstruction, tools, toolConfig, messages, input, contents } = body;
  const head = [tools ?? toolConfig ?? null, system ?? instructions ?? systemInstruction ?? null];
  return [...head, ...objects(messages ?? input ?? contents)].map((item) => {
    const text = JSON.stringify(withoutCachePoints(item), withoutMarks);
    return { hash: createHash('sha256').update(text).digest('hex'), tokens: tokensOf(text.replace(SEALED, '')) };
  });
}

/** Encrypted thinking is long as text, but billed differently. */
const SEALED = /"(?:encrypted_content|signature|thoughtSignature)":"[^"]*"/g;

const withoutMarks = (field: string, value: unknown): unknown => (field === 'cache_control' ? undefined : value);

/** Removes the separate blocks that Converse uses as cache points. */
function withoutCachePoints(value: unknown): unknown {
  if (Array.isArray(value)) {
    return value.filter((each) => !(isObject(each) && 'cachePoint' in each)).map(withoutCachePoints);
  }
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([field, each]) => [field, withoutCachePoints(each)]));
}

interface TaskCost {
  readonly input: number;
  readonly read: number;
  readonly written: number;
  readonly output: number;
}

function spentIn(usage: Json): TaskCost {
  const number = (from: Json, field: string): number => Number(from[field] ?? 0);
  const within = (field: string): Json => (isObject(usage[field]) ? usage[field] : {});
  const details = { ...within('prompt_tokens_details'), ...within('input_tokens_details') };
  if ('promptTokenCount' in usage) {
    const output = number(usage, 'candidatesTokenCount') + number(usage, 'thoughtsTokenCount');
    const read = number(usage, 'cachedContentTokenCount');
    return { input: number(usage, 'promptTokenCount'), read, written: 0, output };
  }
  if ('inputTokens' in usage) {
    const read = number(usage, 'cacheReadInputTokens');
    const written = number(usage, 'cacheWriteInputTokens');
    return {
      input: number(usage, 'inputTokens') + read + written,
      read,
      written,
      output: number(usage, 'outputTokens'),
    };
  }
  if ('cache_read_input_tokens' in usage) {
    const read = number(usage, 'cache_read_input_tokens');
    const written = number(usage, 'cache_creation_input_tokens');
    return {
      input: number(usage, 'input_tokens') + read + written,
      read,
      written,
      output: number(usage, 'output_tokens'),
    };
  }
  return {
    input: number(usage, 'prompt_tokens') + number(usage, 'input_tokens'),
    read: number(details, 'cached_tokens'),
    written: number(details, 'cache_write_tokens'),
    output: number(usage, 'completion_tokens') + number(usage, 'output_tokens'),
  };
}

const price = ({ input, read, written, output }: TaskCost, prices: TaskPrices): number =>
  ((input - read - written) * prices.input +
    read * prices.cacheRead +
    written * prices.cacheWrite +
    output * prices.output) /
  1_000_000;
