import { isRecallExchange, type PlacedContent } from '../../../messages/exchanges';
import { listContents } from '../../../messages/content';
import { listFileParts } from '../../../messages/fileParts';
import { isMachineReport } from '../../../messages/personText';
import { getToolRule, type ToolTable } from '../../../messages/tools';
import type { ApiMessage } from '../../../messages/types';
import type { MessageCounter } from '../../../tokens/messageCounter';
import { yieldBetweenSteps } from '../../../betweenSteps';
import type { Draft } from '../../draft/draft';
import { listOriginalExchanges } from '../../conversationMemory';
import { createTurnCounter } from '../../outline/fileAge';
import { BlockFeatureRows, type BlockWithFeatures, type ContentFacts } from '../../relevance/features';
import { MARKER_TOKENS } from '../../relevance/choice';
import { ConversationFileHistory } from '../../relevance/fileHistory';
import { computeConversationFocus } from '../../relevance/focus';
import { splitIntoBlocks, type BlockOptions } from '../../relevance/textBlocks';
import { listTouchedPaths } from '../../../messages/filesTouched';
import { createItemLookup, type ContentItem } from './items';
import { getRemovableSlice } from './requests';

export interface PruneCandidate extends BlockWithFeatures {
  readonly item: ContentItem;
  readonly content: PlacedContent;
}

/** In tokens. Shorter contents are not worth a marker. */
const MIN_BLOCK_TOKENS = 36;
/** Recalled content stays for this many turns, because the agent would only recall it again. */
const TURNS_RECALLED_CONTENT_STAYS = 6;

/** @throws the signal's reason if it was aborted */
export async function findPruneCandidates(
  draft: Draft,
  tools: ToolTable,
  isWantedItem: (item: ContentItem) => boolean,
  signal?: AbortSignal,
): Promise<readonly PruneCandidate[]> {
  const { original, counter } = draft;
  const items = createItemLookup(draft);
  // Uses the original, because a call happened even if its text was removed.
  const countTurnsSince = createTurnCounter(original);
  const isInUse = ({ type, message, exchange }: ContentItem): boolean =>
    type === 'toolResults' &&
    countTurnsSince(message) < TURNS_RECALLED_CONTENT_STAYS &&
    exchange !== undefined &&
    isRecallExchange(exchange);
  const wantedItems: ContentItem[] = [];
  for (let message = draft.task + 1; message < draft.messages.length; message++) {
    wantedItems.push(
      ...items(message).filter((item) => item.type !== 'messageText' && isWantedItem(item) && !isInUse(item)),
    );
  }
  const conversationFeatures = getOriginalConversationFeatures(draft, tools);
  const { focus, files, latestSearch } = conversationFeatures;
  if (latestSearch?.counter === counter && areItemListsEqual(latestSearch.wantedItems, wantedItems))
    return latestSearch.candidates;
  await yieldBetweenSteps(signal);
  const ages = computeMessageAges(draft, countTurnsSince);
  const rows = new BlockFeatureRows({ focus, files, turnsSince: countTurnsSince });
  const candidates = findPruneCandidatesInItems(wantedItems, draft, tools, ages, rows);
  await yieldBetweenSteps(signal);
  rows.finishBlocks(candidates);
  conversationFeatures.latestSearch = { counter, wantedItems, candidates };
  return candidates;
}

/** Does not depend on the view, so other targets and providers can share it. */
interface OriginalConversationFeatures {
  readonly original: readonly ApiMessage[];
  readonly tools: ToolTable;
  readonly focus: ReturnType<typeof computeConversationFocus>;
  readonly files: ConversationFileHistory;
  /** Cached, because runs with other targets weigh the same items. */
  latestSearch?: CandidateSearch;
}

interface CandidateSearch {
  readonly counter: MessageCounter;
  readonly wantedItems: readonly ContentItem[];
  readonly candidates: readonly PruneCandidate[];
}

const createFeaturesMemory = (): { latest?: OriginalConversationFeatures } => ({});

function getOriginalConversationFeatures({ original, memory }: Draft, tools: ToolTable): OriginalConversationFeatures {
  const cache = memory.getOrCreate(createFeaturesMemory);
  if (cache.latest?.original === original && cache.latest.tools === tools) return cache.latest;
  const exchanges = listOriginalExchanges(original);
  const focus = computeConversationFocus(original, exchanges, tools, createTurnCounter(original));
  return (cache.latest = { original, tools, focus, files: new ConversationFileHistory(original, tools, exchanges) });
}

const areItemListsEqual = (a: readonly ContentItem[], b: readonly ContentItem[]): boolean =>
  a.length === b.length && a.every((item, at) => areItemsEqual(item, b[at] as ContentItem));

/** Paths are compared by identity: a changed message has new ones. */
const areItemsEqual = (a: ContentItem, b: ContentItem): boolean =>
  a.message === b.message &&
  a.exchange === b.exchange &&
  a.contents.length === b.contents.length &&
  a.contents.every(({ path, start }, at) => path === b.contents[at]?.path && start === b.contents[at].start);

/** What the agent itself wrote in a message, or a subagent's report. */
export interface AgentTextsOfMessage {
  readonly texts: readonly { readonly item: ContentItem; readonly content: PlacedContent }[];
  /** Approximate number of tokens that markers would save. */
  readonly gain: number;
  /** Share of the conversation's text after the message, 0 to 1. */
  readonly textAfter: number;
}

export function collectAgentTexts(draft: Draft, isWantedItem: (item: ContentItem) => boolean): AgentTextsOfMessage[] {
  const items = createItemLookup(draft);
  return computeMessageAges(draft, () => 0).flatMap(({ message, textAfter }) => {
    if (message <= draft.task) return [];
    const texts = items(message)
      .filter((item) => item.type === 'messageText')
      .filter(({ role, contents }) => role === 'assistant' || contents.every(({ text }) => isMachineReport(text)))
      .filter((item) => item.tokens >= MIN_BLOCK_TOKENS && isWantedItem(item))
      .flatMap((item) => item.contents.map((content) => ({ item, content })));
    const gain = texts.reduce((sum, { item }) => sum + item.tokens - MARKER_TOKENS, 0);
    return gain > 0 ? [{ texts, gain, textAfter }] : [];
  });
}

interface MessageAge extends Pick<ContentFacts, 'message' | 'turns' | 'resultsAfter'> {
  readonly textAfter: number;
}

function computeMessageAges({ original }: Draft, countTurnsSince: (message: number) => number): MessageAge[] {
  const ages: MessageAge[] = [];
  let [results, text] = [0, 0];
  for (let message = original.length - 1; message >= 0; message--) {
    ages[message] = { message, turns: countTurnsSince(message), resultsAfter: results, textAfter: text };
    for (const content of listContents(original[message] ?? EMPTY_MESSAGE)) {
      if (content.type === 'toolResults') results++;
      text += content.text.length;
    }
  }
  const totalChars = Math.max(1, text);
  return ages.map((age) => ({ ...age, textAfter: age.textAfter / totalChars }));
}

const EMPTY_MESSAGE = { role: 'user', content: '' } as const;

function findPruneCandidatesInItems(
  items: readonly ContentItem[],
  draft: Draft,
  tools: ToolTable,
  ages: readonly MessageAge[],
  rows: BlockFeatureRows,
): PruneCandidate[] {
  const candidates: PruneCandidate[] = [];
  for (const item of items) {
    for (const { content, facts, parts, path, from } of listSplittableContents(item, draft, tools, ages)) {
      for (const blockWithLines of splitIntoBlocks(content, { tokens: facts.tokens, path, parts, from })) {
        candidates.push({
          block: blockWithLines.block,
          facts,
          features: rows.computeFeatures(blockWithLines, facts),
          item,
          content,
        });
      }
    }
  }
  return candidates;
}

interface SplittableContent extends Pick<BlockOptions, 'path' | 'parts' | 'from'> {
  readonly content: PlacedContent;
  readonly facts: ContentFacts;
}

function listSplittableContents(
  item: ContentItem,
  { counter }: Draft,
  tools: ToolTable,
  ages: readonly MessageAge[],
): SplittableContent[] {
  const { type, exchange, message } = item;
  const rule = exchange && getToolRule(tools, exchange);
  const paths = exchange ? listTouchedPaths(tools, exchange) : [];
  const { turns, resultsAfter } = ages[message] ?? { turns: 0, resultsAfter: 0 };
  return item.contents.flatMap((content) => {
    const removableSlice = getRemovableSlice(content, item);
    const tokens = removableSlice ? counter.countText(content.text) : 0;
    if (!removableSlice || tokens < MIN_BLOCK_TOKENS) return [];
    const facts: ContentFacts = {
      message,
      turns,
      resultsAfter,
      type,
      kind: rule?.kind,
      isError: exchange?.isError === true,
      tokens,
      path: paths.length === 1 ? paths[0] : undefined,
    };
    const parts = exchange ? listFileParts(tools, exchange, content) : [];
    return [{ content, facts, parts, path: parts[0]?.path ?? paths[0], from: removableSlice.start }];
  });
}
