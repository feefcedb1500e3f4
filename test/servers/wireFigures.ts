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
  let itemsBefore: readonly Item[] = [];
  let [breaks, cost, idealCost, input, read, largest] = [0, 0, 0, 0, 0, 0];
  for (const { body, usage = {} } of answered) {
    const items = listItems(body, tokensOf);
    const firstDifferingItem = items.findIndex(({ hash }, index) => itemsBefore[index]?.hash !== hash);
    const sameCount = firstDifferingItem === -1 ? items.length : firstDifferingItem;
    if (sameCount < itemsBefore.length) breaks++;
    const usageCost = readUsage(usage);
    const unchangedTokens = items.slice(0, sameCount).reduce((sum, { tokens }) => sum + tokens, 0);
    const totalTokens = items.reduce((sum, { tokens }) => sum + tokens, 0);
    const idealReadTokens =
      itemsBefore.length === 0 ? 0 : Math.round((usageCost.input * unchangedTokens) / totalTokens);
    const idealUsage = { ...usageCost, read: idealReadTokens, written: usageCost.input - idealReadTokens };
    cost += computePrice(usageCost, prices);
    idealCost += computePrice(idealUsage, prices);
    input += usageCost.input;
    read += usageCost.read;
    largest = Math.max(largest, usageCost.input);
    itemsBefore = items;
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
    const text = JSON.stringify(removeCachePoints(item), withoutMarks);
    return {
      hash: createHash('sha256').update(text).digest('hex'),
      tokens: tokensOf(text.replace(SEALED_FIELDS_PATTERN, '')),
    };
  });
}

/** Encrypted thinking is long as text, but billed differently. */
const SEALED_FIELDS_PATTERN = /"(?:encrypted_content|signature|thoughtSignature)":"[^"]*"/g;

const withoutMarks = (field: string, value: unknown): unknown => (field === 'cache_control' ? undefined : value);

/** Removes the separate blocks that Converse uses as cache points. */
function removeCachePoints(value: unknown): unknown {
  if (Array.isArray(value)) {
    return value.filter((each) => !(isObject(each) && 'cachePoint' in each)).map(removeCachePoints);
  }
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([field, each]) => [field, removeCachePoints(each)]));
}

interface TaskCost {
  readonly input: number;
  readonly read: number;
  readonly written: number;
  readonly output: number;
}

function readUsage(usage: Json): TaskCost {
  const number = (from: Json, field: string): number => Number(from[field] ?? 0);
  const getObject = (field: string): Json => (isObject(usage[field]) ? usage[field] : {});
  const details = { ...getObject('prompt_tokens_details'), ...getObject('input_tokens_details') };
  if ('promptTokenCount' in usage) {
    const output = number(usage, 'candidatesTokenCount') + number(usage, 'thoughtsTokenCount');
    const readTokens = number(usage, 'cachedContentTokenCount');
    return { input: number(usage, 'promptTokenCount'), read: readTokens, written: 0, output };
  }
  if ('inputTokens' in usage) {
    const readTokens = number(usage, 'cacheReadInputTokens');
    const writtenTokens = number(usage, 'cacheWriteInputTokens');
    return {
      input: number(usage, 'inputTokens') + readTokens + writtenTokens,
      read: readTokens,
      written: writtenTokens,
      output: number(usage, 'outputTokens'),
    };
  }
  if ('cache_read_input_tokens' in usage) {
    const readTokens = number(usage, 'cache_read_input_tokens');
    const writtenTokens = number(usage, 'cache_creation_input_tokens');
    return {
      input: number(usage, 'input_tokens') + readTokens + writtenTokens,
      read: readTokens,
      written: writtenTokens,
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

const computePrice = ({ input, read, written, output }: TaskCost, prices: TaskPrices): number =>
  ((input - read - written) * prices.input +
    read * prices.cacheRead +
    written * prices.cacheWrite +
    output * prices.output) /
  1_000_000;
