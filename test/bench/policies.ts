/**
 * Defines policies to measure: our providers, and other tools' rules, reimplemented from their
 * descriptions.
 */
import { applyEdits } from '../../src/core/condense/edits/applyEdits';
import { createUneditedView, type View } from '../../src/core/condense/edits/view';
import type { CondensationProvider } from '../../src/core/condense/types';
import { isToolResult } from '../../src/core/messages/blocks';
import type { ApiMessage, Block } from '../../src/core/messages/types';
import type { MessageCounter } from '../../src/core/tokens/messageCounter';
import type { CondensingPolicy } from './retention';

/** Uses a configured provider without a target. */
export function providerPolicy<Config>(
  provider: CondensationProvider<Config>,
  config: unknown,
  counter: MessageCounter,
): CondensingPolicy {
  const checked = provider.validateConfig(config);
  if (!checked.valid) throw new Error(`wrong configuration: ${JSON.stringify(checked.problems)}`);
  return async (prefix) => {
    const { edits } = await provider.condense({ messages: prefix, edits: [], counter }, checked.config, {});
    return applyEdits(prefix, edits);
  };
}

export const keepEverything: CondensingPolicy = createUneditedView;

/** Keeps the task and the newest part. */
export const slidingWindow =
  (share: number): CondensingPolicy =>
  (prefix) => {
    const firstKeptIndex = Math.max(1, Math.round(prefix.length * (1 - share)));
    const origins = [0, ...prefix.keys()].filter((index, at) => (at === 0 ? true : index >= firstKeptIndex));
    return { original: prefix, messages: origins.map((index) => prefix[index]!), origins, edits: [] };
  };

/** Changes each result; `age` is its number, counted from the newest. */
const mapResults = (prefix: readonly ApiMessage[], change: (text: string, age: number) => string): View => {
  let resultCount = 0;
  const changeBlock = (block: Block): Block => {
    if (!isToolResult(block)) return block;
    const resultAge = resultCount++;
    if (typeof block.content === 'string') return { ...block, content: change(block.content, resultAge) };
    return Array.isArray(block.content)
      ? {
          ...block,
          content: (block.content as readonly Block[]).map((part) =>
            typeof part['text'] === 'string' ? { ...part, text: change(part['text'], resultAge) } : part,
          ),
        }
      : block;
  };
  const messages = prefix
    .toReversed()
    .map((message) =>
      typeof message.content === 'string'
        ? message
        : { ...message, content: message.content.toReversed().map(changeBlock).toReversed() },
    )
    .toReversed();
  return { ...createUneditedView(prefix), messages };
};

/** Masks observations: keeps only the results of the newest calls. */
export const maskResults =
  (keep: number): CondensingPolicy =>
  (prefix) =>
    mapResults(prefix, (text, age) => (age < keep ? text : '[old tool result removed]'));

/** Keeps only head and tail of long results. */
export const headTail =
  (limit: number): CondensingPolicy =>
  (prefix) =>
    mapResults(prefix, (text) =>
      text.length <= limit ? text : `${text.slice(0, limit / 2)}\n[…]\n${text.slice(-limit / 2)}`,
    );
