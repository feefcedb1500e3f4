import { isRecall, type PlacedContent } from '../../../messages/exchanges';
import { listContents } from '../../../messages/content';
import { listFileParts } from '../../../messages/fileParts';
import { isReport } from '../../../messages/personText';
import { getToolRule, type ToolTable } from '../../../messages/tools';
import type { ApiMessage } from '../../../messages/types';
import type { MessageCounter } from '../../../tokens/messageCounter';
import { yieldBetweenSteps } from '../../../betweenSteps';
import type { Draft } from '../../draft/draft';
import { listOriginalExchanges } from '../../conversationMemory';
import { createTurnCounter } from '../../outline/fileAge';
import { FeatureRows, type BlockWithFeatures, type ContentFacts } from '../../relevance/features';
import { MARKER_TOKENS } from '../../relevance/choice';
import { FileHistory } from '../../relevance/fileHistory';
import { computeFocus } from '../../relevance/focus';
import { splitIntoBlocks, type BlockOptions } from '../../relevance/textBlocks';
import { listTouchedPaths } from '../../../messages/filesTouched';
import { createItemLookup, type Item } from './items';
import { getRemovableSlice } from './requests';

export interface Candidate extends BlockWithFeatures {
  readonly item: Item;
  readonly content: PlacedContent;
}

/** In tokens. Shorter contents are not worth a marker. */
const MIN_BLOCK_TOKENS = 36;
/** Recalled content stays for this many turns, because the agent would only recall it again. */
const RECALLED_KEPT_TURNS = 6;

/** @throws the signal's reason if it was aborted */
export async function findCandidates(
  draft: Draft,
  tools: ToolTable,
  isWanted: (item: Item) => boolean,
  signal?: AbortSignal,
): Promise<readonly Candidate[]> {
  const { original, counter } = draft;
  const items = createItemLookup(draft);
  // Uses the original, because a call happened even if its text was removed.
  const turnsSince = createTurnCounter(original);
  const isInUse = ({ type, message, exchange }: Item): boolean =>
    type === 'toolResults' && turnsSince(message) < RECALLED_KEPT_TURNS && exchange !== undefined && isRecall(exchange);
  const wanted: Item[] = [];
  for (let message = draft.task + 1; message < draft.messages.length; message++) {
    wanted.push(...items(message).filter((item) => item.type !== 'messageText' && isWanted(item) && !isInUse(item)));
  }
  const history = getHistory(draft, tools);
  const { focus, files, found } = history;
  if (found?.counter === counter && isSameList(found.wanted, wanted)) return found.candidates;
  await yieldBetweenSteps(signal);
  const ages = computeAges(draft, turnsSince);
  const rows = new FeatureRows({ focus, files, turnsSince });
  const candidates = findCandidatesInItems(wanted, draft, tools, ages, rows);
  await yieldBetweenSteps(signal);
  rows.finishBlocks(candidates);
  history.found = { counter, wanted, candidates };
  return candidates;
}

/** Does not depend on the view, so other targets and providers can share it. */
interface History {
  readonly original: readonly ApiMessage[];
  readonly tools: ToolTable;
  readonly focus: ReturnType<typeof computeFocus>;
  readonly files: FileHistory;
  /** Runs with other targets weigh the same items. */
  found?: CandidateSearch;
}

interface CandidateSearch {
  readonly counter: MessageCounter;
  readonly wanted: readonly Item[];
  readonly candidates: readonly Candidate[];
}

const createHistory = (): { latest?: History } => ({});

function getHistory({ original, memory }: Draft, tools: ToolTable): History {
  const known = memory.getPart(createHistory);
  if (known.latest?.original === original && known.latest.tools === tools) return known.latest;
  const exchanges = listOriginalExchanges(original);
  const focus = computeFocus(original, exchanges, tools, createTurnCounter(original));
  return (known.latest = { original, tools, focus, files: new FileHistory(original, tools, exchanges) });
}

const isSameList = (a: readonly Item[], b: readonly Item[]): boolean =>
  a.length === b.length && a.every((item, at) => isSameItem(item, b[at] as Item));

/** Paths are compared by identity: a changed message has new ones. */
const isSameItem = (a: Item, b: Item): boolean =>
  a.message === b.message &&
  a.exchange === b.exchange &&
  a.contents.length === b.contents.length &&
  a.contents.every(({ path, start }, at) => path === b.contents[at]?.path && start === b.contents[at].start);

/** What the agent itself wrote in a message, or a subagent's report. */
export interface AgentTexts {
  readonly texts: readonly { readonly item: Item; readonly content: PlacedContent }[];
  /** Approximate number of tokens that markers would save. */
  readonly gain: number;
  /** Share of the conversation's text after the message, 0 to 1. */
  readonly textAfter: number;
}

export function collectAgentWords(draft: Draft, isWanted: (item: Item) => boolean): AgentTexts[] {
  const items = createItemLookup(draft);
  return computeAges(draft, () => 0).flatMap(({ message, textAfter }) => {
    if (message <= draft.task) return [];
    const texts = items(message)
      .filter((item) => item.type === 'messageText')
      .filter(({ role, contents }) => role === 'assistant' || contents.every(({ text }) => isReport(text)))
      .filter((item) => item.tokens >= MIN_BLOCK_TOKENS && isWanted(item))
      .flatMap((item) => item.contents.map((content) => ({ item, content })));
    const gain = texts.reduce((sum, { item }) => sum + item.tokens - MARKER_TOKENS, 0);
    return gain > 0 ? [{ texts, gain, textAfter }] : [];
  });
}

interface Age extends Pick<ContentFacts, 'message' | 'turns' | 'resultsAfter'> {
  readonly textAfter: number;
}

function computeAges({ original }: Draft, turnsSince: (message: number) => number): Age[] {
  const ages: Age[] = [];
  let [results, text] = [0, 0];
  for (let message = original.length - 1; message >= 0; message--) {
    ages[message] = { message, turns: turnsSince(message), resultsAfter: results, textAfter: text };
    for (const content of listContents(original[message] ?? EMPTY_MESSAGE)) {
      if (content.type === 'toolResults') results++;
      text += content.text.length;
    }
  }
  const all = Math.max(1, text);
  return ages.map((age) => ({ ...age, textAfter: age.textAfter / all }));
}

const EMPTY_MESSAGE = { role: 'user', content: '' } as const;

function findCandidatesInItems(
  items: readonly Item[],
  draft: Draft,
  tools: ToolTable,
  ages: readonly Age[],
  rows: FeatureRows,
): Candidate[] {
  const candidates: Candidate[] = [];
  for (const item of items) {
    for (const { content, standing, parts, path, from } of splitItem(item, draft, tools, ages)) {
      for (const read of splitIntoBlocks(content, { tokens: standing.tokens, path, parts, from })) {
        candidates.push({ block: read.block, standing, features: rows.computeFeatures(read, standing), item, content });
      }
    }
  }
  return candidates;
}

interface Splittable extends Pick<BlockOptions, 'path' | 'parts' | 'from'> {
  readonly content: PlacedContent;
  readonly standing: ContentFacts;
}

function splitItem(item: Item, { counter }: Draft, tools: ToolTable, ages: readonly Age[]): Splittable[] {
  const { type, exchange, message } = item;
  const rule = exchange && getToolRule(tools, exchange);
  const paths = exchange ? listTouchedPaths(tools, exchange) : [];
  const { turns, resultsAfter } = ages[message] ?? { turns: 0, resultsAfter: 0 };
  return item.contents.flatMap((content) => {
    const slice = getRemovableSlice(content, item);
    const tokens = slice ? counter.countText(content.text) : 0;
    if (!slice || tokens < MIN_BLOCK_TOKENS) return [];
    const standing: ContentFacts = {
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
    return [{ content, standing, parts, path: parts[0]?.path ?? paths[0], from: slice.start }];
  });
}
