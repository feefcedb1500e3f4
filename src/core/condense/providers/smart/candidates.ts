/** The blocks of a draft that may go, with what is known of each. */
import type { PlacedContent } from '../../../messages/exchanges';
import { contentsOf } from '../../../messages/content';
import { filePartsOf } from '../../../messages/fileParts';
import { ruleFor, textsOf, valuesOf } from '../../../messages/tools';
import type { ToolRule } from '../../../agents/types';
import type { Draft } from '../../draft/draft';
import { originalExchanges } from '../../draft/exchanges';
import { turnCounter } from '../../outline/fileAge';
import type { Pace } from '../../../pace';
import { featuresOf, type Placed, type Standing } from '../../relevance/features';
import { MARKER_TOKENS } from '../../relevance/choice';
import { FileHistory } from '../../relevance/fileHistory';
import { focusOf } from '../../relevance/focus';
import { textBlocks } from '../../relevance/textBlocks';
import { pathsOf } from '../../summary/filesTouched';
import { itemsOf, type Item } from './items';
import type { PassParts } from './passParts';
import { removable } from './requests';

/** A block that may go. */
export interface Candidate extends Placed {
  readonly item: Item;
  readonly content: PlacedContent;
  readonly features: Float32Array;
}

/** Shorter contents are not worth a marker. Tokens. */
const MIN_TOKENS = 36;

/**
 * Blocks of parameters and results, in the order of the conversation.
 * @param isWanted true for the items that may be thinned.
 * @throws the signal's reason where it was aborted.
 */
export async function candidatesOf(
  draft: Draft,
  pace: Pace,
  tools: PassParts['tools'],
  isWanted: (item: Item) => boolean,
): Promise<Candidate[]> {
  // The original tells what happened: a call that lost its text happened all the same.
  const { original } = draft;
  const exchanges = originalExchanges(original);
  const turnsSince = turnCounter(original);
  const focus = focusOf(original, exchanges, tools, turnsSince);
  await pace.yieldIfDue();
  const files = new FileHistory(original, tools, exchanges);
  await pace.yieldIfDue();
  const ages = agesOf(draft, turnsSince);
  const items = itemsOf(draft);
  const placed: Omit<Candidate, 'features'>[] = [];
  for (let message = draft.task + 1; message < draft.messages.length; message++) {
    for (const item of items(message))
      if (item.type !== 'messageText' && isWanted(item)) placed.push(...placedIn(item, draft, tools, ages));
    await pace.yieldIfDue();
  }
  const features = await pace.through(featuresOf(placed, { focus, files, turnsSince }));
  return placed.map((one, index) => ({ ...one, features: features[index] ?? new Float32Array() }));
}

/** The agent's own words in a message, without its calls. */
export interface AgentWords {
  readonly texts: readonly { readonly item: Item; readonly content: PlacedContent }[];
  /** About how many tokens are saved where markers stand in their place. */
  readonly gain: number;
  /** Share of the conversation's text that came after the message, 0 to 1. */
  readonly textAfter: number;
}

/** The agent's own words that are worth a marker, the oldest first. @param isWanted true for the items that may be thinned. */
export function agentWordsOf(draft: Draft, isWanted: (item: Item) => boolean): AgentWords[] {
  const items = itemsOf(draft);
  return agesOf(draft, () => 0).flatMap(({ message, textAfter }) => {
    if (message <= draft.task) return [];
    const texts = items(message)
      .filter((item) => item.type === 'messageText' && item.role === 'assistant')
      .filter((item) => item.tokens >= MIN_TOKENS && isWanted(item))
      .flatMap((item) => item.contents.map((content) => ({ item, content })));
    const gain = texts.reduce((sum, { item }) => sum + item.tokens - MARKER_TOKENS, 0);
    return gain > 0 ? [{ texts, gain, textAfter }] : [];
  });
}

type Age = Pick<Standing, 'message' | 'turns' | 'resultsAfter' | 'textAfter'>;

/** By message, how long ago it was in turns, results and text. */
function agesOf({ original }: Draft, turnsSince: (message: number) => number): Age[] {
  const ages: Age[] = [];
  let [results, text] = [0, 0];
  for (let message = original.length - 1; message >= 0; message--) {
    ages[message] = { message, turns: turnsSince(message), resultsAfter: results, textAfter: text };
    for (const content of contentsOf(original[message] ?? NOTHING)) {
      if (content.type === 'toolResults') results++;
      text += content.text.length;
    }
  }
  const all = Math.max(1, text);
  return ages.map((age) => ({ ...age, textAfter: age.textAfter / all }));
}

const NOTHING = { role: 'user', content: '' } as const;

function placedIn(
  item: Item,
  { counter }: Draft,
  tools: PassParts['tools'],
  ages: readonly Age[],
): Omit<Candidate, 'features'>[] {
  const { type, exchange, message } = item;
  const rule = exchange && ruleFor(tools, exchange);
  const paths = exchange ? pathsOf(tools, exchange) : [];
  const age = ages[message] ?? { message, turns: 0, resultsAfter: 0, textAfter: 0 };
  return item.contents.flatMap((content) => {
    const slice = removable(content, item);
    const tokens = slice ? counter.text(content.text) : 0;
    if (!slice || tokens < MIN_TOKENS) return [];
    const standing: Standing = {
      ...age,
      type,
      kind: rule?.kind,
      isOld: exchange !== undefined && rule !== undefined && textsOf(exchange.input, rule.old).includes(content.text),
      isError: exchange?.isError === true,
      isPart: exchange !== undefined && rule?.kind === 'read' && asksForPart(rule, exchange.input),
      tokens,
      path: paths.length === 1 ? paths[0] : undefined,
    };
    const parts = exchange ? filePartsOf(tools, exchange, content) : [];
    return textBlocks(content, { tokens, path: parts[0]?.path ?? paths[0], parts, from: slice.start }).map((block) => ({
      item,
      content,
      block,
      standing,
    }));
  });
}

const asksForPart = ({ range }: ToolRule, input: Readonly<Record<string, unknown>>): boolean =>
  [range?.first, range?.last, range?.count, range?.pair].some((parameters) =>
    parameters?.some((parameter) => valuesOf(input, parameter).length > 0),
  );
